/** What the tests of users rest on. */

import { expect, test } from 'vitest';
import { user } from '../core/messages.ts';
import { defineEnvironment, type Environment } from '../env/environment.ts';
import { environmentLaws } from './environment-laws.ts';
import { mockPolicy } from './mock-policy.ts';
import { playEpisode } from './play-episode.ts';

interface Count {
  readonly left: number;
}

const stairs: Environment<number, Count> = defineEnvironment<number, Count>({
  name: 'stairs',
  description: 'Climb to the top.',
  maxTurns: 6,
  tasks: () => ({ size: 3, at: (index) => index + 1 }),
  start: (left) => ({ state: { left }, messages: [user(`left ${left}`)] }),
  step: ({ left }, action) => {
    const valid = action === 'up';
    const state = { left: left - (valid ? 1 : 0) };
    const done = state.left === 0;
    return { state, observation: `left ${state.left}`, reward: done ? 1 : 0, done, success: done, valid };
  },
  actions: () => ['up'],
  solve: () => 'up',
  natural: {
    instructions: 'Climb to the top. Answer with the word up.',
    example: [['4 steps are left.', 'up']],
    observe: ({ left }, step) => (step?.done ? 'You are there.' : `${left} steps are left.`),
  },
});

test('an episode is played by a mock policy or a script, and recorded as runs record it', async () => {
  const policy = mockPolicy(['up', 'jump', 'up']);
  const episode = await playEpisode(stairs, policy, { task: 2 });
  expect(episode).toMatchObject({ stop: 'done', success: { agent: true }, outcome: { agent: 1 } });
  expect(episode.transitions.map(({ action, valid }) => [action, valid])).toEqual([
    ['up', true],
    ['jump', false],
    ['up', true],
  ]);
  expect(policy.asked.map(({ messages }) => messages.at(-1)!.content)).toEqual([
    'left 2',
    'left 1',
    'left 1',
  ]);
  expect((await playEpisode(stairs, 'expert', { index: 2 })).transitions).toHaveLength(3);
  expect(
    await playEpisode(
      stairs,
      mockPolicy(() => 'no'),
      { maxTurns: 2 },
    ),
  ).toMatchObject({
    success: { agent: false },
    transitions: { length: 2 },
  });
});

test('what an environment throws ends its episode and no test', async () => {
  const broken = {
    ...stairs,
    step: () => {
      throw new Error('no');
    },
  };
  expect((await playEpisode(broken, mockPolicy(['up']))).stop).toBe('failed:environment');
  await expect(playEpisode({} as never, 'expert')).rejects.toMatchObject({ code: 'config-invalid' });
});

test('an environment in sentences has the same states, and the opening shows how to answer', async () => {
  const policy = mockPolicy(['up']);
  const episode = await playEpisode(stairs, policy, { task: 2, options: { wording: 'natural' } });
  expect(episode.outcome).toEqual({ agent: 1 });
  expect(policy.asked[0]!.messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
    'system: Climb to the top. Answer with the word up.',
    'user: 4 steps are left.',
    'assistant: up',
    'user: 2 steps are left.',
  ]);
  expect(episode.closing).toEqual({ agent: [user('You are there.')] });
});

test('the laws hold, and each kind that is broken is told with its place', async () => {
  await environmentLaws(stairs);
  let clock = 0;
  const changing = { ...stairs, tasks: () => ({ size: 3, at: () => ++clock }) };
  await expect(environmentLaws(changing)).rejects.toMatchObject({
    code: 'law-broken',
    message: expect.stringContaining('the same index gave two tasks'),
  });
  const credulous = {
    ...stairs,
    step: (state: Count) => ({ ...stairs.step(state, 'up', undefined as never), done: false }),
  };
  await expect(environmentLaws(credulous)).rejects.toMatchObject({
    code: 'law-broken',
    fields: { environment: 'stairs', seed: expect.any(Number) },
  });
});
