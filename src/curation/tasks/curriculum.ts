/**
 * A curriculum by success rates: beside fresh tasks, earlier ones are played again, those most often at which about half of the
 * episodes succeed. VLA-RL, arXiv 2505.18719.
 *
 *   P(task) ∝ exp(−|s − target| / τ);   s: its success rate so far, later groups counting more
 *
 * 1. The paper has a few tasks, all of them known; `fresh` is the share that was never played, which finds the rest out.
 * 2. The paper names tasks that succeed half of the time; the code that was released has no curriculum. The weight is our choice.
 * 3. Games have no success rates: one side always fails.
 */

import { z } from 'zod';
import type { Rng } from '../../core/rng.ts';
import { mean } from '../../core/statistics.ts';
import { successRates } from './success-rates.ts';
import { type DefinedTasks, defineTasks } from './task-source.ts';

/** Tasks with their success rates, the latest played last. */
type Rates = readonly (readonly [task: number, rate: number])[];

/** Tasks that are remembered. */
const CAPACITY = 4096;

export const curriculum: DefinedTasks = defineTasks({
  name: 'curriculum',
  summary: 'fresh tasks, and earlier ones at which about half of the episodes succeed',
  options: z.strictObject({
    fresh: z.number().min(0).max(1).default(0.5).describe('Share of groups that play fresh tasks'),
    target: z.number().min(0).max(1).default(0.5).describe('Success rate of the tasks that are drawn most'),
    temperature: z
      .number()
      .positive()
      .default(0.1)
      .describe('Distance from it at which a task is drawn 2.7 times less'),
    decay: z
      .number()
      .min(0)
      .lt(1)
      .default(0.5)
      .describe('Weight of earlier groups in the success rate of a task'),
  }),
  start: (): Rates => [],
  next({ round, wanted, members, tasks, memory, options, rng }) {
    // Further rounds are played for want of groups that differ: only fresh tasks are sure to be others.
    const count = round > 0 ? 0 : Math.round((1 - options.fresh) * wanted);
    const again = drawTasks(memory, count, options, rng);
    return tasks
      .fresh(wanted)
      .map((index, place) => ({ task: { split: 'train', index: again[place] ?? index }, members }));
  },
  remember(groups, { memory, options: { decay } }) {
    const before = new Map(memory);
    const played = successRates(groups);
    const now = [...played].map(([task, { rates }]) => {
      const rate = mean(rates);
      return [task, decay * (before.get(task) ?? rate) + (1 - decay) * rate] as const;
    });
    return [...memory.filter(([task]) => !played.has(task)), ...now].slice(-CAPACITY);
  },
});

/** Up to `count` different tasks. */
function drawTasks(
  known: Rates,
  count: number,
  { target, temperature }: { readonly target: number; readonly temperature: number },
  rng: Rng,
): number[] {
  const left = [...known];
  return Array.from({ length: Math.min(count, left.length) }, () => {
    const weights = left.map(([, rate]) => Math.exp(-Math.abs(rate - target) / temperature));
    const drawn = rng.weighted(left, weights);
    left.splice(left.indexOf(drawn), 1);
    return drawn[0];
  });
}
