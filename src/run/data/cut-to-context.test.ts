import { expect, test } from 'vitest';
import { madeCall, madeEpisode, madeTransition } from '../../core/testing/made-episodes.ts';
import { cutToContext } from './cut-to-context.ts';

/** Three turns in one conversation: each reads a token and writes four, so that it has 5, 10 and 15 tokens. */
const calls = [
  madeCall(0, 4),
  madeCall(1, 4, { parent: 0 }),
  madeCall(2, 4, { parent: 1 }),
  madeCall(3, 4, { conversation: 'other' }),
];
const transitions = [
  madeTransition(0, 1),
  madeTransition(1, 2),
  madeTransition(2, 4),
  madeTransition(3, 8),
] as const;
const episode = madeEpisode(0, calls.slice(0, 3), transitions.slice(0, 3), { stop: 'done' });

test('an episode that fits is the same one', () => {
  expect(cutToContext(episode, 15)).toBe(episode);
});

test('a longer one ends at the last turn that fits, which has the rewards of those that are gone', () => {
  const cut = cutToContext(episode, 14)!;
  expect(cut.calls.map(({ id }) => id)).toEqual([0, 1]);
  expect(cut.transitions.map(({ call, rewards }) => [call, rewards.agent])).toEqual([
    [0, 1],
    [1, 6],
  ]);
  expect(cut.outcome).toEqual(episode.outcome);
  expect(cut.stop).toBe('early-stop');
});

test('what went on from an answer that is gone is gone, and other conversations stay', () => {
  const both = madeEpisode(0, calls, transitions);
  const cut = cutToContext(both, 9)!;
  expect(cut.calls.map(({ id }) => id)).toEqual([0, 3]);
  expect(cut.transitions.map(({ call, rewards }) => [call, rewards.agent])).toEqual([
    [0, 1],
    [3, 14],
  ]);
});

test('an answer that kept the beginning of another is as long as that', () => {
  const short = [calls[0]!, madeCall(1, 4, { parent: 0, kept: 2 })];
  const rewritten = madeEpisode(0, short, transitions.slice(0, 2));
  expect(cutToContext(rewritten, 7)).toBe(rewritten);
  expect(cutToContext(rewritten, 6)!.calls.map(({ id }) => id)).toEqual([0]);
});

test('where not even the first learned answer fits nothing is left', () => {
  expect(cutToContext(episode, 4)).toBeUndefined();
  const shown = [madeCall(0, 4, { trainable: 'left-out' }), calls[1]!];
  expect(cutToContext(madeEpisode(0, shown, transitions.slice(0, 2)), 9)).toBeUndefined();
});
