import { expect, test } from 'vitest';
import { guessNumber } from '../../../envs/guess-number/index.ts';
import { environmentMetrics } from '../../rollout/environment-metrics.ts';
import { healthy } from '../../testing/check/planted/healthy.test-helper.ts';
import { environmentLaws } from '../../testing/environment-laws.ts';
import { mockPolicy } from '../../testing/mock-policy.ts';
import { playEpisode } from '../../testing/play-episode.ts';
import type { Environment } from '../environment.ts';
import { chained } from './chained.ts';
import { echo } from './echo.test-helper.ts';
import { faults } from './faults.ts';
import { patched } from './patched.ts';
import { reminders } from './reminders.ts';
import { unaryFeedback } from './unary-feedback.ts';

test.each([
  ['unary feedback', () => environmentLaws(unaryFeedback(healthy), { episodes: 30 })],
  ['reminders', () => environmentLaws(reminders(healthy, { every: 2 }), { episodes: 30 })],
  ['faults', () => environmentLaws(faults(healthy, { faults: 0.3, noise: 0.2 }), { episodes: 30 })],
  ['chained', () => environmentLaws(chained(healthy), { episodes: 30 })],
  ['patched', () => environmentLaws(patched(healthy), { episodes: 30 })],
  ['one turn, with feedback', () => environmentLaws(unaryFeedback(echo), { episodes: 30 })],
  ['one in another', () => environmentLaws(chained(faults(echo), { objectives: 3 }), { episodes: 30 })],
] as const)('%s keeps the laws', (_, laws) => laws());

/** Four steps, each of its own words. */
const walk: Environment<null, number> = {
  name: 'walk',
  description: '',
  maxTurns: 9,
  tasks: () => ({ size: 1, at: () => null }),
  start: () => ({ state: 0, messages: [{ role: 'user', content: 'at 0' }] }),
  step: (at, action) => ({
    state: action === '?' ? at : at + 1,
    observation: `at ${at + 1}`,
    ...{ reward: 0, done: action !== '?' && at === 3, success: at === 3, valid: action !== '?' },
  }),
  solve: (at) => `go ${at}`,
};

test('patched: the expert’s act is done instead, and pays by how like it was; one patch too many ends it', async () => {
  const play = async (acts: readonly string[], patches: number) => {
    const policy = mockPolicy(acts);
    const episode = await playEpisode(patched(walk, { patches }), policy, { task: null });
    const seen = policy.asked.slice(1).map(({ messages }) => messages.at(-1)!.content);
    return { episode, seen, rewards: episode.transitions.map(({ rewards }) => rewards.agent) };
  };
  const one = await play(['go 0', 'stay', 'go 9', 'go 3'], 2);
  expect(one.rewards.map((reward) => Math.round(reward! * 100) / 100)).toEqual([1, 0.19, 0.55, 1]);
  expect(one.seen).toEqual(['at 1', 'go 1 at 2', 'go 2 at 3']);
  expect(one.episode).toMatchObject({ success: { agent: false }, stop: 'done' });
  // An act that cannot be read uses up a patch, and the agent acts there again.
  const unread = await play(['?', 'go 0', 'stay'], 1);
  expect(unread.rewards.map((reward) => Math.round(reward! * 100) / 100)).toEqual([0, 1, 0.19]);
  expect(unread.episode).toMatchObject({ success: { agent: false }, stop: 'done' });
  const whole = await play(['go 0', 'go 1', 'go 2', 'go 3'], 0);
  expect(whole.episode.success.agent).toBe(true);
  expect(() => patched({ ...walk, solve: undefined as never })).toThrow('has no expert');
});

test.each<[string, number, number, boolean, Partial<typeof walk>?]>([
  ['go 0,go 1,go 2,go 3', 0, 1, true],
  ['go 0,go 1,stay', 0, 0.5, false],
  ['go 0,go 1,?', 0, 0.5, false],
  ['?,?,?,?,?,?', 0, 0, false],
  ['?,go 0,go 1,go 2,go 3', 0, 0, false],
  ['?,go 0,go 1,go 2,go 3', 2, 0, false],
  ['go 0,stay,go 9,go 3', 2, 0.25, false],
  ['go 0,go 1,go 2', 0, 1, false, { maxTurns: 3 }],
  ['go 0,stay,go 2', 1, 1 / 3, false, { maxTurns: 3 }],
])(
  'patched: each episode tells its progress once (%s with %i patches: %d)',
  async (acts, patches, progress, success, other) => {
    const world = patched({ ...walk, ...other }, { patches });
    const episode = await playEpisode(world, mockPolicy(acts.split(',')), { task: null });
    const told = episode.transitions.flatMap(({ metrics }) => metrics?.progress ?? []);
    expect([told, episode.success.agent]).toEqual([[progress], success]);
    expect(environmentMetrics([episode])['env/progress']).toBe(progress);
  },
);

