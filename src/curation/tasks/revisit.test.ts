import { expect, test } from 'vitest';
import type { Group } from '../../core/episode.ts';
import { Rng } from '../../core/rng.ts';
import { madeGroup, madeKey, playedEpisode } from '../../core/testing/made-episodes.ts';
import { drawFromPool, updatePool } from './revisit.ts';

const playedGroup = (task: number, ...successes: boolean[]): Group => ({
  step: 1,
  group: task,
  members: successes.map((success, member) =>
    playedEpisode(member, [{}], {
      key: madeKey({ task, group: task, member }),
      success: { agent: success },
    }),
  ),
});

test('a task stays until a whole group solves it', () => {
  const once = updatePool(
    [],
    [playedGroup(7, true, false), playedGroup(8, true, true), playedGroup(9, false, false)],
  );
  expect(once).toEqual([7, 9]);
  expect(updatePool(once, [playedGroup(7, true, true)])).toEqual([9]);
  expect(updatePool(once, [playedGroup(7, false, true)])).toEqual([9, 7]);
});

test('games have no pool: one side always fails', () => {
  const duel = playedEpisode(0, [{}], {
    outcome: { first: 1, second: -1 },
    success: { first: true, second: false },
  });
  expect(updatePool([], [madeGroup(duel)])).toEqual([]);
});

test('the oldest are pushed out', () => {
  const many = Array.from({ length: 600 }, (_, task) => playedGroup(task, false));
  const pool = updatePool([], many);
  expect([pool.length, pool[0], pool.at(-1)]).toEqual([512, 88, 599]);
});

test('drawn tasks are different ones of the pool, and the same for the same stream', () => {
  const pool = Array.from({ length: 50 }, (_, task) => task);
  const drawn = drawFromPool(pool, 20, Rng.of('draw'));
  expect(new Set(drawn).size).toBe(20);
  expect(drawFromPool(pool, 20, Rng.of('draw'))).toEqual(drawn);
  expect(drawFromPool([3], 20, Rng.of('draw'))).toEqual([3]);
});
