/** Which tasks a step plays: fresh ones, and some of those that were not solved before. */

import { Rng } from '../../core/rng.ts';
import type { RoleGroup, Trajectory } from '../../core/trajectory.ts';
import { drawFromPool, type TaskPool } from '../../curation/revisit.ts';
import type { GroupRequest } from '../../rollout/collect.ts';
import type { Learner } from '../kit/learner.ts';

/** Far beyond the steps of any run, so that further rounds of a step play tasks of their own. */
const ROUND_STRIDE = 2 ** 20;

/**
 * The groups of a step: some tasks not solved before, the rest fresh ones. Finite sets are gone through in shuffled epochs.
 * Further rounds of the same step choose others.
 *
 * @param step that asks, from 1
 */
export function chooseTasks(
  { config, world }: Pick<Learner, 'config' | 'world'>,
  step: number,
  pool: TaskPool,
  round = 0,
): GroupRequest[] {
  const { tasks, revisit, group: members } = config.rollout;
  const set = world.tasks('train');
  const rng = Rng.of('tasks', config.seed, step, round);
  const again = drawFromPool(pool, Math.round(revisit * tasks), rng);
  const inEpoch = epochs(set.size, config.seed);
  return Array.from({ length: tasks }, (_, index) => {
    const place = (step - 1 + round * ROUND_STRIDE) * tasks + index;
    const task = again[index] ?? (Number.isFinite(set.size) ? inEpoch(place) : place);
    return {
      step,
      group: round * tasks + index,
      split: 'train',
      index: task,
      task: set.at(task),
      members,
    };
  });
}

/** The task at a place of an endless list of shuffled epochs. */
function epochs(size: number, seed: number): (place: number) => number {
  const shuffled = new Map<number, readonly number[]>();
  return (place) => {
    const epoch = Math.floor(place / size);
    const order =
      shuffled.get(epoch) ?? Rng.of('epoch', seed, epoch).shuffle(Array.from({ length: size }, (_, i) => i));
    shuffled.set(epoch, order);
    return order[place % size]!;
  };
}

/** The episodes of each task, by its index. Games have none: one side always fails, so nothing there is ever solved. */
export function playedTasks(groups: readonly RoleGroup[]): Map<number, readonly Trajectory[]> {
  return new Map(
    groups.flatMap(({ members }) => {
      const first = members[0]?.episode;
      if (!first || typeof first.key.task !== 'number' || Object.keys(first.outcome).length > 1) return [];
      return [[first.key.task, members] as const];
    }),
  );
}
