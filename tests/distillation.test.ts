/** A student learns from a teacher that scores: its own episodes by reverse KL, a scored file by forward KL; and what is refused. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chain } from '../bench/methods/environments/chain.ts';
import { runCommandLine } from '../src/cli/command-line.ts';
import { dataCommand } from '../src/cli/commands/data.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import { readRows } from '../src/data/read-rows.ts';
import type { ConversationRow } from '../src/data/row.ts';
import { scoredRows } from '../src/engine/token-batch.ts';
import { resume, start, train } from '../src/exports/train.ts';
import { openScoringModel } from '../src/run/players/open-teacher.ts';
import { readEvents } from '../src/store/log-lines.ts';
import type { TrainSettings } from '../src/train/config/config.ts';
import { readBy } from '../src/train/config/run-schema.ts';
import type { Metrics, RunSummary } from '../src/train/loop/events.ts';
import { findRecipe } from '../src/train/recipes/recipes.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-distillation-'));
const runs = join(folder, 'runs');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const world = chain({ doors: 3, turns: 6, words: 3 });
const common: TrainSettings = {
  threads: 1,
  model: { width: 24, layers: 1, heads: 2, hidden: 32 },
  rollout: { tasks: 4, group: 8 },
  evaluation: { every: 0, finalTasks: 100 },
  checkpoint: { every: 1 },
  rolloutLog: 1,
};
/** So little imitation that hardly an episode succeeds. */
const beginner = { demonstrations: 60, steps: 6, batch: 16, beginnerShare: 0, randomRate: 0.9 };

const run = (name: string, recipe: string, settings: TrainSettings): Promise<RunSummary> =>
  train({ world, recipe, name, runs, settings: readBy(findRecipe(recipe), { ...common, ...settings }) });

const stepsOf = (name: string): Metrics[] =>
  readEvents(join(runs, name, 'events.jsonl')).flatMap((event) =>
    event.type === 'step' ? [event.metrics] : [],
  );

async function data(...line: string[]): Promise<{ code: number; output: string; errors: string }> {
  const console = memoryConsole();
  const code = await runCommandLine(['data', ...line, '--runs', runs], {
    ...{ commands: [dataCommand], version: '0.1.0', console, interrupts: noInterrupts },
  });
  return { code, output: console.output(), errors: console.errors().replaceAll('\n', ' ') };
}

let teacher: RunSummary;
beforeAll(async () => {
  const clone = { demonstrations: 400, steps: 80, batch: 32, beginnerShare: 0, randomRate: 0.3 };
  // Its one step is stored: episodes to be scored.
  teacher = await run('teacher', 'rloo', { seed: 1, steps: 1, clone });
  expect(teacher.after.sampled.success).toBeGreaterThan(0.85);
}, 120_000);

test('by reverse KL a student comes near its teacher without any reward', { timeout: 120_000 }, async () => {
  const settings = {
    seed: 2,
    steps: 25,
    teacher: 'teacher',
    clone: beginner,
    optimizer: { learningRate: 4e-3 },
  };
  const { before, after, tokens } = await run('student', 'on-policy-distillation', settings);
  expect(before.sampled.success).toBeLessThan(0.5);
  expect(after.sampled.success).toBeGreaterThan(before.sampled.success + 0.3);
  const gaps = stepsOf('student').map((metrics) => metrics['distill/reverse_kl']!);
  expect(gaps.at(-1)!).toBeLessThan(gaps[0]! / 3);
  // The teacher's tokens are spent, too.
  expect(tokens.scored).toBeGreaterThan(tokens.sampled);
});

