/** Files of conversations with pretrained models: imitated by a GGUF file, scored by a teacher, checked as runs, and as pairs. */

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { dataCommand } from '../src/cli/commands/data.ts';
import { exportCommand } from '../src/cli/commands/export.ts';
import { rewardModelCommand } from '../src/cli/commands/reward-model.ts';
import { trainCommand } from '../src/cli/commands/train.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import { readRows } from '../src/data/read-rows.ts';
import type { ConversationRow } from '../src/data/row.ts';
import { openRewardModel } from '../src/run/reward/open-reward-model.ts';
import { readEvents } from '../src/store/log-lines.ts';

const parity = new URL('hf-parity/', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-pretrained-data-'));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function turnwise(...line: string[]): Promise<{ code: number; output: string; errors: string }> {
  const console = memoryConsole();
  const code = await runCommandLine([...line, '--runs', at('runs')], {
    commands: [trainCommand, exportCommand, dataCommand, rewardModelCommand],
    ...{ version: '0.1.0', console, interrupts: noInterrupts },
  });
  return { code, output: console.output(), errors: console.errors().replaceAll(folder, 'FOLDER') };
}

const settings = (more: Readonly<Record<string, string | number>> = {}): string[] =>
  Object.entries({
    threads: 1,
    'environment.range': 4,
    'environment.maxTurns': 3,
    'chat.maxTurnTokens': 4,
    'chat.contextLength': 512,
    'lora.rank': 4,
    'clone.steps': 2,
    'clone.batch': 4,
    'clone.demonstrations': 8,
    // Random weights choose valid guesses already.
    'clone.untilValid': 0,
    'evaluation.every': 0,
    'evaluation.finalTasks': 2,
    ...more,
  }).flatMap(([key, value]) => ['--set', `${key}=${value}`]);

const stepsOf = (name: string) =>
  readEvents(join(at('runs'), name, 'events.jsonl')).flatMap((event) =>
    event.type === 'step' ? [event.metrics] : [],
  );

/** Conversations of a task that this project has made up. */
const guesses = [1, 2, 3, 4].map((secret) => ({
  v: 1,
  messages: [
    { role: 'user', content: `The number is between 1 and 4, say ${secret}.` },
    { role: 'assistant', content: String(secret) },
  ],
  reward: 1,
  source: { kind: 'file' },
}));

