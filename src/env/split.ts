/** The tasks of a split, where there are any. */

import { TurnwiseError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Split, TaskSet } from './environment.ts';
import type { World } from './world.ts';

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
