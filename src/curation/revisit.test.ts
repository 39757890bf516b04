import { expect, test } from 'vitest';
import { Rng } from '../core/rng.ts';
import type { Trajectory } from '../core/trajectory.ts';
import { drawFromPool, updatePool } from './revisit.ts';

const group = (...successes: boolean[]): Trajectory[] =>
  successes.map((success) => ({ success }) as unknown as Trajectory);

test('a task stays until a whole group solves it', () => {
  const once = updatePool(
    [],
    new Map([
      [7, group(true, false)],
      [8, group(true, true)],
      [9, group(false, false)],
    ]),
  );
  expect(once).toEqual([7, 9]);
  expect(updatePool(once, new Map([[7, group(true, true)]]))).toEqual([9]);
  expect(updatePool(once, new Map([[7, group(false, true)]]))).toEqual([9, 7]);
});

test('the oldest are pushed out', () => {
  const many = new Map(Array.from({ length: 600 }, (_, task) => [task, group(false)] as const));
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
