import { describe, expect, test } from 'vitest';
import type { Group, Place } from '../../core/episode.ts';
import { placeText } from '../../core/episode-key.ts';
import { Rng } from '../../core/rng.ts';
import { madeGroup, madeKey, playedEpisode } from '../../core/testing/made-episodes.ts';
import { drawPlace, exit, type PlacePool, updatePlaces } from './exit.ts';

const placeOf = (step: number, transition: number, member = 0): Place => ({
  episode: madeKey({ step, member }),
  transition,
});

/** A group of a step: what its members returned, in so many turns each; from a place, where one is named. */
function played(step: number, returns: readonly number[], turns = 4, from?: Place): Group {
  const members = returns.map((earned, member) =>
    playedEpisode(
      member,
      Array.from({ length: turns }, () => ({})),
      {
        key: madeKey({ step, member }),
        outcome: { agent: earned },
        ...(from && { startedAt: [from] }),
      },
    ),
  );
  return { ...madeGroup(...members), step };
}

const kept = { size: 9, places: 1, least: 0 };

describe('drawing', () => {
  const pool: PlacePool = [
    { place: placeOf(1, 0), variance: 0.25 },
    { place: placeOf(1, 1), variance: 0 },
    { place: placeOf(1, 2), variance: 0.75 },
  ];

  test('is in proportion to the variance of returns', () => {
    const rng = Rng.of('draw');
    const counts = new Map<number, number>();
    for (let i = 0; i < 4000; i++) {
      const turn = drawPlace(pool, ({ variance }) => variance, rng)!.place.transition;
      counts.set(turn, (counts.get(turn) ?? 0) + 1);
    }
    expect(counts.get(1)).toBeUndefined();
    expect(counts.get(0)! / 4000).toBeCloseTo(0.25, 1);
    expect(counts.get(2)! / 4000).toBeCloseTo(0.75, 1);
  });

  test('of two variances .25 and 0 it is always the first; of none it is nothing', () => {
    const rng = Rng.of('two');
    for (let i = 0; i < 100; i++)
      expect(drawPlace(pool.slice(0, 2), ({ variance }) => variance, rng)).toBe(pool[0]);
    expect(drawPlace(pool.slice(1, 2), ({ variance }) => variance, rng)).toBeUndefined();
    expect(drawPlace([], () => 1, rng)).toBeUndefined();
  });
});

describe('the pool', () => {
  test('takes a place of a group whose returns differ, with their variance', () => {
    // Two of four succeed: variance 1/4.
    const [entry, ...others] = updatePlaces([], [played(2, [1, 0, 0, 1])], kept, Rng.of(1));
    expect(others).toEqual([]);
    expect(entry!.variance).toBeCloseTo(0.25, 12);
    expect(entry!.place.episode.step).toBe(2);
    expect(updatePlaces([], [played(2, [1, 1, 1, 1])], kept, Rng.of(1))).toEqual([]);
  });

  test('takes the start and every turn but the last, and of a group from a place what it added', () => {
    const all = { ...kept, size: 99, places: 99 };
    const turns = (pool: PlacePool) =>
      [...new Set(pool.map(({ place }) => place.transition))].sort((a, b) => a - b);
    expect(turns(updatePlaces([], [played(2, [1, 0])], all, Rng.of(1)))).toEqual([-1, 0, 1, 2]);
    expect(turns(updatePlaces([], [played(2, [1, 0], 4, placeOf(1, 0))], all, Rng.of(1)))).toEqual([1, 2]);
  });

  test('measures a place anew when a group is played from it, and lets go of one that teaches nothing', () => {
    const from = placeOf(1, 1);
    const pool = [{ place: from, variance: 0.25 }];
    // 3/4 · 1/4 = 3/16.
    const again = updatePlaces(pool, [played(2, [1, 0, 0, 0], 4, from)], kept, Rng.of(1));
    expect(again.find(({ place }) => placeText(place) === placeText(from))!.variance).toBeCloseTo(3 / 16, 12);
    expect(updatePlaces(pool, [played(2, [1, 1], 4, from)], kept, Rng.of(1))).toEqual([]);
  });

  test('is bounded: the smallest variance goes, and of equal ones the older', () => {
    const pool: PlacePool = [
      { place: placeOf(1, 0), variance: 0.2 },
      { place: placeOf(1, 1), variance: 0.1 },
      { place: placeOf(1, 2), variance: 0.25 },
    ];
    const next = updatePlaces(pool, [played(2, [1, 0])], { ...kept, size: 2 }, Rng.of(1));
    expect(next.map(({ place, variance }) => [place.episode.step, variance])).toEqual([
      [1, 0.25],
      [2, 0.25],
    ]);
    const newer = updatePlaces(next, [played(3, [1, 0])], { ...kept, size: 2 }, Rng.of(1));
    expect(newer.map(({ place }) => place.episode.step)).toEqual([2, 3]);
  });
});

test('some groups are told to diverge, and none where the pool is empty', () => {
  const asked = (options: object, memory: PlacePool, round = 0) =>
    exit.create(options).next({
      ...{ step: 3, round, wanted: 20, members: 4, groups: [], latest: [], memory, rng: Rng.of('next') },
      ...{ roles: ['agent'], players: [] },
      tasks: { size: 99, fresh: (count) => Array.from({ length: count }, (_, index) => index) },
    });
  const pool: PlacePool = [{ place: placeOf(1, 0), variance: 0.25 }];
  const from = (requests: ReturnType<typeof asked>) => requests.filter(({ task }) => 'place' in task);
  expect(from(asked({ fresh: 0 }, pool))).toHaveLength(20);
  expect(from(asked({ fresh: 0 }, pool, 1))).toEqual([]);
  expect(from(asked({ fresh: 0 }, []))).toEqual([]);
  const half = from(asked({ fresh: 0.5 }, pool)).length;
  expect(half).toBeGreaterThan(4);
  expect(half).toBeLessThan(16);
  const told = asked({ fresh: 0, diverge: 1, say: 'other' }, pool);
  expect(told.every(({ say }) => say?.[0]?.content === 'other')).toBe(true);
  expect(asked({ fresh: 0 }, pool).every(({ say }) => say === undefined)).toBe(true);
});
