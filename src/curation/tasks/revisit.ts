/**
 * Revisiting: tasks that were not solved by every episode of their group are played again, beside fresh ones.
 *
 * Once a policy is good, nearly all groups are unanimous and teach nothing; the few tasks it still fails are where the
 * signal is. A simple relative of prioritized level replay (arXiv 2010.03934):
 * 1. A task is in the pool or not; there are no scores, and no staleness.
 * 2. A task leaves the pool when a whole group solves it, or when newer ones push it out.
 * 3. Games have no pool: one side always fails, so nothing there is ever solved.
 */

import { z } from 'zod';
import type { Group } from '../../core/episode.ts';
import { isPlayedIn } from '../../core/episode-key.ts';
import type { Rng } from '../../core/rng.ts';
import { type DefinedTasks, defineTasks } from './task-source.ts';

/** Indices of unsolved tasks, oldest first. */
export type TaskPool = readonly number[];

const CAPACITY = 512;

export const revisit: DefinedTasks = defineTasks<{ readonly share: number }, TaskPool>({
  name: 'revisit',
  summary: 'fresh tasks beside some of those that were not solved',
  options: z.strictObject({
    share: z
      .number()
      .min(0)
      .max(1)
      .default(0.5)
      .describe('Share of the tasks that are drawn from the unsolved'),
  }),
  start: () => [],
  next({ round, wanted, members, tasks, memory, options, rng }) {
    // Further rounds are played for want of groups that differ: only fresh tasks are sure to be others.
    const again = round === 0 ? drawFromPool(memory, Math.round(options.share * wanted), rng) : [];
    return tasks
      .fresh(wanted)
      .map((index, place) => ({ task: { split: 'train', index: again[place] ?? index }, members }));
  },
  remember: (groups, { memory }) => updatePool(memory, groups),
});

/** The pool after a step: solved tasks leave, unsolved ones enter or move to the end. */
export function updatePool(pool: TaskPool, groups: readonly Group[]): TaskPool {
  const played = new Map(
    groups.flatMap((group) => {
      const members = group.members.filter((episode) => isPlayedIn(group, episode));
      const [first] = members;
      if (!first || typeof first.key.task !== 'number' || Object.keys(first.outcome).length > 1) return [];
      return [[first.key.task, members] as const];
    }),
  );
  const unsolved = [...played].flatMap(([task, members]) =>
    members.some(({ success }) => Object.values(success).includes(false)) ? [task] : [],
  );
  return [...pool.filter((task) => !played.has(task)), ...unsolved].slice(-CAPACITY);
}

/** Up to `count` different tasks of the pool, at random. */
export function drawFromPool(pool: TaskPool, count: number, rng: Rng): number[] {
  return rng.shuffle(pool).slice(0, count);
}
