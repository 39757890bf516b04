/**
 * Guidance: tasks at which a whole group failed are attempted again in the same step, with guidance before the first turn; those
 * that fail again with more of it, level after level. Each task has its own level, which counts its guided attempts: one that comes
 * into the step later begins at the first. Agent-RLVR, arXiv 2506.11425.
 *
 * Guidance is a message of the environment, `guidance(task, level)`, from a hint at level 1 to the solution; where an environment
 * has none, the solution that it knows (`truth`) is the only level. Its tokens are never trained.
 *
 * 1. The paper has a model write guidance from the failed attempt. Here the environment does.
 * 2. The paper compares guided attempts by DPO, which asks for no log-probabilities of the sampler. Nothing is said when the policy
 *    is evaluated, so what is learned is stripped of the guidance: `strip=false` learns from it behind the guidance, as it was
 *    sampled. How the log-probabilities are had is said where it is stripped, in `train/kit/strip-guidance.ts`.
 */

import { z } from 'zod';
import type { Group } from '../../core/episode.ts';
import { user } from '../../core/messages.ts';
import { mean } from '../../core/statistics.ts';
import { successRates } from './success-rates.ts';
import { type DefinedTasks, defineTasks, type GroupRequest } from './task-source.ts';

export const guidance: DefinedTasks = defineTasks({
  name: 'guidance',
  summary: 'fresh tasks, and those at which whole groups failed again with guidance, level after level',
  guides: true,
  options: z.strictObject({
    levels: z.int().min(1).default(3).describe('Levels of guidance, at most'),
    rate: z.number().min(0).max(1).default(0).describe('Success rate of a group up to which it failed'),
    share: z
      .number()
      .min(0)
      .max(1)
      .default(1)
      .describe('Share of the tasks that failed without guidance that are attempted with some'),
    strip: z.boolean().default(true).describe('Learn from guided attempts as if nobody had guided them'),
  }),
  next({ round, wanted, members, groups, latest, tasks, options, rng }) {
    const fresh = (count: number): GroupRequest[] =>
      tasks.fresh(count).map((index) => ({ task: { split: 'train', index }, members }));
    if (round === 0) return fresh(wanted);
    const levels = levelsOf(groups);
    const failed = rng.shuffle(failedIn(latest, options.rate));
    const unguided = failed.filter((index) => !levels.has(index));
    const drawn = new Set(unguided.slice(0, Math.round(options.share * unguided.length)));
    const guided = failed.flatMap((index): GroupRequest[] => {
      const level = (levels.get(index) ?? 0) + 1;
      if (level > options.levels || (level === 1 && !drawn.has(index))) return [];
      const said = tasks.guidance?.(index, level);
      return said === undefined || said === ''
        ? []
        : [{ task: { split: 'train', index }, members, say: [user(said)], strip: options.strip }];
    });
    return [...guided, ...fresh(wanted)];
  },
});

/** How often each task was attempted with guidance in this step: every time with one level more. */
function levelsOf(groups: readonly Group[]): ReadonlyMap<number, number> {
  const levels = new Map<number, number>();
  for (const { members } of groups) {
    const task = members[0]?.key.task;
    const isGuided = members.some(({ told, stripped }) => (told ?? stripped) !== undefined);
    if (typeof task === 'number' && isGuided) levels.set(task, (levels.get(task) ?? 0) + 1);
  }
  return levels;
}

/** Tasks that failed in the last of these groups that played them, in the order in which they were played. */
function failedIn(groups: readonly Group[], rate: number): number[] {
  return [...successRates(groups)]
    .filter(([, { rates }]) => mean(rates.slice(-1)) <= rate)
    .map(([task]) => task);
}
