/** Tasks that a generator draws without end, each in one split: decided by the task, not by its number. */

import type { Split } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { canonicalJson, type Json } from '../../core/json/json.ts';
import type { JsonCompatible } from '../../core/json/json-compatible.ts';
import { hash32, Rng } from '../../core/rng.ts';
import type { TaskSet } from './tasks.ts';

/** Draws for one task, of which some fall into other splits and some are no tasks. */
const MAX_DRAWS = 20_000;

const SPLITS: Readonly<Record<number, Split>> = { 0: 'test', 1: 'validation' };

/**
 * Endless tasks from a generator. A hash of the task decides its split: one task in ten is for tests, one for validation. So
 * training never sees a test task, even where the generator draws one twice. The same index gives the same task, for ever.
 *
 * @param name seeds the draws; mostly the name of the environment
 * @param draw a task, or undefined for a draw that is none; chance comes from `rng` alone
 * @param accepts whether a task is one after all (solvable, hard enough); asked only about tasks of the split, since it may be slow
 * @returns what `tasks` of `defineEnvironment` takes
 * @example
 * const sums = defineEnvironment({
 *   name: 'sums',
 *   tasks: drawnTasks('sums', (rng) => ({ a: rng.int(100), b: rng.int(100) })),
 *   // …
 * });
 * @throws TurnwiseError `no-such-task` where 20,000 draws gave no task of the split
 */
export function drawnTasks<Task extends JsonCompatible<Task>>(
  name: string,
  draw: (rng: Rng) => Task | undefined,
  accepts: (task: Task) => boolean = () => true,
): (split: Split) => TaskSet<Task> {
  const at = (split: Split, index: number): Task => {
    const rng = Rng.of(name, split, index);
    for (let attempt = 0; attempt < MAX_DRAWS; attempt++) {
      const task = draw(rng);
      if (task !== undefined && splitOf(task as Json) === split && accepts(task)) return task;
    }
    throw new TurnwiseError('no-such-task', {
      what: `No task of ${name} was found for these options`,
      seen: `${MAX_DRAWS} draws for the ${split} split`,
      next: 'Choose options with more, or easier, tasks.',
    });
  };
  return (split) => ({ size: Number.POSITIVE_INFINITY, at: (index) => at(split, index) });
}

function splitOf(task: Json): Split {
  return SPLITS[hash32(canonicalJson(task)) % 10] ?? 'train';
}
