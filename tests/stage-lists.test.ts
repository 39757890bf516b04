/** Published schedules are lists of stages: expert iteration, UI-TARS-2's value pretraining, the stages of Mobile-R1 and PilotRL. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { defineShaping } from '../src/exports/credit.ts';
import { defineEnvironment, type RunSettings, user, z } from '../src/exports/index.ts';
import { train } from '../src/exports/train.ts';
import { readEvents } from '../src/store/log-lines.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-stage-lists-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

const small = {
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 32, steps: 6, batch: 8 },
  rollout: { tasks: 3, group: 4, maxTurns: 6 },
  evaluation: { every: 0, finalTasks: 4 },
} satisfies RunSettings;

async function played(name: string, options: Parameters<typeof train>[0]) {
  await train({ ...options, name, runs });
  const events = readEvents(join(runs, name, 'events.jsonl'));
  return {
    steps: events.flatMap((event) => (event.type === 'step' ? [event.metrics] : [])),
    begun: events.flatMap((event) => (event.type === 'stage' ? [[event.step, event.stage]] : [])),
    warned: events.flatMap((event) => (event.type === 'warning' ? [event.message] : [])),
    changed: events.flatMap((event) => (event.type === 'stage' ? [event.set] : [])),
  };
}

test('expert iteration: collect, improve until nothing more is gained, and again', {
  timeout: 90_000,
}, async () => {
  const collect = { until: { steps: 2 }, set: { 'replay.updates': 0 } };
  const improve = {
    until: { metric: 'reward/mean', plateau: 1, gain: 1, steps: 3 },
    set: { 'replay.updates': 3 },
  };
  const { steps, begun } = await played('expert-iteration', {
    world: 'frozen-lake',
    recipe: 'filtered-bc',
    settings: { ...small, data: '', steps: 8, stages: [collect, improve, collect, improve] },
  });
  // The return of frozen-lake is at most 1: the second measurement never gains 1 on the first.
  expect(begun).toEqual([
    [1, 1],
    [3, 2],
    [5, 3],
    [7, 4],
  ]);
  const learned = steps.map((metrics) => (metrics['tokens/trained'] ?? 0) > 0);
  expect(learned).toEqual([false, false, true, true, false, false, true, true]);
  expect(steps.map((metrics) => metrics['replay/episodes'])).toEqual([12, 24, 36, 48, 60, 72, 84, 96]);
});

test('UI-TARS-2: the critic alone learns until it explains the returns', { timeout: 90_000 }, async () => {
  const { steps, begun } = await played('value-pretraining', {
    world: 'frozen-lake',
    recipe: 'ppo',
    settings: {
      ...small,
      steps: 5,
      objective: { valueWarmup: 0 },
      stages: [
        {
          until: { metric: 'value/explained_variance', least: 0.9, steps: 3 },
          set: { 'objective.valueWarmup': 1_000_000, 'optimizer.learningRate': 2e-3 },
        },
      ],
    },
  });
  expect(begun).toEqual([
    [1, 1],
    [4, 2],
  ]);
  const policyLearns = steps.map((metrics) => 'policy/clip_fraction' in metrics);
  expect(policyLearns).toEqual([false, false, false, true, true]);
  expect(steps.every((metrics) => 'value/loss' in metrics)).toBe(true);
});

test('Mobile-R1: format by imitation, single actions, whole tasks', { timeout: 90_000 }, async () => {
  const { steps, begun, changed } = await played('mobile-r1', {
    world: 'frozen-lake',
    recipe: 'grpo',
    settings: {
      ...small,
      steps: 5,
      // 1. Format: imitation until turns are well formed.
      clone: { ...small.clone, steps: 30, untilValid: 0.5 },
      stages: [
        // 2. Single actions, paid for by themselves and for their form.
        {
          until: { metric: 'turns/invalid_share', most: 0, steps: 3 },
          set: {
            'rollout.maxTurns': 1,
            'credit.shape': { dense: {}, 'invalid-action-penalty': {} },
          },
        },
        // 3. Whole tasks, paid for at the end and for their form.
        { set: { 'credit.shape': { 'invalid-action-penalty': {} } } },
      ],
    },
  });
  const end = begun[1]![0]! - 1;
  expect(begun[0]).toEqual([1, 1]);
  expect(steps.map((metrics) => metrics['turns/mean'] === 1)).toEqual(steps.map((_, step) => step < end));
  expect(Object.keys(changed[0]!).some((path) => path.startsWith('credit.shape.dense'))).toBe(true);
  expect(Object.keys(changed[1]!).some((path) => path.startsWith('credit.shape.dense'))).toBe(false);
});

/** A plan in the first turn, which names the two words that follow; only the words `up` and `down`, in this order, are worth something. */
const planned = defineEnvironment<number, { plan: string; done: string[] }>({
  name: 'planned',
  description: 'a plan and two actions',
  maxTurns: 3,
  facts: ['dense'],
  tasks: () => ({ size: 4, at: (index) => index }),
  start: () => ({ state: { plan: '', done: [] }, messages: [user('plan')] }),
  step: ({ plan, done }, action) => {
    if (plan === '') {
      const quality = action === 'up-down' ? 1 : 0;
      return {
        state: { plan: action || 'none', done },
        observation: 'act',
        reward: 0,
        done: false,
        valid: true,
        metrics: { quality },
        info: { credit: { dense: quality } },
      };
    }
    const next = [...done, action];
    const adherence = action === plan.split('-')[done.length] ? 1 : 0;
    const success = next.join('-') === 'up-down';
    return {
      state: { plan, done: next },
      observation: 'act',
      reward: success ? 1 : 0,
      done: next.length === 2,
      success,
      valid: true,
      metrics: { adherence },
      info: { credit: { dense: adherence } },
    };
  },
  actions: ({ plan }) => (plan === '' ? ['up-down', 'down-up'] : ['up', 'down']),
  solve: ({ plan, done }) => (plan === '' ? 'up-down' : ['up', 'down'][done.length]!),
});

