import { describe, expect, test } from 'vitest';
import type { Episode, Place } from '../../core/episode.ts';
import { placeText } from '../../core/episode-key.ts';
import { Rng } from '../../core/rng.ts';
import { madeKey, playedEpisode } from '../../core/testing/made-episodes.ts';
import {
  placeToExpand,
  rolloutMctsExplorer,
  type SearchNode,
  searchTree,
  upperBounds,
} from './mcts-rollouts.ts';
import type { EpisodeTree, Expansion } from './tree.ts';

const key = (member: number) => madeKey({ member });
const place = (member: number, transition: number): Place => ({ episode: key(member), transition });

/** An episode that did these things and earned something at its end; a branch says after which transition of which member. */
function did(
  member: number,
  actions: readonly string[],
  earned: number,
  from?: readonly [number, number],
): Episode {
  return playedEpisode(
    member,
    actions.map((action, turn) => ({
      transition: { action, rewards: { agent: turn === actions.length - 1 ? earned : 0 } },
    })),
    {
      key: key(member),
      outcome: { agent: earned },
      ...(from && { branchedFrom: { ...place(...from), calls: from[1] + 1 } }),
    },
  );
}

const treeOf = (
  episodes: readonly Episode[],
  kept: readonly Place[],
  value: (place: Place) => number | undefined = () => undefined,
): EpisodeTree => ({ members: 9, episodes, kept, rounds: [[]], value });

const node = (more: Partial<SearchNode>): SearchNode => ({
  ...{ place: undefined, children: [], tried: 0, visits: 0, searched: 0, expected: undefined },
  ...more,
});

describe('the worked numbers of Agent Q', () => {
  const searched = [0.8, 0.2, 0.5];
  const visits = [4, 2, 1];
  // Ranks 1, 2 and 3: Q̂ is 1, .5 and 1/3.
  const children = searched.map((own, index) =>
    node({ searched: own, visits: visits[index]!, expected: -index }),
  );

  test('values are mixed with ranks, and rare actions have a bonus', () => {
    const still = upperBounds({ children, visits: 7 }, { exploration: 0, mixing: 0.5 });
    for (const [index, q] of [0.9, 0.35, 0.4167].entries()) expect(still[index]).toBeCloseTo(q, 4);
    const bounds = upperBounds({ children, visits: 7 }, { exploration: 1, mixing: 0.5 });
    for (const [index, bound] of [1.5238, 1.1554, 1.4031].entries())
      expect(bounds[index]).toBeCloseTo(bound, 4);
  });

  test('without a critic the value is that of the search; at the first visit there is no bonus', () => {
    const unranked = children.map((child) => ({ ...child, expected: undefined }));
    expect(upperBounds({ children: unranked, visits: 1 }, { exploration: 1, mixing: 0.5 })).toEqual(searched);
  });

  test('the mean of outcomes runs: .8 over four and one 0 are .64', () => {
    const four = [1, 1, 1, 0.2].map((earned, member) => did(member, ['a'], earned));
    expect(searchTree(treeOf(four, []), 'agent').searched).toBeCloseTo(0.8, 12);
    expect(searchTree(treeOf([...four, did(4, ['a'], 0)], []), 'agent').children[0]!.searched).toBeCloseTo(
      0.64,
      12,
    );
  });
});

describe('the tree', () => {
  // 0: a b → 1;   1: a c → 0;   2: b → 0;   3 goes on after the first turn of 0 with d → 1.
  const episodes = [did(0, ['a', 'b'], 1), did(1, ['a', 'c'], 0), did(2, ['b'], 0), did(3, ['d'], 1, [0, 0])];
  const tree = treeOf(episodes, [place(0, 0), place(1, 0)]);

  test('merges equal actions, counts every episode on its whole path, and tries where something was sampled', () => {
    const root = searchTree(tree, 'agent');
    expect([root.visits, root.tried, root.searched]).toEqual([4, 3, 0.5]);
    const [a, b] = root.children;
    expect([a!.visits, a!.tried, a!.searched]).toEqual([3, 3, 2 / 3]);
    expect([b!.visits, b!.searched, b!.place]).toEqual([1, 0, undefined]);
    expect(a!.children.map(({ visits, searched }) => [visits, searched])).toEqual([
      [1, 1],
      [1, 0],
      [1, 1],
    ]);
    expect(placeText(a!.place as Place)).toBe(placeText(place(0, 0)));
  });

  test('an episode that failed is no simulation', () => {
    const failed = { ...did(4, ['z'], 0), stop: 'failed:environment' } as const;
    expect(searchTree(treeOf([...episodes, failed], tree.kept), 'agent').visits).toBe(4);
  });

  test('what a critic expects is added to what was earned before', () => {
    const kept = new Set(tree.kept.map(placeText));
    const critic = (at: Place) => (kept.has(placeText(at)) ? 0.25 : undefined);
    const [a, b] = searchTree(treeOf(episodes, tree.kept, critic), 'agent').children;
    // An end has nothing to expect beyond what it earned.
    expect([a!.expected, b!.expected]).toEqual([0.25, 0]);
  });
});

describe('the place to expand', () => {
  const options = { width: 2, exploration: 0, mixing: 1 };
  const leaf = (member: number, searched: number, more: Partial<SearchNode> = {}) =>
    node({ place: place(member, 0), visits: 1, searched, ...more });

  test('is the first node on the way that has tried too little', () => {
    const children = [leaf(0, 0.2), leaf(1, 0.9)];
    const root = node({ place: 'start', tried: 1, visits: 2, children });
    expect(placeToExpand(root, options)).toBe('start');
    expect(placeToExpand({ ...root, tried: 2 }, options)).toEqual(place(1, 0));
  });

  test('is the next best where the best is an end or was tried out, and nothing where all was', () => {
    const ends = node({ visits: 1, searched: 1 });
    const out = leaf(1, 0.9, { tried: 2, children: [ends] });
    const root = node({ place: 'start', tried: 2, visits: 2, children: [ends, out, leaf(2, 0.1)] });
    expect(placeToExpand(root, options)).toEqual(place(2, 0));
    expect(placeToExpand({ ...root, children: [ends, out] }, options)).toBeUndefined();
  });
});

test('begins with its width, adds one episode a round, and ends with the group', () => {
  const explorer = rolloutMctsExplorer({ width: 3, exploration: 1, mixing: 0.5 });
  const ask = (tree: Partial<EpisodeTree>) =>
    explorer.next({ ...treeOf([], []), rounds: [], ...tree }, Rng.of('x')) as readonly Expansion[] | 'done';
  expect(ask({})).toEqual([{ from: 'start', members: 3 }]);
  expect(ask({ members: 2 })).toEqual([{ from: 'start', members: 2 }]);
  const first = ['a', 'b', 'c'].map((action, member) => did(member, [action, 'x'], action === 'b' ? 1 : 0));
  const kept = [0, 1, 2].map((member) => place(member, 0));
  expect(ask({ episodes: first, kept, rounds: [[]] })).toEqual([
    { from: place(1, 0), members: 1, chance: 'fresh' },
  ]);
  expect(ask({ episodes: first, kept, rounds: [[]], members: 3 })).toBe('done');
  // Nothing but ends: there is nowhere to search.
  expect(ask({ episodes: first, kept: [], rounds: [[]], members: 5 })).toEqual([
    { from: 'start', members: 2 },
  ]);
});
