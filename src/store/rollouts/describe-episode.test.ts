import { expect, test } from 'vitest';
import { playedEpisode } from '../../core/testing/made-episodes.ts';
import { describeGroup } from './describe-episode.ts';

test('the surprise of an episode is a mean over the tokens that were chosen', () => {
  const choices = [Int32Array.of(5, 2), Int32Array.of(7, 2)];
  const episode = playedEpisode(0, [
    { written: [7, 2], call: { logprobs: [-2, 0], choices } },
    { written: [8, 9], call: { logprobs: [-1, -3] } },
  ]);
  const unknown = playedEpisode(1, [{ written: [], call: { logprobs: [] } }]);
  const described = describeGroup([{ episode }, { episode: unknown }], 1, { offset: 0, length: 1 });
  // (2 + 0 + 1 + 3) / (1 + 2).
  expect(described.map(({ surprise, tokens }) => [surprise, tokens])).toEqual([
    [2, 4],
    [Number.NaN, 0],
  ]);
});
