import { expect, test } from 'vitest';
import type { Episode } from '../../core/episode.ts';
import { madeGroup, playedEpisode } from '../../core/testing/made-episodes.ts';
import { shownEpisode } from './episode.ts';
import type { StoredGroup } from './step-episodes.ts';

const credit = { inBaseline: true, inLoss: true, weight: 1, trainedIn: 1, advantages_K: [1, 1, 1] };

const callsShown = (played: Episode, entropies?: readonly number[]) =>
  shownEpisode({
    read: {
      stored: { shard: { kind: 'step', step: 1 }, label: 'training' } as unknown as StoredGroup,
      group: madeGroup({ ...played, credit: { agent: { ...credit, ...(entropies && { entropies }) } } }),
    },
    member: 0,
    pieces: undefined,
    header: undefined,
  }).calls;

test('entropies that credit stored stand at the calls whose tokens they are of', () => {
  const played = playedEpisode(0, [
    { written: 2 },
    { written: 1, call: { trainable: 'scripted' } },
    { written: 3 },
  ]);
  const shown = (entropies?: readonly number[]) =>
    callsShown(played, entropies).map((call) => call.entropies);
  expect(shown([0.1, 0.2, 0.3, 0.4, 0.5])).toEqual([[0.1, 0.2], undefined, [0.3, 0.4, 0.5]]);
  expect(shown()).toEqual([undefined, undefined, undefined]);
});

test('the entropy that a sampler told is shown a chosen token, and none where it told none', () => {
  const played = playedEpisode(0, [{ written: 2, call: { entropy: 0.5 } }, { written: 1 }]);
  expect(callsShown(played).map((call) => call.entropy)).toEqual([0.25, null]);
});