test('a run that was stopped goes on with its teacher as if it had not been', {
  timeout: 60_000,
}, async () => {
  const settings = { ...common, seed: 3, steps: 3, teacher: join(runs, 'teacher'), clone: beginner };
  const recipe = 'on-policy-distillation';
  await train({ world, recipe, name: 'whole', runs, settings });
  const stopped = await start({
    ...{ world, recipe, name: 'stopped', runs, settings },
    sinks: [
      {
        event: (event) => {
          if (event.type === 'step' && event.step === 1) stopped.stop();
        },
      },
    ],
  });
  await expect(stopped.finished).rejects.toThrow('asked to stop');
  await (await resume('stopped', { world, runs })).finished;
  const plain = (name: string) =>
    stepsOf(name).map((metrics) =>
      Object.entries(metrics).filter(([path]) => !/^(time|speed|loop)\//.test(path)),
    );
  expect(plain('stopped')).toEqual(plain('whole'));
});

test('by forward KL it learns from a file that the teacher scored', { timeout: 120_000 }, async () => {
  const [rows, scored] = [join(folder, 'rows.jsonl'), join(folder, 'scored.jsonl')];
  expect(await data('convert', 'teacher', '--out', rows)).toMatchObject({ code: 0 });
  const told = await data(
    'score',
    rows,
    '--teacher',
    'teacher',
    '--top',
    '4',
    '--out',
    scored,
    '--threads',
    '1',
  );
  expect(told).toMatchObject({ code: 0, errors: '' });
  expect(told.output).toContain('32 rows, 32 with the 4 likeliest tokens of teacher');
  expect(await data('check', scored)).toMatchObject({ code: 0 });

  // The numbers are those of the teacher, id by id.
  const { tokens } = readRows(scored)[3]!.row as ConversationRow;
  const model = await openScoringModel({
    ...{ model: 'teacher', root: runs, threads: 1, signal: new AbortController().signal },
  });
  try {
    const { logprobs } = await model.score(scoredRows([{ ids_T: tokens!.ids }]), { temperature: 1 });
    const places = tokens!.sampled.flatMap(([from, to]) =>
      Array.from({ length: to - from }, (_, at) => from + at),
    );
    for (const [place, token] of places.entries()) {
      const { k, ids, logprobs: likeliest } = tokens!.top!;
      const found = [...ids.subarray(k * place, k * place + k)].indexOf(tokens!.ids[token]!);
      expect(found).toBeGreaterThanOrEqual(0);
      expect(likeliest[k * place + found]!).toBeCloseTo(logprobs[0]![token]!, 4);
    }
  } finally {
    await model.close();
  }

  const settings = {
    ...{ seed: 4, steps: 12, data: scored, clone: beginner, objective: { options: { top: 4 } } },
    replay: { updates: 4, batch: 16 },
    optimizer: { learningRate: 4e-3 },
  };
  const { before, after, episodes } = await run('read', 'distillation', settings);
  expect(episodes).toBe(0);
  expect(before.sampled.success).toBeLessThan(0.5);
  expect(after.sampled.success).toBeGreaterThan(before.sampled.success + 0.3);
  const kl = stepsOf('read').map((metrics) => metrics['distill/forward_kl']!);
  expect(kl.at(-1)!).toBeLessThan(kl[0]! / 3);
  expect(stepsOf('read')[0]!['distill/covered']).toBeGreaterThan(0.85);
});

test('without a file it asks the teacher about its own episodes', { timeout: 60_000 }, async () => {
  const settings = {
    seed: 5,
    steps: 6,
    teacher: 'teacher',
    clone: beginner,
    optimizer: { learningRate: 4e-3 },
  };
  await run('asked', 'distillation', settings);
  const kl = stepsOf('asked').map((metrics) => metrics['distill/forward_kl']!);
  expect(kl.at(-1)!).toBeLessThan(kl[0]! / 2);
});

test('a teacher with other words is refused by the hash of its tokenizer; so are files that it scored', async () => {
  const other = chain({ doors: 3, turns: 6, words: 4 });
  const clone = { ...beginner, steps: 1 };
  await train({
    world: other,
    recipe: 'rloo',
    name: 'foreign',
    runs,
    settings: { ...common, steps: 0, clone },
  });
  const taught = { seed: 6, steps: 1, teacher: 'foreign', clone };
  const error = await run('refused', 'on-policy-distillation', taught).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'teacher-unfit',
    message: expect.stringMatching(
      /^The teacher foreign has another tokenizer than the policy.* Seen: tokenizer [0-9a-f]{16}\. Allowed: [0-9a-f]{16}\./,
    ),
  });
  const { code, errors } = await data(
    'score',
    join(folder, 'rows.jsonl'),
    '--teacher',
    'foreign',
    '--out',
    join(folder, 'none.jsonl'),
  );
  expect([code, errors]).toEqual([2, expect.stringContaining('32 rows of another tokenizer')]);
  const file = { seed: 6, steps: 1, data: join(folder, 'scored.jsonl'), clone };
  const mismatched = train({
    world: { ...other, name: world.name },
    recipe: 'distillation',
    name: 'mismatched',
    runs,
    settings: readBy(findRecipe('distillation'), { ...common, ...file }),
  });
  await expect(mismatched).rejects.toMatchObject({ code: 'teacher-unfit' });
});

test('without a teacher a recipe that needs one names the ways', async () => {
  const clone = { ...beginner, steps: 1 };
  await expect(run('none', 'on-policy-distillation', { steps: 1, clone })).rejects.toMatchObject({
    code: 'recipe-unfit',
    message: expect.stringContaining('it needs a teacher that scores tokens (teacher is empty)'),
  });
  const file = { steps: 1, data: join(folder, 'rows.jsonl'), clone };
  await expect(run('unscored', 'distillation', file)).rejects.toMatchObject({ code: 'teacher-missing' });
  const server = { steps: 1, teacher: 'vllm:http://127.0.0.1:9/v1', clone };
  await expect(run('words', 'on-policy-distillation', server)).rejects.toMatchObject({
    code: 'teacher-unfit',
    message: expect.stringContaining('small model with words of its own'),
  });
});
