import { expect, test } from 'vitest';
import { defineAgent } from '../../env/agent.ts';
import { fromAgent } from '../../env/from-agent.ts';
import { simulateUser } from '../../env/user/simulate-user.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import { spendEstimate } from './spend-estimate.ts';

const guest = (policy: string | (() => string)) => simulateUser({ persona: 'A guest.', policy });
const world = (policy: string | (() => string), models: Readonly<Record<string, string>> = {}) =>
  fromAgent(
    defineAgent({
      name: 'desk',
      maxCalls: 5,
      tasks: [1],
      models,
      users: { guest: guest(policy) },
      run: async () => ({ reward: 0 }),
    }),
  );
const config = {
  steps: 10,
  players: {},
  stages: [],
  context: { name: 'full', trained: true },
  turns: { name: 'usual' },
  model: { pretrained: '' },
  clone: { demonstrations: 20, steps: 5 },
  rollout: { tasks: 4, group: 2, maxTurns: 0, turnTimeoutMs: 1000 },
  evaluation: { every: 5, tasks: 3, finalTasks: 6, greedy: true },
} as unknown as TrainConfig;

test('scripts cost nothing, and nothing is said of them', () => {
  expect(
    spendEstimate(
      world(() => 'hello'),
      config,
    ),
  ).toBeUndefined();
});

test('users, judges and players elsewhere are named, with the most calls that they get', () => {
  const asking = world('openai:http://localhost/v1#a', { judge: 'openai:http://localhost/v1#b' });
  const players = { rival: 'vllm:http://localhost/v1#c', bob: 'learner' };
  // 20 demonstrations, 80 episodes of steps, 2 × (2 × 6 + 2 × 3) of evaluations, five calls each.
  expect(spendEstimate(asking, { ...config, players }, { price: { input: 1, output: 10 } })).toEqual({
    type: 'warning',
    code: 'spend-estimate',
    message:
      'This run asks models elsewhere (judge, guest, rival). At most 680 calls; about 1.36 if a call reads 1000 tokens ' +
      'and writes 100. --max-calls and --max-tokens limit it',
  });
});

test('a run that goes on asks for the rest, and a limit is a limit', () => {
  const asking = world('openai:http://localhost/v1#a');
  // A step of 8 episodes, an evaluation on the way and one at the end: 2 × (3 + 6).
  expect(spendEstimate(asking, config, {}, 9)?.message).toContain('At most 130 calls.');
  expect(spendEstimate(asking, config, { maxCalls: 7 })?.message).toContain('At most 7 calls.');
});
