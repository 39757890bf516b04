import { expect, test } from 'vitest';
import { findCreditMethod } from '../../src/credit/methods.ts';
import { parseRollouts } from '../../src/credit/report/node/read-rollouts.ts';
import { randomClusters } from './gigpo/random-clusters.ts';

/** Two groups of two trajectories of three turns, one of which succeeds; `anchors` of the second group. */
const trajectories = (anchors: readonly string[]) =>
  parseRollouts(
    JSON.stringify(
      ['one', 'other'].flatMap((groupId) =>
        [0, 1].map((id) => ({
          ...{ groupId, id: String(id), outcome: id },
          turns: ['a', 'b', 'c'].map((usual, k) => ({
            reward: k === 2 ? id : 0,
            anchor: groupId === 'one' ? 'alike' : (anchors[k] ?? usual),
          })),
        })),
      ),
    ),
    'made here',
  );
const advantagesOf = (method: typeof randomClusters, step: number, anchors: readonly string[]) =>
  method
    .create()
    .credit(trajectories(anchors), { steps: step })
    .credits.map((credit) => ('turnAdvantages_K' in credit ? credit.turnAdvantages_K : []));

test('turns are dealt anew within their group, at every step in another way', () => {
  const gigpo = advantagesOf(findCreditMethod('gigpo'), 0, []);
  const [first, second] = [advantagesOf(randomClusters, 0, []), advantagesOf(randomClusters, 1, [])];
  // Where all turns of a group are in one state, there is nothing to deal.
  for (const dealt of [first, second]) expect(dealt.slice(0, 2)).toEqual(gigpo.slice(0, 2));
  expect(first.slice(2)).not.toEqual(gigpo.slice(2));
  expect(second.slice(2)).not.toEqual(first.slice(2));
  expect(advantagesOf(randomClusters, 0, [])).toEqual(first);
});