/** PilotRL's rewards: how good the plan is (the first turn), how far actions keep to it (the others), and the outcome. */
const adaPlan = defineShaping(
  { name: 'adaplan', summary: 'plan, adherence and outcome, weighed', needs: ['turns[].dense'] },
  z.strictObject({
    adherence: z.number().default(0).describe('Weight of keeping to the plan'),
    quality: z.number().default(0).describe('Weight of the plan itself'),
    outcome: z.number().default(1).describe('Weight of the outcome'),
  }),
  ({ adherence, quality, outcome }) =>
    (trajectories, state) => ({
      state,
      trajectories: trajectories.map((trajectory) => {
        const turns = trajectory.turns.map((turn, k) => ({
          ...turn,
          reward: outcome * turn.reward + (k === 0 ? quality : adherence) * (turn.dense?.[0] ?? 0),
        }));
        return { ...trajectory, turns, outcome: turns.reduce((sum, { reward }) => sum + reward, 0) };
      }),
    }),
);

test('PilotRL: the executor keeps to plans, then plans get better, then both earn the outcome', {
  timeout: 90_000,
}, async () => {
  const weights = (own: object) => ({ 'credit.shape': { 'code:adaplan': own } });
  const { steps, begun, changed } = await played('pilot-rl', {
    world: planned,
    recipe: 'grpo',
    settings: {
      ...small,
      steps: 6,
      credit: { shape: new Map([[adaPlan, {}]]) },
      stages: [
        {
          until: { metric: 'env/adherence', least: 0.95, over: 2, steps: 2 },
          set: weights({ adherence: 1, outcome: 0 }),
        },
        { until: { metric: 'env/quality', least: 0.95, steps: 2 }, set: weights({ quality: 1, outcome: 0 }) },
      ],
    },
  });
  expect(begun.map(([, stage]) => stage)).toEqual([1, 2, 3]);
  expect(begun[1]![0]).toBe(3);
  expect(changed.map((set) => Object.keys(set).map((path) => path.split('.').at(-1)))).toEqual([
    ['adherence', 'outcome'],
    ['quality', 'outcome'],
    [],
  ]);
  expect(steps.every((metrics) => 'env/adherence' in metrics && 'env/quality' in metrics)).toBe(true);
});
