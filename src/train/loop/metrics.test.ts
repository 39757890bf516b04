import { expect, test } from 'vitest';
import { madeGroup, playedEpisode } from '../../core/testing/made-episodes.ts';
import { rolloutMetrics } from './metrics.ts';

const choices = [Int32Array.of(5, 2), Int32Array.of(7, 2)];

test('entropy is a mean over chosen tokens; all that were sampled are counted as such', () => {
  const free = { written: [8, 9], call: { logprobs: [-1, -3] } };
  const restricted = { written: [7, 2], call: { logprobs: [-2, 0], choices } };
  const forced = { written: [7, 2], call: { logprobs: [0, 0], choices: [Int32Array.of(7, 2)] } };
  const metricsOf = (...turns: Parameters<typeof playedEpisode>[1]) =>
    rolloutMetrics([madeGroup(playedEpisode(0, turns))]);
  // (1 + 3 + 2 + 0) / (2 + 1 + 0).
  expect(metricsOf(free, restricted, forced)).toMatchObject({ 'policy/entropy': 2, 'tokens/sampled': 6 });
  expect(metricsOf(forced)).toMatchObject({ 'policy/entropy': 0, 'tokens/sampled': 2 });
  const scripted = metricsOf({ ...free, call: { ...free.call, trainable: 'scripted' } });
  expect([scripted['tokens/sampled'], scripted['policy/entropy']]).toEqual([0, undefined]);
});

test('tokens of an episode that failed were spent, and earn and say nothing', () => {
  const turns = [{ written: [8, 9], call: { logprobs: [-1, -3] } }];
  const done = rolloutMetrics([madeGroup(playedEpisode(0, turns))]);
  const failed = rolloutMetrics([madeGroup(playedEpisode(0, turns, { stop: 'timeout' }))]);
  for (const name of ['episodes/total', 'turns/total', 'tokens/sampled', 'tokens/forward'])
    expect([name, failed[name]]).toEqual([name, done[name]]);
  expect([failed['reward/mean'], failed['policy/entropy']]).toEqual([undefined, undefined]);
});

test('means over nothing are left out, and counts of nothing are 0', () => {
  expect(rolloutMetrics([])).toEqual({
    'episodes/total': 0,
    'turns/total': 0,
    'tokens/sampled': 0,
    'tokens/forward': 0,
  });
});

test('calls that began a path of their own are counted by their reason', () => {
  const { 'newPath/window': windows, 'newPath/rewritten': rewritten } = rolloutMetrics([
    madeGroup(
      playedEpisode(0, [{}, { anew: true }, { anew: true }, { call: { newPath: 'rewritten' } }]),
      playedEpisode(1, [{}, {}]),
    ),
  ]);
  expect([windows, rewritten]).toEqual([2, 1]);
  const plain = rolloutMetrics([madeGroup(playedEpisode(0, [{}, {}]))]);
  expect(Object.keys(plain).filter((name) => name.startsWith('newPath/'))).toEqual([]);
});
