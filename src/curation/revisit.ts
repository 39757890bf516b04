/**
 * Revisiting: tasks that were not solved by every episode of their group are played again, beside fresh ones.
 *
 * Once a policy is good, nearly all groups are unanimous and teach nothing; the few tasks it still fails are where the
 * signal is. A simple relative of prioritized level replay (arXiv 2010.03934):
 * 1. A task is in the pool or not; there are no scores, and no staleness.
 * 2. A task leaves the pool when a whole group solves it, or when newer ones push it out.
 */

import type { Rng } from '../core/rng.ts';
import type { Trajectory } from '../core/trajectory.ts';

/** Indices of unsolved tasks, oldest first; plain JSON for the checkpoint. */
export type TaskPool = readonly number[];

const CAPACITY = 512;

/** The pool after a step: solved tasks leave, unsolved ones enter or move to the end. */
export function updatePool(pool: TaskPool, played: ReadonlyMap<number, readonly Trajectory[]>): TaskPool {
  const unsolved = [...played].flatMap(([task, members]) =>
    members.some(({ success }) => !success) ? [task] : [],
  );
  return [...pool.filter((task) => !played.has(task)), ...unsolved].slice(-CAPACITY);
}

/** Up to `count` different tasks of the pool, at random. */
export function drawFromPool(pool: TaskPool, count: number, rng: Rng): number[] {
  return rng.shuffle(pool).slice(0, count);
}