beforeAll(async () => {
  cpSync(join(parity, 'qwen3', 'bf16'), at('model'), { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    cpSync(join(parity, 'tokenizer-qwen', file), join(at('model'), file));
  writeFileSync(at('guesses.jsonl'), guesses.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const played = settings({ steps: 1, 'rollout.tasks': 3, 'rollout.group': 4 });
  const { code, errors } = await turnwise(
    'train',
    'guess-number',
    '--model',
    at('model'),
    '--name',
    'played',
    ...played,
  );
  expect([code, errors]).toEqual([0, expect.not.stringContaining('error')]);
  expect((await turnwise('export', 'played', '--to', at('model.gguf'), '--type', 'q8_0')).code).toBe(0);
}, 120_000);

test.each(['model.gguf', 'model'])(
  'sft on a file with --model %s learns its answers',
  { timeout: 60_000 },
  async (model) => {
    const name = `sft-${model}`;
    const line = ['train', 'guess-number', '--model', at(model), '--recipe', 'sft', '--name', name];
    const learned = settings({
      steps: 6,
      data: at('guesses.jsonl'),
      'optimizer.learningRate': 1e-2,
      'clone.steps': 0,
    });
    expect(await turnwise(...line, ...learned)).toMatchObject({ code: 0 });
    const losses = stepsOf(name).map((metrics) => metrics['policy/loss']!);
    expect(losses).toHaveLength(6);
    expect(losses.at(-1)!).toBeLessThan(losses[0]! - 0.3);
  },
);

test('reinforcement imitates a file first, with --model FILE.gguf', { timeout: 60_000 }, async () => {
  const line = [
    'train',
    'guess-number',
    '--model',
    at('model.gguf'),
    '--name',
    'rl',
    ...settings({ steps: 1, data: at('guesses.jsonl'), 'rollout.tasks': 2, 'rollout.group': 2 }),
  ];
  expect(await turnwise(...line)).toMatchObject({ code: 0 });
  const events = readEvents(join(at('runs'), 'rl', 'events.jsonl'));
  expect(events.find(({ type }) => type === 'data')).toMatchObject({ episodes: 4, successful: 4, exact: 0 });
  expect(events.filter(({ type }) => type === 'clone').length).toBeGreaterThan(0);
});

test('a run and a shard are checked like a file', async () => {
  const shard = join(at('runs'), 'played', 'rollouts', '1.jsonl.gz');
  for (const place of ['played', shard])
    expect(await turnwise('data', 'check', place)).toMatchObject({
      code: 0,
      output: `${place}: 12 rows, all can be read\n`,
    });
  const { output } = await turnwise('data', 'check', 'played', '--json');
  expect(JSON.parse(output)).toEqual({ file: 'played', rows: 12, problems: [] });
  expect((await turnwise('data', 'check', 'nowhere')).errors).toContain(
    'There is no file and no run nowhere',
  );
});

test('a pretrained model scores the recorded ids of a run, and another is distilled from them', {
  timeout: 60_000,
}, async () => {
  expect((await turnwise('data', 'convert', 'played', '--out', at('rows.jsonl'))).code).toBe(0);
  const scored = await turnwise(
    'data',
    'score',
    at('rows.jsonl'),
    '--teacher',
    at('model'),
    '--top',
    '5',
    '--threads',
    '1',
    '--out',
    at('scored.jsonl'),
  );
  expect(scored).toMatchObject({ code: 0, errors: '' });
  const { tokens } = readRows(at('scored.jsonl'))[0]!.row as ConversationRow;
  const count = tokens!.sampled.reduce((sum, [from, to]) => sum + to - from, 0);
  expect(tokens!.top).toMatchObject({ by: at('model'), k: 5 });
  expect(tokens!.top!.ids).toHaveLength(5 * count);
  const line = [
    'train',
    'guess-number',
    '--model',
    at('model'),
    '--recipe',
    'distillation',
    '--name',
    'distilled',
  ];
  const more = settings({
    steps: 4,
    data: at('scored.jsonl'),
    'clone.steps': 6,
    'optimizer.learningRate': 1e-2,
    'objective.options.top': 5,
  });
  expect(await turnwise(...line, ...more)).toMatchObject({ code: 0 });
  const kl = stepsOf('distilled').map((metrics) => metrics['distill/forward_kl']!);
  expect(kl.at(-1)!).toBeLessThan(kl[0]!);
});

test('on-policy distillation from a pretrained model', { timeout: 60_000 }, async () => {
  const line = [
    'train',
    'guess-number',
    '--model',
    at('model'),
    '--recipe',
    'on-policy-distillation',
    '--name',
    'taught',
  ];
  const more = settings({ steps: 3, teacher: at('model.gguf'), 'rollout.tasks': 2, 'rollout.group': 4 });
  expect((await turnwise(...line, ...more)).errors).toContain('teacher-unfit');
  const same = settings({
    steps: 3,
    teacher: at('model'),
    'rollout.tasks': 2,
    'rollout.group': 4,
    'clone.steps': 8,
  });
  expect(await turnwise(...line, ...same, '--name', 'taught-2')).toMatchObject({ code: 0 });
  expect(Math.abs(stepsOf('taught-2')[0]!['distill/reverse_kl']!)).toBeGreaterThan(1e-4);
});

test('a reward model over a pretrained model learns which answers are preferred', {
  timeout: 120_000,
}, async () => {
  const pairs = Array.from({ length: 24 }, (_, index) => ({
    v: 1,
    messages: [{ role: 'user', content: `question ${index}` }],
    chosen: [{ role: 'assistant', content: index % 2 ? 'yes' : 'yes, indeed' }],
    rejected: [{ role: 'assistant', content: index % 2 ? 'no' : 'no, never' }],
    source: { kind: 'file' },
  }));
  writeFileSync(at('pairs.jsonl'), pairs.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const line = [
    'reward-model',
    at('pairs.jsonl'),
    '--model',
    at('model'),
    '--out',
    at('judge'),
    '--threads',
    '1',
  ];
  const made = await turnwise(...line, '--rank', '4', '--epochs', '12', '--learning-rate', '1e-2', '--json');
  expect(made).toMatchObject({ code: 0, errors: '' });
  const { heldOut } = JSON.parse(made.output) as { heldOut: { pairs: number; accuracy: number } };
  expect(heldOut.pairs).toBeGreaterThan(1);
  expect(heldOut.accuracy).toBeGreaterThan(0.8);
  const model = await openRewardModel(at('judge'), { signal: new AbortController().signal });
  try {
    const [better, worse] = await model.score(
      readRows(at('pairs.jsonl'))
        .slice(0, 1)
        .map(({ row }) => row),
    );
    expect(better!.reward).toBeGreaterThan(worse!.reward);
    const long = { ...readRows(at('guesses.jsonl'))[0]!.row };
    const [judged] = await model.score([
      { ...long, messages: [...long.messages, ...long.messages, ...long.messages] },
    ]);
    expect(judged!.outside).toBe(true);
  } finally {
    await model.close();
  }
});
