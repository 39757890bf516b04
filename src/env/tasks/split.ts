/** The tasks of a split, where there are any, and one of them. */

import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import { plainCopy } from '../../core/json/plain-copy.ts';
import { thrownText, valueText } from '../../core/safe-text.ts';
import type { Split, TaskSet } from '../environment.ts';
import type { World } from '../world.ts';

/** Far beyond any task; what is larger was meant to lie on a base (docs/write-an-environment.md). */
const TASK_LIMITS = { depth: 64, values: 10_000_000, characters: 100_000_000 };

/** The last sets that were good. A world that stops telling its tasks in the middle of a run keeps those that it had. */
const lastGood = new WeakMap<World, Map<Split, TaskSet<Json>>>();

/** @throws TurnwiseError `split-empty`, `tasks-invalid`; what the author's code throws the first time that it is asked */
export function tasksOf(world: World, split: Split): TaskSet<Json> {
  const known = lastGood.get(world) ?? new Map<Split, TaskSet<Json>>();
  lastGood.set(world, known);
  try {
    const tasks = checked(world, split, world.tasks(split));
    known.set(split, tasks);
    return tasks;
  } catch (error) {
    const before = known.get(split);
    if (before) return before;
    throw error;
  }
}

function checked(world: World, split: Split, tasks: unknown): TaskSet<Json> {
  const { size, at } = (tasks ?? {}) as Partial<TaskSet<Json>>;
  const isCount = size === Number.POSITIVE_INFINITY || Number.isSafeInteger(size);
  if (typeof at !== 'function' || size === undefined || !isCount) {
    throw new TurnwiseError('tasks-invalid', {
      what: `The ${split} tasks of "${world.name}" are no numbered set`,
      seen: typeof at === 'function' ? `size ${valueText(size)}` : valueText(tasks),
      allowed: '{ size, at(index) }, with a whole number or Infinity for a size',
      next: 'See docs/write-an-environment.md',
      fields: { environment: world.name, split },
    });
  }
  if (size >= 1) return tasks as TaskSet<Json>;
  throw new TurnwiseError('split-empty', {
    what: `"${world.name}" has no tasks in its ${split} split`,
    seen: `size ${size}`,
    allowed: 'at least 1, or Infinity',
    next: `Give tasks('${split}') a size and an at(index).`,
    fields: { environment: world.name, split },
  });
}

/** A task that can be played, or why its episodes fail: reading one is its author's code. */
export type ReadTask = { readonly task: Json; readonly failure?: string };

/** A task of a set as plain JSON, whatever its author's code does. */
export function readTask(world: World, tasks: TaskSet<Json>, index: number): ReadTask {
  const what = `reading task ${index} of ${world.name}`;
  let given: unknown;
  try {
    given = tasks.at(index);
  } catch (error) {
    return { task: null, failure: `${what}: ${thrownText(error)}` };
  }
  const copied = plainCopy(given, 'task', TASK_LIMITS);
  if (copied.ok) return { task: copied.value };
  const { path, seen, allowed } = copied;
  return {
    task: null,
    failure: `${what}: ${path} is no plain JSON. Seen: ${seen}. Allowed: ${allowed}. A task is stored with its episodes`,
  };
}

/** A task that can be played. @throws TurnwiseError `task-unknown`, `split-empty`, `tasks-invalid` */
export function playableTask(world: World, split: Split, index: number): Json {
  const { task, failure } = taskOf(world, split, index);
  if (failure === undefined) return task;
  throw new TurnwiseError('tasks-invalid', {
    what: `The ${split} tasks of "${world.name}" lack one`,
    seen: failure,
    next: 'Correct at(index) of the tasks, or choose another task.',
    fields: { environment: world.name, split, task: index },
  });
}

/** @throws TurnwiseError `task-unknown`, `split-empty`, `tasks-invalid` */
export function taskOf(world: World, split: Split, index: number): ReadTask {
  const tasks = tasksOf(world, split);
  if (index < tasks.size) return readTask(world, tasks, index);
  throw new TurnwiseError('task-unknown', {
    what: `There is no ${split} task ${index} in ${world.name}`,
    allowed: `0 to ${tasks.size - 1}`,
    next: 'Choose another task or split.',
    fields: { task: index, split },
  });
}
