import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Recipe } from '../recipes/recipe.ts';
import type { TrainSettings } from './config.ts';
import { mergeSettings } from './merge.ts';
import { resolveConfig } from './resolve.ts';

const environmentOptions = z.strictObject({ size: z.int().default(4), slip: z.number().max(1).default(0) });

const recipe = (settings: TrainSettings): Recipe => ({
  kind: 'recipe',
  name: 'test',
  summary: '',
  source: '',
  authors: 'none',
  formula: [],
  use: 'testing',
  critic: false,
  settings,
});

const resolve = (settings: object, from: TrainSettings = {}, environmentSettings: object = {}) =>
  resolveConfig({
    recipe: recipe(from),
    environmentOptions,
    environmentSettings: environmentSettings as Record<string, unknown>,
    settings: settings as TrainSettings,
  });

test('defaults < recipe < environment < person, key by key', () => {
  const config = resolve(
    { rollout: { tasks: 3 } },
    { steps: 1, rollout: { tasks: 1, group: 1, topK: 1 } },
    { steps: 2, rollout: { tasks: 2, group: 2 } },
  );
  expect(config.rollout).toMatchObject({ tasks: 3, group: 2, topK: 1, temperature: 1 });
  expect(config.steps).toBe(2);
});

test('layers are merged and not changed; a list or a number replaces what was below', () => {
  const below = { a: { b: 1, c: [1, 2] } };
  expect(mergeSettings(below, undefined, { a: { c: [3] } }, { a: { d: null } })).toEqual({
    a: { b: 1, c: [3], d: null },
  });
  expect(mergeSettings(below, { a: 5 })).toEqual({ a: 5 });
  expect(below).toEqual({ a: { b: 1, c: [1, 2] } });
});

test('another name leaves nothing of the options of the one below it, and everything else', () => {
  const credit = { method: 'gae', lambda: 0.5, rewardScale: 0.1, shape: { ufo: {} } };
  const objective = { name: 'kl-cov', options: { share: 0.1 }, clipHigh: 0.4 };
  const context = { name: 'summary', threshold: 10, trained: false };
  const below = { credit, objective, context, turns: { name: 'until-void' } } as TrainSettings;
  expect(mergeSettings(below, { credit: { method: 'grpo' } })).toEqual({
    ...below,
    credit: { method: 'grpo', rewardScale: 0.1, shape: { ufo: {} } },
  });
  expect(mergeSettings(below, { context: { name: 'full' } }).context).toEqual({
    name: 'full',
    trained: false,
  });
  expect(mergeSettings(below, { credit: { method: 'gae', gamma: 0.9 } }).credit).toEqual({
    ...credit,
    gamma: 0.9,
  });
  const others = { credit: { method: 'rloo' }, objective: { name: 'ppo-clip' } };
  expect(resolve(others, { credit, objective })).toMatchObject({
    credit: { method: 'rloo', rewardScale: 0.1 },
    objective: { name: 'ppo-clip', options: {}, clipHigh: 0.4 },
  });
});

test('reward shapings are filled in from their own schemas, and unknown ones refused', () => {
  const config = resolve({ credit: { shape: { ufo: { gamma: 0.25 }, SMART: {} } } });
  expect(config.credit.shape).toEqual({
    ufo: { gamma: 0.25, lambda: 0.5 },
    'tool-penalty': { penalty: 0.1, limit: 0.5 },
  });
  expect(() => resolve({ credit: { shape: { uf: {} } } })).toThrow('Did you mean "ufo"?');
  expect(() => resolve({ credit: { shape: { ufo: { gama: 1 } } } })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: Reward shaping "ufo" has no setting "credit.shape.ufo.gama". Allowed: credit.shape.ufo.gamma, credit.shape.ufo.lambda. Did you mean "credit.shape.ufo.gamma"?]`,
  );
});

test('options of the environment and of the credit method are filled in from their own schemas', () => {
  const config = resolve({ environment: { slip: 0.5 } }, { credit: { method: 'gae', lambda: 0.5 } });
  expect(config.environment).toEqual({ size: 4, slip: 0.5 });
  expect(config.credit).toMatchObject({
    method: 'gae',
    lambda: 0.5,
    gamma: expect.any(Number),
    rewardScale: 1,
  });
});

test('what cannot be used is named: keys, options, values, and settings that do not fit together', () => {
  expect(() => resolve({ checkpoint: { evry: 3 } })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: A run has no setting "checkpoint.evry". Allowed: checkpoint.every, checkpoint.keep. Did you mean "checkpoint.every"?]`,
  );
  expect(() => resolve({ environment: { slipp: 0.1 } })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: This environment has no setting "environment.slipp". Allowed: environment.size, environment.slip. Did you mean "environment.slip"?]`,
  );
  expect(() => resolve({ environment: { slip: 2 } })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: This environment cannot use this value of "environment.slip". Seen: 2. Allowed: a number <= 1.]`,
  );
  expect(() => resolve({ credit: { method: 'rlo' } })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: There is no such credit method. Seen: "rlo". Allowed: reinforce, reinforce++, reinforce++-baseline, rloo, grpo, dr-grpo, dapo, gae, turn-gae, bi-level-gae, gigpo, hgpo, step-grpo, igpo, matchtir, spa-rl, g-ra, e-grpo, mt-grpo, arpo, tree-grpo, aepo, spear, earl, mars, rae, cory, waltzrl, malt, teacher-kl. Did you mean "rloo"?]`,
  );
  expect(() =>
    resolve({ credit: { lamda: 1 } }, { credit: { method: 'gae' } }),
  ).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: Credit method "gae" has no setting "credit.lamda". Allowed: credit.gamma, credit.lambda, credit.lengthAlpha, credit.decoupled, credit.whiten. Did you mean "credit.lambda"?]`,
  );
  expect(() => resolve({ objective: { dualClip: 0.5 } })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: A run cannot use this value of "objective.dualClip". Seen: 0.5. Allowed: a number > 1.]`,
  );
  expect(() => resolve({ model: { width: 20, heads: 4 } })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: model.heads does not fit model.width. Seen: heads 4, width 20. Allowed: a width that is a multiple of twice the heads, since positions rotate pairs of channels. Change one of them with --set.]`,
  );
  expect(resolve({ model: { width: 24, heads: 4 } }).model).toMatchObject({ width: 24, heads: 4 });
});

test('acts are restricted to the legal ones with a pretrained model, and not with words or on a server', () => {
  const choices = (settings: object) => resolve(settings).rollout.choices;
  const server = { engine: 'tinker', tinker: { baseUrl: 'http://127.0.0.1:1', baseModel: 'a/b' } };
  expect(choices({})).toBe(false);
  expect(choices({ rollout: { choices: true } })).toBe(true);
  expect(choices({ model: { pretrained: './a' } })).toBe(true);
  expect(choices({ model: { pretrained: './a' }, rollout: { choices: false } })).toBe(false);
  expect(choices(server)).toBe(false);
  expect(() => choices({ ...server, rollout: { choices: true } })).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The Tinker API cannot restrict completions to choices. Seen: engine=tinker. Leave it out, or train with the embedded engine.]`,
  );
});
