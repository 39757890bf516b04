/** A run on a server of the Tinker API: trained, resumed, measured, exported; and what is refused before anything runs. */

import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { evalCommand } from '../src/cli/commands/eval.ts';
import { exportCommand } from '../src/cli/commands/export.ts';
import { resumeCommand } from '../src/cli/commands/resume.ts';
import { trainCommand } from '../src/cli/commands/train.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import { checkpointSource, randomSource, type ServedSource } from '../src/run/model/served-model.ts';
import { type Listening, listenTinker } from '../src/server/tinker/listen.ts';
import { readEvents } from '../src/store/log-lines.ts';

const parity = new URL('hf-parity/', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-tinker-run-'));
const model = join(folder, 'tiny-qwen3');
const runs = join(folder, 'runs');
const key = 'tml-a-secret-of-the-environment';
const engine = { threads: 1, tokenBudget: 512, inProcess: true };

beforeAll(() => {
  cpSync(join(parity, 'qwen3', 'bf16'), model, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    cpSync(join(parity, 'tokenizer-qwen', file), join(model, file));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => vi.stubEnv('TINKER_API_KEY', key));
afterEach(() => vi.unstubAllEnvs());

async function serving<T>(source: ServedSource, work: (server: Listening) => Promise<T>): Promise<T> {
  const weights = mkdtempSync(join(folder, 'weights-'));
  const app = { apiKey: key };
  const listening = await listenTinker({ source, folder: weights, port: 0, host: '127.0.0.1', app });
  try {
    return await work(listening);
  } finally {
    await listening.close();
    await source.close();
  }
}

async function turnwise(...line: string[]): Promise<string> {
  const console = memoryConsole();
  const commands = [trainCommand, resumeCommand, evalCommand, exportCommand];
  const surroundings = { commands, version: '0.1.0', console, interrupts: noInterrupts };
  const code = await runCommandLine([...line, '--runs', runs], surroundings);
  const errors = console.errors().replaceAll(/\s+/g, ' ').trim();
  return code === 0 ? console.output() : `${code}: ${errors.replaceAll(folder, 'FOLDER')}`;
}

const set = (settings: Readonly<Record<string, string | number>>): string[] =>
  Object.entries(settings).flatMap(([name, value]) => ['--set', `${name}=${value}`]);

const short = {
  steps: 2,
  'clone.demonstrations': 24,
  'clone.batch': 8,
  'rollout.tasks': 2,
  'rollout.group': 2,
  'evaluation.every': 0,
  'evaluation.finalTasks': 2,
  'checkpoint.every': 1,
};

/** Of a model of the server. */
const shape = {
  vocabulary: 64,
  width: 32,
  layers: 1,
  heads: 2,
  keyValueHeads: 2,
  headWidth: 16,
  hidden: 64,
  activation: 'swiglu',
  tiedHead: false,
  ropeTheta: 10_000,
  contextLength: 256,
  normEpsilon: 1e-5,
} as const;

interface Event {
  readonly type: string;
  readonly step?: number;
  readonly metrics?: Readonly<Record<string, number>>;
}

function eventsOf(run: string): Event[] {
  return readEvents(join(runs, run, 'events.jsonl'));
}

test('an adapter on a pretrained model of the server, with a reference policy there as well', async () => {
  const source = await checkpointSource(model, { name: 'tiny-qwen3', contextLength: 512, ...engine });
  await serving(source, async ({ url, server }) => {
    const settings = set({
      ...short,
      'environment.range': 4,
      'environment.maxTurns': 3,
      'chat.maxTurnTokens': 4,
      'chat.contextLength': 512,
      'clone.steps': 2,
      'objective.klCoefficient': 0.1,
      // Random weights never make a guess; without a baseline, what each of their turns costs is a thing to learn.
      'credit.method': 'reinforce',
      'credit.shape.invalid-action-penalty.penalty': 0.1,
      'optimizer.learningRate': 1e-3,
    });
    const flags = ['--engine', 'tinker', '--base-url', url, '--base-model', 'tiny-qwen3', '--lora-rank', '4'];
    const trained = await turnwise(
      'train',
      'guess-number',
      ...flags,
      ...['--model', model, '--name', 'adapter'],
      ...settings,
    );
    expect(trained).toContain(`tiny-qwen3 at ${url}`);
    const steps = eventsOf('adapter').filter(({ type }) => type === 'step');
    expect(steps).toHaveLength(2);
    // What is trained is what was sampled, by the same weights.
    for (const { metrics } of steps) expect(Math.abs(metrics!['policy/kl_sample_train']!)).toBeLessThan(1e-6);
    expect(steps.some(({ metrics }) => metrics!['optim/gradient_norm']! > 0)).toBe(true);

    // The session has ended with the run, and its places are free again.
    expect([...server.models.values()].filter(({ isUnloaded }) => !isUnloaded)).toEqual([]);
    expect(await turnwise('eval', 'adapter', '--tasks', '2')).toContain('greedy');
    const to = join(folder, 'exported');
    expect(await turnwise('export', 'adapter', '--to', to)).toContain('PeftModel.from_pretrained');
    expect(readdirSync(to).sort()).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
    expect(JSON.parse(readFileSync(join(to, 'adapter_config.json'), 'utf8'))).toMatchObject({ r: 4 });
    expect(await turnwise('export', 'adapter', '--to', join(folder, 'merged'), '--merged')).toMatch(
      /are on a server/,
    );
    expect(textsUnder(join(runs, 'adapter')).filter((text) => text.includes(key))).toEqual([]);
  });
});

test('a model without a tokenizer is taught the words of the environment; a run that was cut goes on', async () => {
  await serving(randomSource('small', shape, 1, engine), async ({ url }) => {
    const settings = set({
      ...short,
      'clone.steps': 15,
      'clone.learningRate': 0.02,
      'tinker.lossScale': 'sum',
    });
    const line = ['--engine', 'tinker', '--base-url', url, '--base-model', 'small', ...settings];
    const output = await turnwise('train', 'frozen-lake', '--name', 'words', ...line);
    expect(output).toContain(`small at ${url}, 38 words`);
    const losses = eventsOf('words').flatMap(({ type, metrics }) =>
      type === 'clone' ? metrics!['clone/loss']! : [],
    );
    expect(losses.at(-1)!).toBeLessThan(losses[0]! - 1);

    // As if the process had been killed in its last step.
    rmSync(join(runs, 'words', 'checkpoints', '2'), { recursive: true });
    const log = join(runs, 'words', 'events.jsonl');
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    writeFileSync(log, `${lines.slice(0, -1).join('\n')}\n`);
    expect(await turnwise('resume', 'words')).not.toMatch(/^\d:/);
    const types = eventsOf('words').map(({ type }) => type);
    expect(types.filter((type) => type === 'step')).toHaveLength(2);
    expect(types.at(-1)).toBe('finish');
  });
});

test('a loss from a file is trained on the server, and one that reads entropies is refused', async () => {
  const file = join(folder, 'losses.ts');
  writeFileSync(
    file,
    `import { multiply, negate, sum } from 'turnwise/graph';
     import { defineObjective, z } from 'turnwise/objective';
     const loss = (name: string, needs: object) =>
       defineObjective({ name, summary: 'log-likelihood times advantage' }, z.strictObject({}), () => ({
         channels: ['advantages'],
         needs,
         build: ({ weight, logprobs, channel }) => ({
           loss: negate(sum(multiply(weight, multiply(channel('advantages'), logprobs)))),
           metrics: {},
         }),
       }));
     export const plain = loss('plain', {});
     export const unsure = loss('unsure', { entropies: true });`,
  );
  await serving(randomSource('small', shape, 1, engine), async ({ url }) => {
    const line = ['train', 'frozen-lake', '--engine', 'tinker', '--base-url', url, '--base-model', 'small'];
    const more = {
      ...short,
      steps: 1,
      'clone.steps': 2,
      'credit.method': 'reinforce',
      'tinker.lossScale': 'sum',
    };
    const own = (name: string) => set({ ...more, 'objective.name': `${file}#${name}` });
    expect(await turnwise(...line, '--name', 'own-loss', ...own('plain'))).not.toMatch(/^\d:/);
    expect(eventsOf('own-loss').filter(({ type }) => type === 'step')).toHaveLength(1);
    expect(await turnwise(...line, '--name', 'unsure', ...own('unsure'))).toContain(
      'it needs an engine that computes entropies (objective.name=FOLDER/losses.ts#unsure reads them)',
    );
  });
});

test('what cannot be trained on a server is refused before anything is asked of it', async () => {
  const nowhere = ['--engine', 'tinker', '--base-url', 'http://127.0.0.1:9', '--base-model', 'small'];
  const said = async (...more: string[]): Promise<string> => turnwise('train', 'frozen-lake', ...more);
  expect({
    critic: await said(...nowhere, '--recipe', 'ppo'),
    entropies: await said(...nowhere, ...set({ 'objective.entropyCoefficient': 0.1 })),
    credit: await said(...nowhere, ...set({ 'credit.method': 'aepo' })),
    temperature: await said(...nowhere, ...set({ 'rollout.temperature': 0.7 })),
    address: await said('--engine', 'tinker', '--base-model', 'small'),
    secret: await said(
      '--engine',
      'tinker',
      '--base-model',
      'small',
      '--base-url',
      'http://me:word@127.0.0.1:9',
    ),
    model: await said('--engine', 'tinker', '--base-url', 'http://127.0.0.1:9'),
    shape: await said(...nowhere, ...set({ 'model.width': 64 })),
    alpha: await said(...nowhere, ...set({ 'lora.alpha': 8 })),
    chat: await said(...nowhere, ...set({ 'chat.thinking': 'on' })),
    embedded: await said('--base-url', 'http://127.0.0.1:9'),
  }).toMatchInlineSnapshot(`
    {
      "address": "2: error: Training on a server needs its address. Give it with --base-url. (config-invalid)",
      "alpha": "2: error: lora.alpha is decided by the server. Seen: engine=tinker. Leave it out. (config-invalid)",
      "chat": "2: error: chat.thinking is for a model with a chat template, and none is named. Name a folder with its tokenizer and template with --model, or leave it out. (config-invalid)",
      "credit": "2: error: The recipe "rloo" cannot be used for frozen-lake: it needs an engine that computes entropies (credit method "aepo" reads them). The nearest that can is "dpo", which does not read credit.method: prefers the best episode of every task to the worst, against the warm start. (recipe-unfit)",
      "critic": "2: error: The recipe "ppo" cannot be used for frozen-lake: it needs an engine with a value head. The nearest that can is "reinforce++-baseline": each episode against the mean of its group, whitened over all sampled tokens; clipped policy gradient. (recipe-unfit)",
      "embedded": "2: error: tinker.baseUrl is for training on a server. Seen: engine=embedded. Add --engine tinker, or leave it out. (config-invalid)",
      "entropies": "2: error: The recipe "rloo" cannot be used for frozen-lake: it needs an engine that computes entropies (objective.entropyCoefficient is above 0). The nearest that can is "sft-rl", which does not read objective.entropyCoefficient: imitation of demonstrations beside policy gradients, with a weight that moves from the first to the second. (recipe-unfit)",
      "model": "2: error: Training on a server needs the name of a model that it has. Give it with --base-model. (config-invalid)",
      "secret": "2: error: The address of the Tinker server cannot be used. Seen: an address with a name or password in it. Allowed: http://… or https://…, and the key in the environment as TINKER_API_KEY. (config-invalid)",
      "shape": "2: error: model.width is decided by the server. Seen: engine=tinker. Leave it out. (config-invalid)",
      "temperature": "2: error: The recipe "rloo" cannot be used for frozen-lake: it needs an engine that trains at other temperatures than 1 (rollout.temperature is 0.7). No other recipe can be used with these settings either: change them, or choose another environment. (recipe-unfit)",
    }
  `);
  expect(existsSync(join(runs, 'frozen-lake-rloo-1'))).toBe(false);
});

function textsUnder(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}
