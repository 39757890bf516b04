import { expect, test } from 'vitest';
import { z } from 'zod';
import { findRecipe } from '../recipes/recipes.ts';
import type { TrainSettings } from './config.ts';
import { resolveConfig } from './resolve.ts';
import { configAt, configsOf, settingsOf } from './stages.ts';

const resolve = (settings: object, recipe = 'rloo') =>
  resolveConfig({
    recipe: findRecipe(recipe),
    environmentOptions: z.strictObject({}),
    settings: settings as TrainSettings,
  });
const refusal = (settings: object, recipe = 'rloo'): string => {
  try {
    resolve(settings, recipe);
  } catch (error) {
    return String((error as Error).message);
  }
  return 'nothing was refused';
};

test('what holds in a step follows from its number', () => {
  const config = resolve({
    rollout: { maxTurns: 12 },
    stages: [
      { until: 2, set: { 'rollout.maxTurns': 4, 'optimizer.learningRate': 1e-3 } },
      { until: 5, set: { rollout: { maxTurns: 8 } } },
    ],
  });
  const seen = [1, 2, 3, 5, 6, 100].map((step) => configAt(config, step));
  expect(seen.map(({ rollout }) => rollout.maxTurns)).toEqual([4, 4, 8, 8, 12, 12]);
  // A stage lies over the settings of the run, not over the stage before.
  expect(seen.map(({ optimizer }) => optimizer.learningRate)).toEqual([1e-3, 1e-3, 5e-4, 5e-4, 5e-4, 5e-4]);
  expect(configAt(config, 6)).toBe(config);
  expect(configsOf(config).map(({ rollout }) => rollout.maxTurns)).toEqual([4, 8, 12]);
});

test('a stage without an end is the last; without stages every step has the settings of the run', () => {
  const config = resolve({ stages: [{ until: 2, set: {} }, { set: { 'rollout.group': 4 } }] });
  expect([2, 3, 999].map((step) => configAt(config, step).rollout.group)).toEqual([8, 4, 4]);
  expect(configsOf(config)).toHaveLength(2);
  const plain = resolve({});
  expect([configAt(plain, 7), configsOf(plain)]).toEqual([plain, [plain]]);
});

test('a stage keeps what it changes, with the options of what it names', () => {
  const { stages } = resolve({
    stages: [{ set: { 'rollout.group': 8, 'credit.shape': { dense: {} }, 'objective.klCoefficient': 0.1 } }],
  });
  const set = settingsOf(stages[0]!.set);
  expect(set).toMatchObject({ 'objective.klCoefficient': 0.1 });
  expect(Object.keys(set).some((path) => path.startsWith('credit.shape.dense.'))).toBe(true);
  expect(set).not.toHaveProperty(['rollout.group']);
});

test('what cannot change, does not follow or is not read is refused before anything runs', () => {
  const one = (set: object, recipe?: string) => refusal({ stages: [{ until: 3, set }] }, recipe);
  expect(one({ seed: 2 })).toMatch(/Stage 1: "seed" cannot change in a stage. Seen: 2\./);
  expect(one({ 'model.width': 64 })).toContain('"model.width" cannot change');
  expect(one({ 'credit.method': 'grpo' })).toContain('"credit.method" cannot change');
  expect(one({ 'turns.name': 'annealed' })).toContain('"turns.name" cannot change');
  expect(one({ 'rollout.batching': 'continuous' })).toContain('"rollout.batching" cannot change');
  expect(one({ curation: { perplexity: {} } })).toContain('"curation.perplexity" cannot change');
  expect(one({ 'rollout.maxTurn': 3 })).toMatch(/rollout\.maxTurn.*maxTurns/);
  expect(one({ 'rollout.group': 0 })).toMatch(/rollout\.group/);
  expect(one({ 'objective.clipHigh': 0.3 }, 'dpo')).toMatch(/clipHigh/);
  expect(
    refusal({
      stages: [
        { until: 3, set: {} },
        { until: 3, set: {} },
      ],
    }),
  ).toMatch(/Stage 2: Stages follow each other. Seen: until 3 after 3/);
  expect(refusal({ stages: [{ set: {} }, { until: 3, set: {} }] })).toContain('Stage 1');
  expect(refusal({ stages: [{ until: 0, set: {} }] })).toMatch(/stages/);
  expect(refusal({ stages: [{ until: 1, set: {}, from: 1 }] })).toMatch(/from/);
});

test('a condition says when it ends, by what equal runs measure alike', () => {
  const until = (condition: object, more: object = {}) =>
    refusal({ ...more, stages: [{ until: condition, set: {} }] });
  const metric = 'reward/success';
  for (const good of [{ steps: 3 }, { metric, least: 0.5 }, { metric, plateau: 2, gain: 0.1, steps: 9 }])
    expect(until(good)).toBe('nothing was refused');
  for (const bad of [
    {},
    { metric },
    { metric, steps: 4 },
    { metric, least: 0.1, most: 0.2 },
    { least: 1, steps: 2 },
  ])
    expect(until(bad), JSON.stringify(bad)).toContain('Stage 1: Its condition says not when it ends');
  expect(until({ metric: 'time/step_s', least: 1 })).toContain('may differ between equal runs');
  expect(until({ metric: 'evaluation/success', least: 1 }, { evaluation: { every: 0 } })).toContain(
    'evaluation.every',
  );
  expect(until({ metric, least: 1 }, { batches: { maxStaleness: 1 } })).toMatch(
    /played ahead.*maxStaleness=0/,
  );
  expect(until({ metric, leest: 1 })).toMatch(/stages/);
});

test('a stage may begin after measured ones, and numbers beside them still follow each other', () => {
  const measured = { until: { metric: 'reward/success', least: 0.5 }, set: {} };
  const at = (until: number) => ({ until, set: {} });
  expect(refusal({ stages: [at(4), measured, at(5)] })).toBe('nothing was refused');
  expect(refusal({ stages: [at(5), measured, at(4)] })).toMatch(/Stage 3: Stages follow each other/);
});
