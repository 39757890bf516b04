/** The types of what authors define: options are inferred from the schema, and the compiler refuses what would fail later. */

import { expect, expectTypeOf, test } from 'vitest';
import { type CreditMethod, defineCreditMethod, defineShaping, type RewardShaping, z } from './credit.ts';
import { multiply, negate, sum } from './graph.ts';
import { type ContextStrategy, type Definition, defineContext, type RunSettings } from './index.ts';
import { defineObjective, type ObjectiveMethod } from './objective.ts';

const options = z.strictObject({ factor: z.number().default(2).describe('Factor') });

const method = defineCreditMethod({ name: 'method', summary: 'one' }, options, ({ factor }) => {
  expectTypeOf(factor).toBeNumber();
  return (trajectories, state) => ({
    credits: trajectories.map(({ id, outcome, turns }) => ({
      id,
      turnAdvantages_K: turns.map(() => factor * outcome),
    })),
    state,
  });
});
const shaping = defineShaping({ name: 'shaping', summary: 'one' }, options, ({ factor }) => (all, state) => ({
  trajectories: all.map((trajectory) => ({ ...trajectory, outcome: factor * trajectory.outcome })),
  state,
}));
const objective = defineObjective({ name: 'objective', summary: 'one' }, options, ({ factor }) => ({
  channels: ['advantages'],
  needs: {},
  build: ({ weight, logprobs, channel }) => ({
    loss: multiply(negate(sum(multiply(weight, multiply(channel('advantages'), logprobs)))), factor),
    metrics: {},
  }),
}));
const context = defineContext({
  name: 'context',
  summary: 'one',
  options,
  start: () => ({ asked: 0 }),
  window: ({ fresh, state, options: { factor } }) => ({
    conversation: { parts: fresh.slice(-factor) },
    state,
  }),
});

test('each is a definition, tagged with its kind', () => {
  expectTypeOf(method).toEqualTypeOf<CreditMethod>();
  expectTypeOf(shaping).toEqualTypeOf<RewardShaping>();
  expectTypeOf(objective).toEqualTypeOf<ObjectiveMethod<typeof options>>();
  expectTypeOf(context).toEqualTypeOf<ContextStrategy>();
  const all: readonly Definition[] = [method, shaping, objective, context];
  expect(all.map(({ kind }) => kind)).toEqual(['credit-method', 'reward-shaping', 'objective', 'context']);
  expect(objective({ factor: 3 }).key).toBe('objective {"factor":3}');
});

test('settings take names and definitions, each in its place', () => {
  const settings: RunSettings = {
    steps: 3,
    context,
    credit: {
      method,
      factor: 3,
      shape: new Map<string | RewardShaping, object>([
        [shaping, {}],
        ['ufo', {}],
      ]),
    },
    objective: { name: objective, options: { factor: 1 }, clipLow: 0.1 },
  };
  const named: RunSettings = { context: 'latest', credit: { method: 'grpo', shape: { ufo: {} } } };
  expect([settings.steps, named.context]).toEqual([3, 'latest']);
});

test('the compiler refuses definitions that could not work', () => {
  // @ts-expect-error a summary is what help shows
  defineCreditMethod({ name: 'bare' }, options, () => (_, state) => ({ credits: [], state }));
  defineCreditMethod(
    { name: 'forgetful', summary: '' },
    options,
    () =>
      // @ts-expect-error the state goes on to the next step
      () => ({ credits: [] }),
  );
  // @ts-expect-error a shaping returns trajectories
  defineShaping({ name: 'empty', summary: '' }, options, () => (_, state) => ({ state }));
  // @ts-expect-error a loss says which channels it reads
  defineObjective({ name: 'blind', summary: '' }, options, () => ({ needs: {}, build: () => ({}) }));
  // @ts-expect-error a context makes a prompt
  defineContext({ name: 'mute', summary: '', next: () => undefined });
  // @ts-expect-error a loss is no credit method
  const wrong: RunSettings = { credit: { method: objective } };
  // @ts-expect-error nor is a method a context
  const alsoWrong: RunSettings = { context: method };
  expect([wrong.steps, alsoWrong.steps]).toEqual([undefined, undefined]);
});
