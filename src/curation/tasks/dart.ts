/**
 * Fewer episodes of tasks that mostly succeed, and no more turns than their successes took: two of the levels of DART, arXiv
 * 2509.23866. The others are the curations `success-replay` and `uncertain-turns`; its correction of tokens is the loss `tis`.
 * Each of them can be left out.
 *
 * Above the threshold a task has max(2, round(G · (1 − rate) / (1 − threshold))) episodes, where G is `rollout.group`. After its
 * first success it has as many turns as its longest success took; that takes the place of the turn control's limit.
 * 1. The paper says that the number falls with the success rate, and not how. The formula is our choice.
 * 2. The rate is a moving average over the groups of the task, whose decay is our choice as well.
 */

import { z } from 'zod';
import { mean } from '../../core/statistics.ts';
import { successRates } from './success-rates.ts';
import { type DefinedTasks, defineTasks, type GroupRequest } from './task-source.ts';

/** The latest to be played last. */
type Played = readonly (readonly [task: number, rate: number, longest: number])[];

/** Tasks that are remembered. */
const CAPACITY = 4096;
const FEWEST = 2;

export const dart: DefinedTasks = defineTasks({
  name: 'dart',
  summary: 'fresh tasks, fewer episodes of those that mostly succeed, and as many turns as successes took',
  options: z.strictObject({
    threshold: z
      .number()
      .min(0)
      .lt(1)
      .default(0.6)
      .describe('Success rate above which a task has fewer episodes'),
    decay: z
      .number()
      .min(0)
      .lt(1)
      .default(0.5)
      .describe('Weight of earlier groups in the success rate of a task'),
    episodes: z.boolean().default(true).describe('Whether tasks above the threshold have fewer episodes'),
    turns: z
      .boolean()
      .default(true)
      .describe('Whether tasks have as many turns as their longest success took'),
  }),
  start: (): Played => [],
  next({ wanted, members, tasks, memory, options }) {
    const known = new Map(memory.map(([task, rate, longest]) => [task, { rate, longest }]));
    return tasks.fresh(wanted).map((index): GroupRequest => {
      const { rate = 0, longest = 0 } = known.get(index) ?? {};
      const share = Math.min(1, (1 - rate) / (1 - options.threshold));
      return {
        task: { split: 'train', index },
        members: options.episodes
          ? Math.min(members, Math.max(FEWEST, Math.round(members * share)))
          : members,
        ...(options.turns && longest > 0 && { maxTurns: longest }),
      };
    });
  },
  remember(groups, { memory, options: { decay } }) {
    const before = new Map(memory.map((own) => [own[0], own]));
    const played = successRates(groups);
    const now = [...played].map(([task, { rates, longest }]) => {
      const [, rate = mean(rates), most = 0] = before.get(task) ?? [];
      return [task, decay * rate + (1 - decay) * mean(rates), Math.max(most, longest)] as const;
    });
    return [...memory.filter(([task]) => !played.has(task)), ...now].slice(-CAPACITY);
  },
});
