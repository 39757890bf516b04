/** A pretrained model from its folder to a trained agent: trained, resumed bit for bit, measured, watched. */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { evalCommand } from '../src/cli/commands/eval.ts';
import { exportCommand } from '../src/cli/commands/export.ts';
import { playCommand } from '../src/cli/commands/play.ts';
import { resumeCommand } from '../src/cli/commands/resume.ts';
import { trainCommand } from '../src/cli/commands/train.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import { Rng } from '../src/core/rng.ts';
import { chatRenderer } from '../src/model/chat/chat-renderer.ts';
import { promptOf, start } from '../src/model/chat/prompts.test-helper.ts';
import { openCheckpoint } from '../src/model/checkpoint/checkpoint.ts';
import { loadPretrainedLanguage } from '../src/model/tokenizer/pretrained-language.ts';
import { environmentNames, loadEnvironments } from '../src/run/load/environments.ts';
import { readEvents } from '../src/store/log-lines.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const parity = new URL('hf-parity/', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-pretrained-'));
const model = join(folder, 'model');
beforeAll(() => {
  // Random weights of a small Qwen3, with its tokenizer and template beside them as in every checkpoint folder.
  cpSync(join(parity, 'qwen3', 'bf16'), model, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json']) {
    cpSync(join(parity, 'tokenizer-qwen', file), join(model, file));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const runs = join(folder, 'runs');

async function turnwise(
  ...line: string[]
): Promise<{ readonly code: number; readonly output: string; readonly errors: string }> {
  const console = memoryConsole();
  const commands = [trainCommand, resumeCommand, evalCommand, playCommand, exportCommand];
  const code = await runCommandLine([...line, '--runs', runs], {
    commands,
    version: '0.1.0',
    console,
    interrupts: noInterrupts,
  });
  return { code, output: console.output(), errors: console.errors().replaceAll(folder, 'FOLDER') };
}

const settings = (more: Readonly<Record<string, string | number>> = {}): string[] =>
  Object.entries({
    steps: 3,
    threads: 1,
    'environment.range': 4,
    'environment.maxTurns': 3,
    'chat.maxTurnTokens': 4,
    'chat.contextLength': 512,
    'lora.rank': 4,
    'clone.steps': 2,
    'clone.batch': 4,
    'clone.demonstrations': 8,
    'rollout.tasks': 2,
    'rollout.group': 2,
    // Random weights never find the number: without this no step would change a weight.
    'objective.entropyCoefficient': 0.01,
    'optimizer.learningRate': 1e-3,
    'evaluation.every': 0,
    'evaluation.finalTasks': 2,
    'checkpoint.every': 1,
    'checkpoint.keep': 9,
    ...more,
  }).flatMap(([key, value]) => ['--set', `${key}=${value}`]);

const train = (name: string, more: Readonly<Record<string, string | number>> = {}) =>
  turnwise('train', 'guess-number', '--model', model, '--name', name, ...settings(more));

const events = (name: string): string =>
  readEvents(join(runs, name, 'events.jsonl'))
    .filter(({ type }) => type === 'step')
    .map((event) =>
      JSON.stringify(event, (key, value: unknown) =>
        key === 'time' || key === 'seconds' || /^(time|speed|loop)\//.test(key) ? undefined : value,
      ),
    )
    .join('\n');
const checkpoint = (name: string, file: string): string => join(runs, name, 'checkpoints', '3', file);

test('trained from a folder, resumed bit for bit, measured, watched', { timeout: 60_000 }, async () => {
  const whole = await train('whole');
  expect(whole).toMatchObject({ code: 0, errors: expect.not.stringContaining('error') });
  expect(whole.output).toMatch(/model +118k parameters, 9.\d+k of an adapter, 300 tokens, from\s+\S*model/);

  cpSync(join(runs, 'whole'), join(runs, 'cut'), { recursive: true });
  for (const step of ['2', '3']) rmSync(join(runs, 'cut', 'checkpoints', step), { recursive: true });
  expect(await turnwise('resume', 'cut')).toMatchObject({ code: 0 });
  expect(events('cut')).toBe(events('whole'));
  const adapter = (name: string): Buffer => readFileSync(checkpoint(name, 'adapter_model.safetensors'));
  expect(adapter('cut').equals(adapter('whole'))).toBe(true);
  const config = JSON.parse(readFileSync(checkpoint('whole', 'adapter_config.json'), 'utf8')) as unknown;
  expect(config).toMatchObject({ peft_type: 'LORA', r: 4, lora_alpha: 8 });

  const [group] = readEpisodeFile(join(runs, 'whole', 'rollouts', '1.jsonl.gz'))!.groups;
  const { calls } = group!.members[0]!;
  const { tokenizer } = await loadPretrainedLanguage(model, 300);
  expect(tokenizer.decode([...calls[0]!.context])).toBe(
    [
      '<|im_start|>system\nFind a hidden number from 1 to 4. After each guess you read between which numbers it lies. Answer with one of these numbers and nothing else.<|im_end|>',
      '<|im_start|>user\nThe number is between 2 and 4. What is your guess?<|im_end|>',
      '<|im_start|>assistant\n3<|im_end|>',
      '<|im_start|>user\nThe number is between 1 and 4. What is your guess?<|im_end|>\n<|im_start|>assistant\n',
    ].join('\n'),
  );
  expect(calls.slice(1).some(({ parent, kept }) => parent !== undefined && kept === undefined)).toBe(true);

  const exported = join(folder, 'exported');
  expect((await turnwise('export', 'whole', '--to', exported)).code).toBe(0);
  expect(readFileSync(join(exported, 'adapter_model.safetensors')).length).toBeGreaterThan(1000);
  const merged = join(folder, 'merged');
  expect((await turnwise('export', 'whole', '--to', merged, '--merged')).code).toBe(0);
  const line = [
    'train',
    'guess-number',
    '--model',
    merged,
    '--name',
    'merged',
    ...settings({ steps: 0, 'clone.steps': 0 }),
  ];
  expect((await turnwise(...line)).code).toBe(0);
  expect((await turnwise('export', 'whole', '--to', merged)).errors).toContain('export-exists');

  expect((await turnwise('eval', 'whole', '--tasks', '2')).output).toMatch(/sampled +0\.\d+ \(/);
  expect((await turnwise('play', 'guess-number', '--run', 'whole', '--pause', '0')).output).toContain(
    'The number is between 1 and 4.',
  );
});

test('exported as GGUF, trained further from there, and exported as a folder again', {
  timeout: 60_000,
}, async () => {
  expect((await train('first', { steps: 1 })).code).toBe(0);
  const file = join(folder, 'first.gguf');
  const exported = await turnwise('export', 'first', '--to', file, '--type', 'q8_0');
  expect(exported.output).toBe(
    `Model written to ${file}; load it with llama.cpp, Ollama, LM Studio, or --model\n`,
  );
  expect((await turnwise('export', 'first', '--to', file)).errors).toContain('export-exists');
  expect((await turnwise('export', 'first', '--to', join(folder, 'x'), '--type', 'f16')).errors).toContain(
    '--type is for GGUF files',
  );

  const line = ['train', 'guess-number', '--model', file, '--name', 'second', ...settings({ steps: 1 })];
  expect(await turnwise(...line)).toMatchObject({ code: 0, errors: expect.not.stringContaining('error') });
  expect((await turnwise('eval', 'second', '--tasks', '2')).output).toMatch(/sampled +0\.\d+ \(/);
  const { tokenizer } = await loadPretrainedLanguage(file, 300);
  const [group] = readEpisodeFile(join(runs, 'second', 'rollouts', '1.jsonl.gz'))!.groups;
  expect(tokenizer.decode([...group!.members[0]!.calls[0]!.context])).toContain(
    'is between 1 and 4. What is your guess?<|im_end|>',
  );
  const kept = JSON.parse(readFileSync(join(runs, 'second', 'tokenizer.json'), 'utf8')) as unknown;
  expect(kept).toMatchObject({ model: { type: 'BPE' } });

  const unpacked = join(folder, 'unpacked');
  expect((await turnwise('export', 'second', '--to', unpacked, '--merged')).code).toBe(0);
  const { shape } = await openCheckpoint(unpacked);
  expect(shape).toEqual((await openCheckpoint(file)).shape);
  await loadPretrainedLanguage(unpacked, 300);

  // Other weights under the same name are not what the run began with.
  writeFileSync(file, readFileSync(join(import.meta.dirname, 'gguf/good.gguf')));
  expect((await turnwise('eval', 'second')).errors).toContain('base-model-changed');
});

test('all weights are trained where the rank is 0', { timeout: 60_000 }, async () => {
  expect((await train('full', { 'lora.rank': 0 })).output).toMatch(/model +118k parameters, 300 tokens/);
  const size = readFileSync(checkpoint('full', 'model.safetensors')).length;
  expect(size).toBeGreaterThan(4 * 118_000);
});

test('a run is not continued from other files', { timeout: 60_000 }, async () => {
  const copy = join(folder, 'copy');
  cpSync(model, copy, { recursive: true });
  const line = ['train', 'guess-number', '--model', copy, '--name', 'changed', ...settings({ steps: 1 })];
  expect((await turnwise(...line)).code).toBe(0);
  writeFileSync(join(copy, 'chat_template.jinja'), 'something else');
  const { code, errors } = await turnwise('eval', 'changed');
  expect(code).toBe(1);
  expect(errors.replace(/\b[0-9a-f]{16}\b/g, 'DIGEST').replaceAll('\n', ' ')).toMatchInlineSnapshot(
    `"error: The files of the model FOLDER/copy are not those that this run started from. Seen: digest DIGEST. Allowed: DIGEST. Restore them, or start a new run from the present model. (base-model-changed) "`,
  );
});

test('settings that a pretrained model has itself are refused, and a model that is not there', async () => {
  const width = await train('never', { 'model.width': 64 });
  const noModel = await turnwise('train', 'guess-number', '--set', 'lora.rank=4');
  const nowhere = await turnwise('train', 'guess-number', '--model', './no/where');
  expect(width.errors.replaceAll('\n', ' ')).toMatchInlineSnapshot(
    `"error: model.width shapes a small model, not a pretrained one. Seen: model.pretrained=FOLDER/model. Leave one of them out. (config-invalid) "`,
  );
  expect(noModel.errors.replaceAll('\n', ' ')).toMatchInlineSnapshot(
    `"error: lora.rank is for a pretrained model, and none is named. Seen: model.pretrained=. Leave one of them out. (config-invalid) "`,
  );
  expect(nowhere.errors.replaceAll(process.cwd(), 'HERE').replaceAll('\n', ' ')).toMatchInlineSnapshot(
    `"error: There is no model "./no/where". Seen: HERE/no/where does not exist. Allowed: a checkpoint folder; a GGUF file; owner/name of a model on the hub, with @revision if need be; ollama:NAME or lmstudio:PUBLISHER/REPOSITORY. (model-unknown) "`,
  );
});

test('every environment can be read and written with a tokenizer that knows no words', async () => {
  const language = await loadPretrainedLanguage(model, 300);
  const { tokenizer } = language;
  const renderer = chatRenderer(language, { maxTurnTokens: 8 });
  for (const factory of await loadEnvironments()) {
    const world = factory.create(factory.options.parse({}));
    const session = await world.open(world.tasks('train').at(0), Rng.of('read'));
    const role = session.toMove()!;
    const messages = session.observe(role);
    const text = tokenizer.decode(promptOf(renderer, start, messages).promptIds);
    for (const { content } of messages) expect(text).toContain(content);
    const action = (await world.script!(session, 'expert', Rng.of('act')))!;
    const written = world.protocol.format(action);
    const answer = renderer.answer(renderer.text(renderer.completionIds(written)));
    expect(world.protocol.parse(answer)).toEqual({ ok: true, action });
    await session.close();
  }
  expect(environmentNames.length).toBeGreaterThan(5);
});
