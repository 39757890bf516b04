import { expect, test } from 'vitest';
import { madeGroup, playedEpisode } from '../../core/testing/made-episodes.ts';
import { shownEpisode } from './episode.ts';
import type { StoredGroup } from './step-episodes.ts';

test('entropies that credit stored stand at the calls whose tokens they are of', () => {
  const played = playedEpisode(0, [
    { written: 2 },
    { written: 1, call: { trainable: 'scripted' } },
    { written: 3 },
  ]);
  const credit = { inBaseline: true, inLoss: true, weight: 1, trainedIn: 1, advantages_K: [1, 1, 1] };
  const shown = (entropies?: readonly number[]) =>
    shownEpisode({
      read: {
        stored: { shard: { kind: 'step', step: 1 }, label: 'training' } as unknown as StoredGroup,
        group: madeGroup({ ...played, credit: { agent: { ...credit, ...(entropies && { entropies }) } } }),
      },
      member: 0,
      pieces: undefined,
      header: undefined,
    }).calls.map((call) => call.entropies);
  expect(shown([0.1, 0.2, 0.3, 0.4, 0.5])).toEqual([[0.1, 0.2], undefined, [0.3, 0.4, 0.5]]);
  expect(shown()).toEqual([undefined, undefined, undefined]);
});
