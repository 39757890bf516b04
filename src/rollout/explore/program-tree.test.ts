import { expect, test } from 'vitest';
import type { Episode, Place } from '../../core/episode.ts';
import { Rng } from '../../core/rng.ts';
import { madeKey, playedEpisode } from '../../core/testing/made-episodes.ts';
import { programTreeExplorer } from './program-tree.ts';
import type { EpisodeTree, Expansion } from './tree.ts';

const place = (member: number, transition: number): Place => ({ episode: madeKey({ member }), transition });

/** An episode whose programs ran, or did not. */
const ran = (member: number, ...valid: readonly boolean[]): Episode =>
  playedEpisode(
    member,
    valid.map((own) => ({ transition: { valid: own } })),
    { key: madeKey({ member }) },
  );

const ask = (tree: Partial<EpisodeTree>, width = 3) =>
  programTreeExplorer({ width }).next(
    { ...{ members: 8, episodes: [], kept: [], rounds: [], value: () => undefined }, ...tree },
    Rng.of(1),
  ) as readonly Expansion[] | 'done';

const kept = [place(0, 0), place(0, 1), place(1, 0), place(2, 0)];
const first = {
  episodes: [ran(0, false, true, true), ran(1, true, true), ran(2, false, false)],
  kept,
  rounds: [[{ from: 'start', members: 3 }]] as EpisodeTree['rounds'],
};

test('begins with whole programs, as many as are wanted', () => {
  expect(ask({})).toEqual([{ from: 'start', members: 3 }]);
  expect(ask({ members: 2 })).toEqual([{ from: 'start', members: 2 }]);
});

test('goes on from programs that ran, then from those that failed, earlier turns first, until the group is full', () => {
  const chance = 'fresh';
  // Five are left: two each, and one for the last that there is room for.
  expect(ask(first)).toEqual([
    { from: place(1, 0), members: 2, chance },
    { from: place(0, 1), members: 2, chance },
    { from: place(0, 0), members: 1, chance },
  ]);
});

test('a place is tried so many times in all; then the rest of the group begins anew', () => {
  const tried = {
    ...first,
    members: 99,
    rounds: [...first.rounds, kept.map((from) => ({ from, members: 2 }))],
  };
  expect(ask(tried)).toEqual([{ from: 'start', members: 96 }]);
  expect(ask({ ...tried, members: 3 })).toBe('done');
  const half = { ...tried, rounds: [...first.rounds, [{ from: place(1, 0), members: 1 }]] };
  expect((ask(half) as readonly Expansion[])[0]).toMatchObject({ from: place(1, 0), members: 1 });
});

test('places after a turn that earned something are not kept', () => {
  const { keeps } = programTreeExplorer({ width: 2 });
  expect(keeps(ran(0, true), 0)).toBe(true);
  const paid = playedEpisode(0, [{ transition: { rewards: { agent: 0.5 } } }], { key: madeKey({}) });
  expect(keeps(paid, 0)).toBe(false);
});
