/** Held-out evaluation: every task once, sampled and greedy, with intervals. */

import { mean, sampleStd, wilsonInterval } from '../core/statistics.ts';
import type { StopReason } from '../core/stop.ts';
import type { Trajectory } from '../core/trajectory.ts';
import type { Split } from '../env/environment.ts';
import { tasksOf } from '../env/split.ts';
import { type CollectOptions, collectGroups } from '../rollout/collect.ts';

export interface EvaluationResult {
  readonly episodes: number;
  readonly success: number;
  /** 95% (Wilson). */
  readonly successInterval: readonly [number, number];
  readonly return: number;
  /** 95% (normal approximation of the mean). */
  readonly returnInterval: readonly [number, number];
  /** Mean turns of an episode. */
  readonly turns: number;
  readonly stops: Readonly<Partial<Record<StopReason, number>>>;
}

export interface Evaluation {
  readonly result: EvaluationResult;
  readonly trajectories: readonly Trajectory[];
}

/**
 * Play `tasks` tasks of the split once each and summarise. A smaller split is played in as many whole rounds as fit.
 *
 * @throws TurnwiseError `split-empty`
 */
export async function evaluate(
  options: CollectOptions & { readonly split: Split; readonly tasks: number; readonly label: string },
): Promise<Evaluation> {
  const set = tasksOf(options.world, options.split);
  const tasks = Math.min(options.tasks, set.size * repeatsOf(set.size, options.tasks));
  const groups = await collectGroups(
    Array.from({ length: tasks }, (_, index) => ({
      id: `${options.label}/${index}`,
      task: set.at(index % set.size),
      members: 1,
    })),
    options,
  );
  const trajectories = groups.flatMap((group) => group.members);
  return { result: summarise(trajectories), trajectories };
}

/** Small task sets (25 mazes) are played over and over, whole rounds at a time, so that every task weighs the same. */
function repeatsOf(size: number, tasks: number): number {
  return size < tasks ? Math.floor(tasks / size) : 1;
}

/** Failed, timed-out and cancelled episodes are counted in `stops` and left out of everything else. */
export function summarise(trajectories: readonly Trajectory[]): EvaluationResult {
  const stops: Partial<Record<StopReason, number>> = {};
  for (const { stop } of trajectories) stops[stop] = (stops[stop] ?? 0) + 1;
  const usable = trajectories.filter(({ stop }) => !/^(failed|timeout|cancelled)/.test(stop));
  const count = usable.length;
  const successes = usable.filter(({ success }) => success).length;
  const outcomes = usable.map(({ outcome }) => outcome);
  const average = count === 0 ? 0 : mean(outcomes);
  const half = count < 2 ? 0 : (1.96 * sampleStd(outcomes)) / Math.sqrt(count);
  const interval = wilsonInterval(successes, count);
  return {
    episodes: count,
    success: count === 0 ? 0 : successes / count,
    successInterval: [interval.low, interval.high],
    return: average,
    returnInterval: [average - half, average + half],
    turns: count === 0 ? 0 : usable.reduce((sum, { turns }) => sum + turns.length, 0) / count,
    stops,
  };
}
