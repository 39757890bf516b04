import { expect, test } from 'vitest';
import { z } from 'zod';
import { findRecipe } from '../recipes/recipes.ts';
import { type TrainSettings, trainConfigSchema } from './config.ts';
import { resolveConfig } from './resolve.ts';
import { configAt, configsOf, endsInLog, lastSteps, settingsOf } from './stages.ts';

const resolve = (settings: object, recipe = 'rloo') =>
  resolveConfig({
    recipe: findRecipe(recipe),
    environmentOptions: z.strictObject({ size: z.number().default(4) }),
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

test('a stage leaves out what the run has by name, and a later one has it again', () => {
  const run = {
    curation: { varied: { share: 0.25 }, perplexity: {} },
    credit: { shape: { dense: {}, overlong: {} } },
    stages: [
      { until: 2, set: { 'curation.varied': false, 'credit.shape': { dense: false } } },
      { until: 4, set: { 'curation.varied.share': 0.75 } },
    ],
  };
  const config = resolve(run);
  expect(settingsOf(config.stages[0]!.set)).toEqual({
    'curation.varied': false,
    'credit.shape.dense': false,
  });
  // As a run that goes on reads it.
  const stored = trainConfigSchema.parse(JSON.parse(JSON.stringify(config)));
  for (const one of [config, stored]) {
    const seen = [1, 3, 5].map((step) => configAt(one, step));
    expect(seen.map(({ curation }) => Object.keys(curation))).toEqual([
      ['perplexity'],
      ['varied', 'perplexity'],
      ['varied', 'perplexity'],
    ]);
    expect(seen.map(({ credit }) => Object.keys(credit.shape))).toEqual([
      ['overlong'],
      ['dense', 'overlong'],
      ['dense', 'overlong'],
    ]);
    expect(seen.map(({ curation }) => (curation.varied as { share: number } | undefined)?.share)).toEqual([
      undefined,
      0.75,
      0.25,
    ]);
    expect(configsOf(one).map(({ curation }) => 'varied' in curation)).toEqual([false, true, true]);
  }
});

test('what a recipe names is left out under any of its names, and an unknown name is refused', () => {
  const shape = (name: string) => resolve({ credit: { shape: { dense: {}, [name]: false } } }).credit.shape;
  expect(shape('dense')).toEqual({});
  expect(shape('Dense')).toEqual({});
  expect(refusal({ credit: { shape: { dens: false } } })).toContain('dense');
  expect(refusal({ curation: { vared: false } })).toContain('varied');
});

test('a group without a name leaves nothing out, and says so', () => {
  const one = (set: object) =>
    refusal({ curation: { varied: {} }, credit: { shape: { dense: {} } }, stages: [{ set }] });
  expect(one({ curation: {} })).toMatch(/Stage 1: "curation" without a name.*"curation.varied": false/);
  expect(one({ 'credit.shape': {} })).toMatch(/"credit.shape.dense": false/);
  expect(refusal({ stages: [{ set: { curation: {} } }] })).toBe('nothing was refused');
});

test('options of the context may change, and instructions or weights may learn', () => {
  const config = resolve({
    context: { name: 'last-turns', turns: 2 },
    stages: [{ until: 1, set: { 'context.turns': 4, 'context.trained': false, 'prompts.alone': true } }],
  });
  const [first, last] = [configAt(config, 1), configAt(config, 2)];
  expect([first.context, last.context]).toMatchObject([
    { name: 'last-turns', turns: 4, trained: false },
    { name: 'last-turns', turns: 2, trained: true },
  ]);
  expect([first.prompts.alone, last.prompts.alone]).toEqual([true, false]);
});

test('each setting that stays has its reason', () => {
  const one = (set: object, more: object = {}) => refusal({ ...more, stages: [{ until: 3, set }] });
  expect(one({ 'context.name': 'latest' })).toMatch(/"context.name" cannot change.*under one context/);
  expect(one({ 'environment.size': 5 })).toMatch(/"environment.size" cannot change.*needs one world/);
  expect(one({ 'batches.parts': 2 })).toMatch(/several steps may be under way/);
  expect(one({ 'evaluation.tasks': 9 })).toMatch(/compared with one another/);
  expect(one({ 'prompts.name': 'population' })).toMatch(/over the whole run/);
  expect(one({ 'objective.name': 'gspo' })).toMatch(/belong to one loss/);
  expect(one({ 'credit.method': 'grpo' })).toMatch(/means nothing to another/);
  expect(one({ 'curation.perplexity': {} })).toMatch(/remember nothing.*"curation.perplexity": false/);
  expect(one({ 'rollout.exchangeEvery': 2 })).toMatch(/counts the steps/);
  const places = { tasks: { name: 'exit' }, context: { name: 'last-turns' } };
  expect(one({ 'context.turns': 9 }, places)).toMatch(/would not build again/);
});

test('what cannot change, does not follow or is not read is refused before anything runs', () => {
  const one = (set: object, recipe?: string) => refusal({ stages: [{ until: 3, set }] }, recipe);
  expect(one({ seed: 2 })).toMatch(
    /Stage 1: "seed" cannot change in a stage: it names the chance.*Seen: 2\./,
  );
  expect(one({ 'model.width': 64 })).toContain('"model.width" cannot change');
  expect(one({ 'credit.method': 'grpo' })).toContain('"credit.method" cannot change');
  expect(one({ 'turns.name': 'annealed' })).toContain('"turns.name" cannot change');
  expect(one({ 'rollout.batching': 'continuous' })).toContain('"rollout.batching" cannot change');
  expect(one({ curation: { perplexity: {} } })).toContain('"curation.perplexity" cannot change');
  expect(one({ 'rollout.maxTurn': 3 })).toMatch(/^Stage 1: .*rollout\.maxTurn.*maxTurns/);
  expect(one({ 'rollout.group': 0 })).toMatch(/^Stage 1: .*rollout\.group/);
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
  const timed = { model: { pretrained: 'some-model' }, evaluation: { every: 1 } };
  expect(until({ metric: 'evaluation/success', least: 1 }, timed)).toContain('evaluation.tasks above 0');
  expect(until({ metric, least: 1 }, timed)).toBe('nothing was refused');
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

test('the log tells when a measured stage ended, and nothing of one that goes on', () => {
  const measured = { metric: 'reward/mean', least: 1 };
  const { stages } = resolve({
    stages: [measured, 5, measured, measured].map((until) => ({ until, set: {} })),
  });
  // The first one lasted beyond the end of the second.
  const begun = [
    [1, 1],
    [8, 3],
    [10, 4],
  ].map(([step = 0, stage = 0]) => ({ type: 'stage', step, stage, set: {} }) as const);
  expect(endsInLog(stages, begun)).toEqual([7, 7, 9, null]);
  expect(lastSteps(stages, endsInLog(stages, begun))).toEqual([7, 5, 9, Number.POSITIVE_INFINITY]);
  expect(endsInLog(stages, begun.slice(0, 1))).toEqual([null, null, null, null]);
  expect(endsInLog([], [])).toEqual([]);
});
