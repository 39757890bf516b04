/** Recipes of a user, in files and in code: chosen, set, trained with, gone on with, refused. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { defineRecipe, type StoredEvent, start, type TrainSettings, train, z } from '../src/exports/index.ts';
import { batchOf, grpo } from '../src/exports/recipes.ts';
import { resume } from '../src/exports/train.ts';
import { makeProject } from '../src/run/load/project.test-helper.ts';
import { readEvents } from '../src/store/log-lines.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-user-recipes-'));
const project = makeProject({});
afterAll(() => {
  rmSync(runs, { recursive: true, force: true });
  project.remove();
});

const small: TrainSettings = {
  seed: 3,
  steps: 2,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 48, steps: 4, batch: 16 },
  rollout: { tasks: 4, group: 4 },
  evaluation: { every: 0, tasks: 4, finalTasks: 4 },
  checkpoint: { every: 1 },
};

const example = new URL('../examples/own-recipe.ts', import.meta.url).pathname;

const configOf = (name: string): { recipe: string; config: Record<string, unknown> } =>
  JSON.parse(readFileSync(join(runs, name, 'config.json'), 'utf8'));

const stepsOf = (name: string): Record<string, number>[] =>
  readEvents(join(runs, name, 'events.jsonl')).flatMap((event: StoredEvent) =>
    event.type === 'step' ? [{ ...event.metrics }] : [],
  );

/** Counts the steps in its memory, and learns from every episode with weight `lean.rate`. */
const counting = (fails: (step: number) => unknown = () => undefined) =>
  defineRecipe<{ readonly steps: number }, typeof options>({
    name: 'counting',
    options,
    start: () => ({ steps: 0 }),
    learn:
      ({ lean }) =>
      async (trainer, groups, { memory, step }) => {
        const wrong = fails(step);
        if (wrong !== undefined) return wrong as never;
        const { samples_I } = await trainer.credit(groups);
        const objective = trainer.objective();
        const rows = trainer.rows(samples_I.flat(), objective);
        if (rows.length > 0) await trainer.policy.learn(batchOf(rows), objective);
        const steps = memory.steps + 1;
        return { memory: { steps }, metrics: { 'lean/steps': steps, 'lean/rate': lean.rate } };
      },
  });

const options = z.strictObject({
  lean: z
    .strictObject({ rate: z.number().min(0).default(0.5).describe('A number') })
    .prefault({})
    .describe('Its own'),
});

describe('in a file', () => {
  test('it is trained with, keeps its settings and its path, and is found again', async () => {
    const settings = { ...small, best: { share: 1 } } as TrainSettings;
    await train({ world: 'frozen-lake', recipe: example, settings, name: 'file', runs });
    const { recipe, config } = configOf('file');
    expect(recipe).toBe(example);
    expect(config.best).toEqual({ share: 1 });
    // What it does not read is not in its configuration.
    expect(config).not.toHaveProperty('objective');
    expect(stepsOf('file')).toHaveLength(2);
    const stopped = await start({ world: 'frozen-lake', recipe: example, settings, name: 'half', runs });
    for await (const { type } of stopped.events) if (type === 'evaluation') stopped.stop();
    await stopped.finished.catch(() => {});
    await (await resume('half', { runs })).finished;
    const figures = (name: string) => stepsOf(name).map((metrics) => metrics['best/episodes']);
    expect(figures('half')).toEqual(figures('file'));
  });

  test('a setting that it does not read is refused, and so is a value that its schema refuses', async () => {
    const attempt = (settings: object) =>
      train({
        world: 'frozen-lake',
        recipe: example,
        settings: { ...small, ...settings },
        name: 'never',
        runs,
      });
    await expect(attempt({ objective: { clipHigh: 0.3 } })).rejects.toThrow(
      'The recipe "best-of-group" does not read "objective.clipHigh"',
    );
    await expect(attempt({ best: { share: 2 } })).rejects.toMatchObject({ code: 'config-invalid' });
    await expect(attempt({ best: { part: 1 } })).rejects.toMatchObject({ code: 'config-unknown-key' });
  });

  test('a file without one, or with another thing, is refused with what there is', async () => {
    const path = project.write('none.ts', 'export const recipe = { name: "x" };');
    await expect(train({ world: 'frozen-lake', recipe: path, settings: small, runs })).rejects.toMatchObject({
      code: 'file-unusable',
    });
    await expect(
      train({ world: 'frozen-lake', recipe: './nowhere.ts', settings: small, runs }),
    ).rejects.toMatchObject({ code: 'file-unknown' });
  });
});

describe('in code', () => {
  test('its memory is in the checkpoint, and it goes on where it is given again', async () => {
    const recipe = counting()({ ...small, lean: { rate: 0.25 } });
    const run = await start({ world: 'frozen-lake', recipe, name: 'code', runs });
    for await (const { type } of run.events) if (type === 'evaluation') run.stop();
    await run.finished.catch(() => {});
    expect(configOf('code').recipe).toBe('code:counting');
    await expect(resume('code', { runs })).rejects.toMatchObject({ code: 'definition-in-code' });
    await (await resume('code', { runs, definitions: [counting()] })).finished;
    expect(stepsOf('code').map((metrics) => [metrics['lean/steps'], metrics['lean/rate']])).toEqual([
      [1, 0.25],
      [2, 0.25],
    ]);
  });

  test('an error of its own ends the run at its last checkpoint, in words that name it', async () => {
    const fails = (step: number): unknown => {
      if (step === 2) throw new RangeError('divided by nothing');
      return undefined;
    };
    const recipe = counting(fails)(small);
    const message = 'Recipe "counting" threw an error while it learned. Seen: divided by nothing';
    await expect(train({ world: 'frozen-lake', recipe, name: 'throws', runs })).rejects.toThrow(message);
    await (await resume('throws', { runs, definitions: [counting()] })).finished;
    expect(stepsOf('throws')).toHaveLength(2);
  });

  test.each([
    ['nothing', null, 'returned nothing from a step'],
    ['memory that is not JSON', { memory: { at: new Date(Number.NaN), n: 1n } }, 'not JSON'],
    ['a metric that is no number', { memory: { steps: 0 }, metrics: { a: 'b' } }, 'no number'],
  ])('%s is refused', async (name, wrong, words) => {
    const recipe = counting(() => wrong)(small);
    await expect(
      train({ world: 'frozen-lake', recipe, name: `bad ${name}`.replaceAll(' ', '-'), runs }),
    ).rejects.toThrow(words);
  });

  test('settings of its own cannot have the name of those of every run', () => {
    const objective = z.strictObject({ objective: z.strictObject({}).prefault({}) });
    expect(() => defineRecipe({ name: 'taken', options: objective })).toThrow(
      'has settings of its own under "objective"',
    );
  });
});

test('a built-in recipe is a function of settings, and the settings of the call win over it', async () => {
  const recipe = grpo({ ...small, objective: { clipHigh: 0.3, clipLow: 0.1 } });
  await train({
    world: 'frozen-lake',
    recipe,
    settings: { objective: { clipLow: 0.15 } },
    name: 'chosen',
    runs,
  });
  const { recipe: source, config } = configOf('chosen');
  expect(source).toBe('grpo');
  expect(config.objective).toMatchObject({ clipHigh: 0.3, clipLow: 0.15 });
});
