/** Held-out evaluation: every task once, sampled and greedy, with intervals. */

import type { Episode, Group, Role } from '../core/episode.ts';
import { mean, sampleStd, wilsonInterval } from '../core/statistics.ts';
import { isTrainable, type StopReason } from '../core/stop.ts';
import { chainOf } from '../core/trajectory.ts';
import type { Split } from '../env/environment.ts';
import { readTask, tasksOf } from '../env/tasks/split.ts';
import { type CollectOptions, collectGroups } from '../rollout/collect.ts';
import { environmentMetrics } from '../rollout/environment-metrics.ts';
import { type Search, searched } from '../rollout/explore/searched.ts';
import { scoreGroups } from '../rollout/score-groups.ts';

export interface EvaluationResult {
  /** Those that ended well: the others count in nothing but `stops` and `successOfAll`. */
  readonly episodes: number;
  readonly success: number;
  /** Successes among all episodes, failed ones included. Absent where none failed. */
  readonly successOfAll?: number;
  /** 95% (Wilson). */
  readonly successInterval: readonly [number, number];
  readonly return: number;
  /** 95% (normal approximation of the mean). */
  readonly returnInterval: readonly [number, number];
  /** Mean turns of an episode. */
  readonly turns: number;
  /** Where each episode was searched for: mean steps of the environment that it took. */
  readonly searched?: number;
  readonly stops: Readonly<Partial<Record<StopReason, number>>>;
  /** What the environment told of itself: `env/<name>` (docs/metrics.md). Absent where it told nothing. */
  readonly metrics?: Readonly<Record<string, number>>;
}

export interface Evaluation {
  readonly result: EvaluationResult;
  readonly groups: readonly Group[];
}

/**
 * Play `tasks` tasks of the split once each and summarise. A smaller split is played in as many whole rounds as fit.
 *
 * @throws TurnwiseError `split-empty`
 */
export async function evaluate(
  options: CollectOptions & {
    readonly split: Split;
    readonly tasks: number;
    readonly step: number;
    /** Whether episodes come with the scores of their groups, each of one episode. */
    readonly scored?: boolean;
    /** Searches for the episode of each task, where not the first that is sampled is to count. */
    readonly search?: Search;
  },
): Promise<Evaluation> {
  const set = tasksOf(options.world, options.split);
  const tasks = Math.min(options.tasks, set.size * repeatsOf(set.size, options.tasks));
  const requests = Array.from({ length: tasks }, (_, index) => ({
    step: options.step,
    // Every evaluation has the same chance, so that before and after differ in the policy alone.
    drawsAs: 0,
    group: index,
    split: options.split,
    index: index % set.size,
    ...readTask(options.world, set, index % set.size),
    members: 1,
  }));
  const scored = (groups: readonly Group[]) => (options.scored ? groups : scoreGroups(groups, options));
  if (options.search) {
    const { groups: found, steps } = await searched(requests, { ...options, ...options.search });
    const groups = await scored(found);
    return { result: { ...summarise(groups, options.counts), searched: steps / Math.max(1, tasks) }, groups };
  }
  const groups = await scored(await collectGroups(requests, options));
  return { result: summarise(groups, options.counts), groups };
}

/** Small task sets (25 mazes) are played over and over, whole rounds at a time, so that every task weighs the same. */
function repeatsOf(size: number, tasks: number): number {
  return size < tasks ? Math.floor(tasks / size) : 1;
}

/**
 * Every role that counts does so once in every episode. Failed, timed-out and cancelled episodes are counted in `stops` and left out of
 * everything else.
 */
export function summarise(
  groups: readonly Group[],
  counts: (role: Role) => boolean = () => true,
): EvaluationResult {
  const played = groups.flatMap((group) =>
    group.members.flatMap((episode) =>
      Object.keys(episode.outcome)
        .filter(counts)
        .map((role) => ({ episode, role, turns: turnsOf(group, episode, role) })),
    ),
  );
  const stops: Partial<Record<StopReason, number>> = {};
  for (const { episode } of played) stops[episode.stop] = (stops[episode.stop] ?? 0) + 1;
  const usable = played.filter(({ episode }) => isTrainable(episode.stop));
  const count = usable.length;
  const successes = usable.filter(({ episode, role }) => episode.success[role]).length;
  const outcomes = usable.map(({ episode, role }) => episode.outcome[role] ?? 0);
  const average = count === 0 ? 0 : mean(outcomes);
  const half = count < 2 ? 0 : (1.96 * sampleStd(outcomes)) / Math.sqrt(count);
  const interval = wilsonInterval(successes, count);
  const metrics = environmentMetrics(groups.flatMap(({ members }) => members));
  return {
    episodes: count,
    success: count === 0 ? 0 : successes / count,
    ...(count < played.length && { successOfAll: successes / played.length }),
    successInterval: [interval.low, interval.high],
    return: average,
    returnInterval: [average - half, average + half],
    turns: count === 0 ? 0 : usable.reduce((sum, { turns }) => sum + turns, 0) / count,
    stops,
    ...(Object.keys(metrics).length > 0 && { metrics }),
  };
}

function turnsOf(group: Group, episode: Episode, role: string): number {
  return chainOf(group, episode).transitions.filter((transition) => transition.role === role).length;
}
