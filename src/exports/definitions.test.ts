/** The types of what authors define: options are inferred from the schema, and the compiler refuses what would fail later. */

import { expect, expectTypeOf, test } from 'vitest';
import { type CreditMethod, defineCreditMethod, defineShaping, type RewardShaping, z } from './credit.ts';
import { multiply, negate, sum } from './graph.ts';
import {
  type ContextStrategy,
  type DefinedCuration,
  type DefinedPrompts,
  type DefinedProposer,
  type DefinedTasks,
  type DefinedTurns,
  type Definition,
  defineContext,
  defineCuration,
  definePrompts,
  defineProposer,
  defineRecipe,
  defineTasks,
  defineTurns,
  type RunSettings,
  type TurnView,
} from './index.ts';
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

const tasks = defineTasks({
  name: 'tasks',
  options,
  start: () => ({ rate: 0 }),
  next: ({ wanted, tasks: { fresh }, memory, options: { factor } }) => {
    expectTypeOf(memory).toEqualTypeOf<{ rate: number }>();
    return fresh(wanted).map((index) => ({ task: { split: 'train', index }, members: factor }));
  },
  remember: (groups, { memory }) => ({ rate: memory.rate + groups.length }),
});
const turns = defineTurns({
  name: 'turns',
  options,
  limit: (_task, { usual, options: { factor } }) => usual * factor,
  after: (view, { done }) => {
    expectTypeOf(view).toEqualTypeOf<TurnView>();
    return done ? 'go on' : { stop: 'early-stop' };
  },
});
const curation = defineCuration({
  name: 'curation',
  options,
  choose: (_groups, { round, memory }) => {
    expectTypeOf(memory).toEqualTypeOf<null>();
    return { wanted: round };
  },
});

const prompts = definePrompts({
  name: 'prompts',
  options,
  start: () => ({ step: 0 }),
  ask: ({ group, memory, options: { factor } }) => `${group * factor + memory.step}`,
  best: ({ memory }) => {
    expectTypeOf(memory).toEqualTypeOf<{ step: number }>();
    return '';
  },
  tell: async (groups, { memory, propose }) => ({
    step: memory.step + groups.length + ((await propose([])) ?? '').length,
  }),
});
const proposer = defineProposer({ name: 'proposer', propose: (messages) => String(messages.length) });

test('each is a definition, tagged with its kind', () => {
  expectTypeOf(method).toEqualTypeOf<CreditMethod>();
  expectTypeOf(shaping).toEqualTypeOf<RewardShaping>();
  expectTypeOf(objective).toEqualTypeOf<ObjectiveMethod<typeof options>>();
  expectTypeOf(context).toEqualTypeOf<ContextStrategy>();
  expectTypeOf(tasks).toEqualTypeOf<DefinedTasks>();
  expectTypeOf(turns).toEqualTypeOf<DefinedTurns>();
  expectTypeOf(curation).toEqualTypeOf<DefinedCuration>();
  expectTypeOf(prompts).toEqualTypeOf<DefinedPrompts>();
  expectTypeOf(proposer).toEqualTypeOf<DefinedProposer>();
  const all: readonly Definition[] = [
    ...[method, shaping, objective, context, tasks, turns, curation],
    ...[prompts, proposer],
  ];
  expect(all.map(({ kind }) => kind)).toEqual([
    ...['credit-method', 'reward-shaping', 'objective', 'context'],
    ...['tasks', 'turns', 'curation', 'prompts', 'proposer'],
  ]);
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
    tasks: { name: tasks, factor: 3 },
    turns,
    curation: new Map([[curation, { factor: 3 }]]),
    prompts: { name: prompts, proposer, factor: 3 },
  };
  const named: RunSettings = { context: 'latest', credit: { method: 'grpo', shape: { ufo: {} } } };
  expect([settings.steps, named.context]).toEqual([3, 'latest']);
});

test('so do the settings of a recipe', () => {
  const recipe = defineRecipe({ name: 'own', settings: { credit: { method, factor: 3 }, context } });
  expect(recipe.settings).toEqual({
    credit: { method: 'recipe:method', factor: 3 },
    context: { name: 'recipe:context' },
  });
  expectTypeOf(recipe({ objective: { name: objective } }).settings).toEqualTypeOf<RunSettings>();
  // @ts-expect-error a loss is no credit method
  expect(() => defineRecipe({ name: 'wrong', settings: { credit: { method: objective } } })).toThrow(
    'Recipe "wrong" has no credit method under "credit.method". Seen: objective',
  );
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
  // @ts-expect-error a source of tasks gives groups with members
  defineTasks({ name: 'empty', next: () => [{ task: { split: 'train', index: 0 } }] });
  // @ts-expect-error a turn control decides, and does not answer
  defineTurns({ name: 'talking', after: () => 'stop' });
  // @ts-expect-error a choice says whether it is in the baseline
  defineCuration({ name: 'half', choose: () => ({ choice: () => ({ inLoss: true, weight: 1 }) }) });
  // @ts-expect-error memory is what start returned
  defineTasks({ name: 'other', start: () => ({ rate: 0 }), next: () => [], remember: () => 3 });
  // @ts-expect-error a source of prompts says which one is the best
  definePrompts({ name: 'unsure', ask: () => '' });
  // @ts-expect-error a proposer writes text
  defineProposer({ name: 'mute', propose: () => undefined });
  // @ts-expect-error a recipe remembers what its learn returns
  defineRecipe({ name: 'forgetful', learn: () => async () => ({ metrics: {} }) });
  // @ts-expect-error a loss is no credit method
  const wrong: RunSettings = { credit: { method: objective } };
  // @ts-expect-error nor is a method a context
  const alsoWrong: RunSettings = { context: method };
  expect([wrong.steps, alsoWrong.steps]).toEqual([undefined, undefined]);
});
