/** Runs whose settings change from stage to stage: what is played, what is learned with, and what a resumed run does. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from '../src/exports/index.ts';
import { defineRecipe } from '../src/exports/recipes.ts';
import { resume, start, train } from '../src/exports/train.ts';
import { readEvents } from '../src/store/log-lines.ts';
import { trainingShard } from '../src/store/rollouts/shard-names.ts';
import { RunDirectory } from '../src/store/run-directory.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-stages-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

const stages = [
  { until: 2, set: { 'rollout.maxTurns': 2, 'rollout.tasks': 2, 'optimizer.learningRate': 1e-3 } },
  { until: 4, set: { 'rollout.maxTurns': 3, 'objective.klCoefficient': 0.1, 'credit.rewardScale': 2 } },
];
const settings = {
  steps: 6,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 32, steps: 4, batch: 8 },
  rollout: { tasks: 3, group: 4, maxTurns: 5 },
  optimizer: { schedule: 'constant', warmupSteps: 0 },
  evaluation: { every: 0, finalTasks: 4 },
  checkpoint: { every: 1, keep: 9 },
  stages,
} as const;

const eventsOf = (name: string) => readEvents(join(runs, name, 'events.jsonl'));
const timeless = (metrics: Readonly<Record<string, number>>) =>
  Object.entries(metrics).filter(([path]) => !/^(time|speed|loop)\//.test(path));
const stepsOf = (name: string) =>
  eventsOf(name).flatMap((event) =>
    event.type === 'step' ? [{ step: event.step, metrics: timeless(event.metrics) }] : [],
  );

test('each step plays and learns with the settings of its stage', { timeout: 60_000 }, async () => {
  await train({ world: 'frozen-lake', recipe: 'rloo', name: 'staged', runs, settings });
  const metrics = eventsOf('staged').flatMap((event) => (event.type === 'step' ? [event.metrics] : []));
  expect(metrics.map((one) => one['episodes/total'])).toEqual([8, 8, 12, 12, 12, 12]);
  expect(metrics.map((one) => one['optim/learning_rate'])).toEqual([1e-3, 1e-3, 5e-4, 5e-4, 5e-4, 5e-4]);
  const compared = metrics.map((one) => 'policy/kl_reference' in one);
  expect(compared).toEqual([false, false, true, true, false, false]);
  const told = eventsOf('staged').flatMap((event) => (event.type === 'stage' ? [event] : []));
  expect(told.map(({ step, stage, set }) => [step, stage, set])).toEqual([
    [1, 1, stages[0]!.set],
    [3, 2, stages[1]!.set],
    [5, 3, {}],
  ]);
  const reader = RunDirectory.openForReading({ root: runs, name: 'staged', version: '0.1.0' }).readRollouts();
  const longest: number[] = [];
  const scales: (number | undefined)[] = [];
  for (const step of reader.index.steps()) {
    let turns = 0;
    for await (const { members } of reader.groups(trainingShard(step)))
      turns = Math.max(turns, ...members.map(({ transitions }) => transitions.length));
    longest.push(turns);
    scales.push((await reader.header(trainingShard(step))).credit?.rewardScale);
  }
  expect(longest).toEqual([2, 2, 3, 3, 5, 5]);
  expect(scales).toEqual([1, 1, 2, 2, 1, 1]);
});

test.each([1, 2, 3])(
  'a run that goes on from step %i is the run that never stopped',
  { timeout: 60_000 },
  async (at) => {
    const name = `stopped-${at}`;
    const run = await start({ world: 'frozen-lake', recipe: 'rloo', name, runs, settings });
    for await (const event of run.events) if (event.type === 'step' && event.step === at) run.stop();
    await run.finished.catch(() => undefined);
    await (await resume(name, { runs })).finished;
    const last = new Map(stepsOf(name).map((one) => [one.step, one.metrics]));
    expect([...last]).toEqual(stepsOf('staged').map(({ step, metrics }) => [step, metrics]));
  },
);

describe('stages that end by what is measured', () => {
  const measured = {
    ...settings,
    steps: 7,
    evaluation: { every: 2, tasks: 4, finalTasks: 4 },
    stages: [
      { until: { metric: 'reward/mean', plateau: 2, gain: 10 }, set: { 'rollout.maxTurns': 2 } },
      { until: { metric: 'evaluation/turns', least: 1 }, set: { 'rollout.maxTurns': 3 } },
      { until: { steps: 1 }, set: { 'optimizer.learningRate': 1e-3 } },
    ],
  };
  const begunIn = (name: string) =>
    eventsOf(name).flatMap((event) => (event.type === 'stage' ? [[event.step, event.stage]] : []));

  test('each lasts until then', { timeout: 60_000 }, async () => {
    await train({ world: 'frozen-lake', recipe: 'rloo', name: 'measured', runs, settings: measured });
    // The best of the first three measurements is the first; an evaluation comes after step 4.
    expect(begunIn('measured')).toEqual([
      [1, 1],
      [4, 2],
      [5, 3],
      [6, 4],
    ]);
    const turns = eventsOf('measured').flatMap((event) =>
      event.type === 'step' ? [event.metrics['turns/mean']! <= 2] : [],
    );
    expect(turns.slice(0, 3)).toEqual([true, true, true]);
    expect(turns.slice(4)).toContain(false);
  });

  test.each([1, 2, 3, 4, 5])(
    'a run that goes on from step %i is the run that never stopped',
    { timeout: 60_000 },
    async (at) => {
      const name = `measured-${at}`;
      const run = await start({ world: 'frozen-lake', recipe: 'rloo', name, runs, settings: measured });
      for await (const event of run.events) if (event.type === 'step' && event.step === at) run.stop();
      await run.finished.catch(() => undefined);
      await (await resume(name, { runs })).finished;
      const last = new Map(stepsOf(name).map((one) => [one.step, one.metrics]));
      expect([...last]).toEqual(stepsOf('measured').map(({ step, metrics }) => [step, metrics]));
      expect(begunIn(name)).toEqual(begunIn('measured'));
    },
  );
});

test('what a recipe of one’s own reads can change', { timeout: 60_000 }, async () => {
  const seen: number[] = [];
  const recipe = defineRecipe({
    name: 'own',
    options: z.strictObject({
      own: z.strictObject({ share: z.number().default(1).describe('Any') }).prefault({}),
    }),
    act: ({ own }) => {
      seen.push(own.share);
      return {
        keeps: () => false,
        next: ({ members, rounds }) => (rounds.length > 0 ? 'done' : [{ from: 'start', members }]),
      };
    },
  });
  const own = { ...settings, steps: 2, stages: [{ until: 1, set: { 'own.share': 0.5 } }] };
  await train({ world: 'frozen-lake', recipe: recipe(own), name: 'own', runs });
  expect(seen).toEqual([0.5, 1]);
});

describe('a stage that leaves out a curation and a shaping of the run', () => {
  const without = { 'curation.varied': false, 'credit.shape.invalid-action-penalty': false };
  const dropping = {
    ...settings,
    curation: { varied: {} },
    credit: { shape: { 'invalid-action-penalty': { penalty: 5 } } },
    stages: [
      { until: 2, set: {} },
      { until: 4, set: without },
    ],
  };

  test('it has neither, and what follows has both', { timeout: 60_000 }, async () => {
    await train({ world: 'frozen-lake', recipe: 'rloo', name: 'dropped', runs, settings: dropping });
    const told = eventsOf('dropped').flatMap((event) => (event.type === 'stage' ? [event.set] : []));
    expect(told).toEqual([{}, without, {}]);
    const reader = RunDirectory.openForReading({
      root: runs,
      name: 'dropped',
      version: '0.1.0',
    }).readRollouts();
    const shaped: boolean[] = [];
    for (const step of reader.index.steps()) {
      const { credit } = await reader.header(trainingShard(step));
      shaped.push('invalid-action-penalty' in (credit?.shape ?? {}));
    }
    expect(shaped).toEqual([true, true, false, false, true, true]);
  });

  test.each([1, 3, 4])(
    'a run that goes on from step %i is the run that never stopped',
    { timeout: 60_000 },
    async (at) => {
      const name = `dropped-${at}`;
      const run = await start({ world: 'frozen-lake', recipe: 'rloo', name, runs, settings: dropping });
      for await (const event of run.events) if (event.type === 'step' && event.step === at) run.stop();
      await run.finished.catch(() => undefined);
      await (await resume(name, { runs })).finished;
      const last = new Map(stepsOf(name).map((one) => [one.step, one.metrics]));
      expect([...last]).toEqual(stepsOf('dropped').map(({ step, metrics }) => [step, metrics]));
    },
  );
});
