/** The tasks of a split, where there are any, and one of them. */

import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import type { Split, TaskSet } from '../environment.ts';
import type { World } from '../world.ts';

/** @throws TurnwiseError `split-empty` */
export function tasksOf(world: World, split: Split): TaskSet<Json> {
  const tasks = world.tasks(split);
  if (tasks.size >= 1) return tasks;
  throw new TurnwiseError('split-empty', {
    what: `"${world.name}" has no tasks in its ${split} split`,
    seen: `size ${tasks.size}`,
    allowed: 'at least 1, or Infinity',
    next: `Give tasks('${split}') a size and an at(index).`,
    fields: { environment: world.name, split },
  });
}

/** @throws TurnwiseError `task-unknown`, `split-empty` */
export function taskOf(world: World, split: Split, index: number): Json {
  const tasks = tasksOf(world, split);
  if (index < tasks.size) return tasks.at(index);
  throw new TurnwiseError('task-unknown', {
    what: `There is no ${split} task ${index} in ${world.name}`,
    allowed: `0 to ${tasks.size - 1}`,
    next: 'Choose another task or split.',
    fields: { task: index, split },
  });
}
