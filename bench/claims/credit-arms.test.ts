import { expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playedEpisode } from '../../src/core/testing/made-episodes.ts';
import { findCreditMethod } from '../../src/credit/methods.ts';
import { parseRollouts } from '../../src/credit/report/node/read-rollouts.ts';
import { noisyVerdicts } from './covariance/noisy-verdicts.ts';
import { letters } from './e-grpo/letters.ts';
import { lastTwo } from './hgpo/last-two.ts';
import { matchesSummed } from './matchtir/matches-summed.ts';
import { garbled } from './simpletir/garbled.ts';
import { randomEpisodes } from './simpletir/random-episodes.ts';
import { equalShares } from './spa-rl/equal-shares.ts';

const parsed = (...lines: readonly object[]) =>
  parseRollouts(lines.map((line) => JSON.stringify({ groupId: 'g', ...line })).join('\n'), 'made here');

const advantages = (
  method: { create(): ReturnType<ReturnType<typeof findCreditMethod>['create']> },
  trajectories: ReturnType<typeof parsed>,
) =>
  method
    .create()
    .credit(trajectories, {})
    .credits.map((credit) => credit.turnAdvantages_K!.map((one) => Number(one.toFixed(6))));

test('letters are paid beside success, as a share of the best of the group or as they are', () => {
  const played = parsed(
    { id: 'a', outcome: -6, success: false, entityShare: 0.25, turns: [{ reward: -6 }] },
    { id: 'b', outcome: -1, success: true, entityShare: 0.5, turns: [{ reward: -1 }] },
  );
  const outcomes = (options: object) =>
    letters
      .create(options)
      .shape(played, {})
      .trajectories.map(({ outcome }) => outcome);
  expect(outcomes({})).toEqual([0.15, 1.3]);
  expect(outcomes({ normalised: false })).toEqual([0.075, 1.15]);
  expect(outcomes({ alpha: 0 })).toEqual([0, 1]);
});

test('equal shares: every turn of an episode adds as much', () => {
  const played = parsed(
    { id: 'a', outcome: 2, turns: [{ reward: 0 }, { reward: 2 }] },
    { id: 'b', outcome: 0, turns: [{ reward: 0 }, { reward: 0 }] },
  );
  // Returns 3, 1.5, 1 and 0.5: half a point a turn is for being accepted, one for the outcome.
  const [good, bad] = advantages(equalShares, played);
  const spread = (good![0]! - good![1]!) / 1.5;
  expect(good![1]! - bad![0]!).toBeCloseTo(0.5 * spread, 5);
  expect(bad![0]! - bad![1]!).toBeCloseTo(0.5 * spread, 5);
});

test('matches are summed over the episode, and all of its turns have one advantage', () => {
  const call = (name: string) => [{ name, arguments: {} }];
  const goldenCalls = [...call('sort'), ...call('sum')];
  const episode = (id: string, calls: readonly string[], last: number) => ({
    ...{ id, goldenCalls, outcome: last },
    turns: [...calls.map((name) => ({ reward: 0, calls: call(name) })), { reward: last }],
  });
  const [all, one, none] = advantages(
    matchesSummed,
    parsed(
      episode('a', ['sort', 'sum'], 1),
      episode('b', ['sort', 'max'], 0),
      episode('c', ['max', 'min'], 0),
    ),
  );
  for (const own of [all!, one!, none!]) expect(new Set(own).size).toBe(1);
  const { credits } = findCreditMethod('matchtir')
    .create({})
    .credit(parsed(episode('a', ['sort', 'sum'], 1)), {});
  expect(credits[0]!.shaped!.outcome).toBe(3);
  // Three, one and nothing: the standard scores of these.
  expect(all![0]! - one![0]!).toBeCloseTo(2 * (one![0]! - none![0]!), 5);
});

test('the last two states: turns that came from elsewhere are not compared', () => {
  const episode = (id: string, first: string, outcome: number) => ({
    ...{ id, outcome },
    turns: [first, 'meeting'].map((anchor, k) => ({ reward: k === 1 ? outcome : 0, anchor })),
  });
  const alike = parsed(episode('a', 'left', 1), episode('b', 'left', 0));
  const apart = parsed(episode('a', 'left', 1), episode('b', 'right', 0));
  const gigpo = findCreditMethod('gigpo');
  expect(advantages(lastTwo, alike)).toEqual(advantages(gigpo, alike));
  expect(advantages(lastTwo, apart)[0]![1]).toBeLessThan(advantages(gigpo, apart)[0]![1]!);
});

test('a fifth of the verdicts err, others at every step', () => {
  const played = parsed(
    ...Array.from({ length: 1000 }, (_, id) => ({
      ...{ id: String(id), outcome: 5, success: id % 2 === 0 },
      turns: [{ reward: 5 }],
    })),
  );
  const wrong = (state: object) =>
    noisyVerdicts
      .create({})
      .shape(played, state as Record<string, never>)
      .trajectories.map(({ outcome, success }) => outcome !== Number(success));
  const [first, second] = [wrong({}), wrong({ steps: 1 })];
  for (const errors of [first, second]) {
    expect(errors.filter(Boolean).length).toBeGreaterThan(150);
    expect(errors.filter(Boolean).length).toBeLessThan(250);
  }
  expect(second).not.toEqual(first);
});

test('garbled guesses count as void, and as many episodes are left out at random', () => {
  const task = garbled.tasks('train').at(0);
  const { state } = garbled.start(task, Rng.of('start'));
  const rng = Rng.of('garbled');
  const steps = Array.from({ length: 400 }, (_, index) => garbled.step(state, 'plant', rng.at(index)));
  const invalid = steps.filter(({ valid }) => !valid).length;
  expect(invalid).toBeGreaterThan(20);
  expect(invalid).toBeLessThan(65);

  const members = Array.from({ length: 40 }, (_, index) => {
    const episode = playedEpisode(index, [{}, {}]);
    const transitions = episode.transitions.map((one) => ({ ...one, valid: index % 4 > 0 }));
    return { ...episode, transitions };
  });
  const { choice } = randomEpisodes.create({}).choose([{ step: 0, group: 0, members }], {
    ...{ step: 1, memory: null, rng: Rng.of('dropped'), round: 0, batch: 1, isIn: () => true },
  });
  expect(members.filter((episode) => !choice!(episode, 'agent').inLoss)).toHaveLength(10);
});