test('patched: after a patch all members stand at the expert’s state, and read what its step said, in either wording', async () => {
  const steps: Environment<null, number> = {
    name: 'steps',
    description: '',
    maxTurns: 9,
    tasks: () => ({ size: 1, at: () => null }),
    start: () => ({ state: 0, messages: [{ role: 'user', content: 'at 0' }] }),
    step: (at, action) =>
      action === '?'
        ? { state: at, observation: 'what', reward: 0, done: false, valid: false }
        : {
            state: at + 1,
            observation: `at ${at + 1}`,
            reward: 0,
            done: at === 3,
            success: at === 3,
            valid: true,
          },
    solve: (at) => `go ${at}`,
    anchor: String,
    natural: {
      instructions: 'Go.',
      example: [['You are at 7.', 'go 7']],
      observe: (at, step) =>
        step?.observation === 'what' ? 'What?' : `You are ${step?.observation ?? `at ${at}`}.`,
    },
  };
  const play = async (acts: readonly string[], wording: 'compact' | 'natural') => {
    const policy = mockPolicy(acts);
    const episode = await playEpisode(patched(steps), policy, { task: null, options: { wording } });
    return { episode, read: policy.asked.slice(1).map(({ messages }) => messages.at(-1)!.content) };
  };
  const acts = ['stay', '?', 'go 1', 'go 2', 'go 3'];
  const own = await play(acts, 'compact');
  expect(own.read).toEqual(['go 0 at 1', 'what', 'at 2', 'at 3']);
  expect((await play(acts, 'natural')).read).toEqual([
    'Done instead: go 0. You are at 1.',
    'What?',
    'You are at 2.',
    'You are at 3.',
  ]);
  const expert = await play(['go 0', 'go 1', 'go 2', 'go 3'], 'compact');
  const anchors = ({ transitions }: typeof own.episode): string[] => transitions.map(({ anchor }) => anchor);
  expect(anchors(expert.episode)).toHaveLength(4);
  expect(new Set(anchors(own.episode))).toEqual(new Set(anchors(expert.episode)));
});

test('unary feedback says that it was wrong, and pays less for later attempts', async () => {
  const policy = mockPolicy(['green', 'blue', 'red']);
  const episode = await playEpisode(unaryFeedback(echo, { attempts: 3 }), policy, { index: 0 });
  expect(episode).toMatchObject({ outcome: { agent: 0.25 }, success: { agent: true }, stop: 'done' });
  expect(policy.asked.map(({ messages }) => messages.at(-1)!.content)).toEqual([
    'say red',
    'wrong, try again',
    'wrong, try again',
  ]);
  const failed = await playEpisode(unaryFeedback(echo, { attempts: 3 }), mockPolicy(['green']), { index: 0 });
  expect(failed).toMatchObject({
    outcome: { agent: 0 },
    success: { agent: false },
    transitions: { length: 3 },
  });
  const natural = mockPolicy(['green', 'red']);
  await playEpisode(unaryFeedback(echo, { attempts: 3 }), natural, {
    index: 0,
    options: { wording: 'natural' },
  });
  expect(natural.asked.at(-1)!.messages.at(-1)!.content).toBe(
    'That is wrong. Attempt 2 of 3: The word is red.',
  );
});

test('a reminder repeats the opening every few turns', async () => {
  for (const [wording, reminder] of [
    ['compact', 'right 8 remember: right 8'],
    ['natural', 'The goal is 8 steps to the right. Remember: The goal is 8 steps to the right.'],
  ] as const) {
    const policy = mockPolicy(['left', 'right', 'right', 'right']);
    await playEpisode(reminders(healthy, { every: 2 }), policy, {
      task: 8,
      maxTurns: 4,
      options: { wording },
    });
    const read = policy.asked.map(({ messages }) => messages.at(-1)!.content);
    expect(read.map((text) => /remember/i.test(text))).toEqual([false, false, true, false]);
    expect(read[2]).toBe(reminder);
  }
});

test('a lost action changes nothing, is no mistake, and the rest goes as it would', async () => {
  const all = await playEpisode(faults(healthy, { faults: 1 }), 'expert', { task: 3 });
  expect(all).toMatchObject({ success: { agent: false }, transitions: { length: 12 } });
  expect(all.transitions.every(({ valid }) => valid)).toBe(true);
  const none = await playEpisode(faults(healthy, { faults: 0 }), 'expert', { task: 3 });
  expect(none.transitions).toHaveLength(3);
  const policy = mockPolicy(['left']);
  await playEpisode(faults(healthy, { faults: 0, noise: 1 }), policy, { task: 5, maxTurns: 2 });
  expect(policy.asked.map(({ messages }) => messages.at(-1)!.content)).toEqual(['right 5', '? ?']);
});

test('chained objectives add up, and all have to be solved', async () => {
  const guessing = chained(guessNumber({ range: 7, maxTurns: 4, shaping: 0 }), { objectives: 3 });
  const solved = await playEpisode(guessing, 'expert', { index: 2 });
  expect(solved).toMatchObject({ success: { agent: true } });
  expect((solved.task as readonly unknown[]).length).toBe(3);
  const two = await playEpisode(chained(echo), mockPolicy(['red', 'green']), { task: ['red', 'blue'] });
  expect(two).toMatchObject({ outcome: { agent: 0 }, success: { agent: false } });
  const policy = mockPolicy(['left', 'right']);
  const late = await playEpisode(chained({ ...healthy, maxTurns: 1 }), policy, { task: [1, 1] });
  expect(policy.asked.at(-1)!.messages.at(-1)!.content).toBe('right 2 next right 1');
  expect(late).toMatchObject({ outcome: { agent: 1 }, success: { agent: false }, stop: 'done' });
});
