/**
 * A budget for each task: an episode that takes far longer than a solution does is stopped. ActiveVLN, arXiv 2509.12618.
 *
 * budget = min(most, ⌈length × tolerance⌉). The episode ends as `early-stop`, with the reward that it has.
 * 1. The length of the true path is a field of the task, where `field` names one: a number, or a list with an entry for each
 *    turn. Without it the shortest success of the run stands in for it, and a task that nobody solved has no budget but `most`.
 * 2. The paper counts steps of 120 and turns of 40; here both are turns, and the usual limit holds besides.
 * 3. A group without a success is not played again; `curation.dynamic-sampling` plays other tasks instead.
 */

import { z } from 'zod';
import { fingerprint } from '../../core/fingerprint.ts';
import { canonicalJson, type Json } from '../../core/json/json.ts';
import { type DefinedTurns, defineTurns } from './turn-control.ts';
import { turnCounts } from './turn-counts.ts';

/** Each task with the turns of its shortest success, the latest last. */
type Shortest = readonly (readonly [task: string, turns: number])[];

/** Tasks whose successes are remembered. */
const CAPACITY = 4096;

export const earlyStop: DefinedTurns = defineTurns({
  name: 'early-stop',
  summary: 'an episode ends once it took several times as many turns as a solution of its task',
  options: z.strictObject({
    tolerance: z.number().min(1).default(2).describe('Turns of an episode, as a multiple of the solution’s'),
    most: z.int().min(1).default(120).describe('Turns that no budget exceeds'),
    field: z
      .string()
      .default('')
      .describe(
        'Field of the task that holds the length of a solution in turns, or its actions, such as `plan`, and `task.plan` in a mix; empty: the shortest success so far',
      ),
  }),
  start: (): Shortest => [],
  after({ task, turn }, { done, memory, options: { tolerance, most, field } }) {
    if (done) return 'go on';
    const length = field === '' ? shortestOf(memory, nameOf(task)) : lengthIn(task, field);
    const budget = length === undefined ? most : Math.min(most, Math.ceil(length * tolerance));
    return turn >= budget ? { stop: 'early-stop' } : 'go on';
  },
  remember(groups, { memory, options }) {
    if (options.field !== '') return memory;
    const next = new Map(memory);
    for (const { episode, turns, success } of turnCounts(groups)) {
      if (!success) continue;
      const name = nameOf(episode.task);
      const shortest = Math.min(turns, next.get(name) ?? turns);
      next.delete(name);
      next.set(name, shortest);
    }
    return [...next].slice(-CAPACITY);
  },
});

const shortestOf = (memory: Shortest, name: string): number | undefined =>
  memory.find(([task]) => task === name)?.[1];

const nameOf = (task: Json): string => fingerprint(canonicalJson(task));

/** @throws RangeError where the task has no such field */
function lengthIn(task: Json, field: string): number {
  const value = field
    .split('.')
    .reduce<Json | undefined>((whole, key) => (whole as Readonly<Record<string, Json>> | null)?.[key], task);
  const length = Array.isArray(value) ? value.length : value;
  if (typeof length === 'number' && length > 0) return length;
  throw new RangeError(
    `turns.field is "${field}", and the task has no such field with a number above 0 or a list`,
  );
}
