// A test of an environment, under node:test. Run it with: node --test testing.mjs
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineEnvironment } from 'turnwise';
import { environmentLaws, mockPolicy, playEpisode } from 'turnwise/testing';

const stairs = defineEnvironment({
  name: 'stairs',
  description: 'Climb to the top.',
  maxTurns: 6,
  tasks: () => ({ size: 3, at: (index) => index + 1 }),
  start: (left) => ({ state: { left }, messages: [{ role: 'user', content: `left ${left}` }] }),
  step: ({ left }, action) => {
    const valid = action === 'up';
    const state = { left: left - (valid ? 1 : 0) };
    const done = state.left === 0;
    return { state, observation: `left ${state.left}`, reward: done ? 1 : 0, done, success: done, valid };
  },
  actions: () => ['up'],
  solve: () => 'up',
});

test('stairs keeps the laws', () => environmentLaws(stairs));

test('a wrong word costs a turn', async () => {
  const policy = mockPolicy(['up', 'jump', 'up']);
  const { success, transitions } = await playEpisode(stairs, policy, { task: 2 });
  assert.equal(success.agent, true);
  assert.deepEqual(
    transitions.map(({ valid }) => valid),
    [true, false, true],
  );
  assert.equal(policy.asked[2].messages.at(-1).content, 'left 1');
});

test('the expert climbs every stair', async () => {
  for (const index of [0, 1, 2]) {
    assert.equal((await playEpisode(stairs, 'expert', { index })).success.agent, true);
  }
});
