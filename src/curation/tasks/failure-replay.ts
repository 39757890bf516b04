/**
 * Failure replay: tasks at which a whole group failed go to a pool, and every few steps some of them are played again beside
 * fresh ones. DeepTravel, arXiv 2509.21842.
 *
 * 1. The paper does not say how often it replays, nor how much: every 5 steps a quarter of the tasks is our choice.
 * 2. A task leaves the pool when it is played again and does better, or when newer ones push it out.
 * 3. Games have no pool: one side always fails.
 */

import { z } from 'zod';
import { mean } from '../../core/statistics.ts';
import { drawFromPool, type TaskPool } from './revisit.ts';
import { successRates } from './success-rates.ts';
import { type DefinedTasks, defineTasks } from './task-source.ts';

const CAPACITY = 512;

export const failureReplay: DefinedTasks = defineTasks({
  name: 'failure-replay',
  summary: 'fresh tasks, and every few steps some at which whole groups failed',
  options: z.strictObject({
    every: z.int().min(1).default(5).describe('Steps after which failures are replayed'),
    share: z
      .number()
      .min(0)
      .max(1)
      .default(0.25)
      .describe('Share of the tasks of such a step that are replayed'),
    rate: z.number().min(0).max(1).default(0).describe('Success rate of a group up to which it failed'),
  }),
  start: (): TaskPool => [],
  next({ step, round, wanted, members, tasks, memory, options, rng }) {
    const isDue = round === 0 && step % options.every === 0;
    const again = isDue ? drawFromPool(memory, Math.round(options.share * wanted), rng) : [];
    return tasks
      .fresh(wanted)
      .map((index, place) => ({ task: { split: 'train', index: again[place] ?? index }, members }));
  },
  remember(groups, { memory, options }) {
    const played = successRates(groups);
    const failed = [...played].filter(([, { rates }]) => mean(rates) <= options.rate).map(([task]) => task);
    return [...memory.filter((task) => !played.has(task)), ...failed].slice(-CAPACITY);
  },
});
