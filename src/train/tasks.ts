/** Which tasks a step plays: fresh ones, and some of those that were not solved before. */

import { Rng } from '../core/rng.ts';
import type { Group, Trajectory } from '../core/trajectory.ts';
import { drawFromPool, type TaskPool } from '../curation/revisit.ts';
import type { GroupRequest } from '../rollout/collect.ts';
import type { Learner } from './learner.ts';

/** Far beyond the steps of any run, so that further rounds of a step play tasks of their own. */
const ROUND_STRIDE = 2 ** 20;

/**
 * Task index of each group of a step: some not solved before, the rest fresh ones (a random selection of finite sets).
 * Further rounds of the same step choose others.
 */
export function chooseTasks(
  { config, world }: Pick<Learner, 'config' | 'world'>,
  step: number,
  pool: TaskPool,
  round = 0,
): Map<string, number> {
  const { tasks, revisit } = config.rollout;
  const { size } = world.tasks('train');
  const rng = Rng.of('tasks', config.seed, step, ...(round > 0 ? [round] : []));
  const again = drawFromPool(pool, Math.round(revisit * tasks), rng);
  const fresh = (index: number): number =>
    Number.isFinite(size) ? rng.int(size) : (step + round * ROUND_STRIDE) * tasks + index;
  return new Map(
    Array.from({ length: tasks }, (_, index) => [
      `${step}/${round * tasks + index}`,
      again[index] ?? fresh(index),
    ]),
  );
}

export function requestsFor(
  { config, world }: Pick<Learner, 'config' | 'world'>,
  tasks: ReadonlyMap<string, number>,
): GroupRequest[] {
  const set = world.tasks('train');
  return [...tasks].map(([id, task]) => ({ id, task: set.at(task), members: config.rollout.group }));
}

/** The episodes of each task. Games have none: one side always fails, so nothing there is ever solved. */
export function playedTasks(
  groups: readonly Group[],
  tasks: ReadonlyMap<string, number>,
): Map<number, readonly Trajectory[]> {
  return new Map(
    groups.flatMap(({ id, members }) => (tasks.has(id) ? [[tasks.get(id)!, members] as const] : [])),
  );
}
