/** Figures of a step's episodes, by metric path (docs/metrics.md). */

import type { Episode, Group } from '../../core/episode.ts';
import { isTrainable } from '../../core/stop.ts';
import { entropyOf } from '../../core/surprise.ts';
import {
  actOf,
  isTrained,
  type RoleGroup,
  roleGroups,
  sampledTokens,
  type Trajectory,
} from '../../core/trajectory.ts';
import { JUDGE } from '../../rollout/ask-judge.ts';
import { environmentMetrics } from '../../rollout/environment-metrics.ts';
import type { Metrics } from './events.ts';

/** Every role of every episode counts once. A mean over nothing, as where no episode was played, is left out. */
export function rolloutMetrics(
  groups: readonly Group[],
  roles: readonly RoleGroup[] = roleGroups(groups),
): Metrics {
  const trajectories = roles.flatMap(({ members }) => members);
  const usable = trajectories.filter(({ stop }) => isTrainable(stop));
  const turns = usable.flatMap((trajectory) => trajectory.turns);
  // Turns that a branch shares were played once, by its parent.
  const ownTurns = ({ turns: all, sharedTurns = 0 }: Trajectory) => all.slice(sharedTurns);
  const played = usable.flatMap(ownTurns);
  // What failed was paid for, too.
  const paid = trajectories.flatMap(ownTurns);
  const sampled = sum(turns.map(sampledTokens));
  const trained = turns.flatMap(({ calls }) => calls.filter(isTrained));
  const sampledHere = sum(paid.map(sampledTokens));
  const contexts = paid.flatMap(({ calls }) => calls.map(({ context }) => context.length));
  const metrics: Record<string, number> = {
    ...mean('reward/mean', sum(usable.map(({ outcome }) => outcome)), usable.length),
    ...mean('reward/success', usable.filter(({ success }) => success).length, usable.length),
    ...mean('reward/success_of_all', usable.filter(({ success }) => success).length, trajectories.length),
    'episodes/total': groups.reduce((total, { members }) => total + members.length, 0),
    'turns/total': groups.reduce(
      (total, { members }) =>
        total + members.reduce((turns, { transitions }) => turns + transitions.length, 0),
      0,
    ),
    ...mean('turns/mean', turns.length, usable.length),
    ...mean(
      'turns/invalid_share',
      turns.filter(({ transition }) => transition?.valid === false).length,
      turns.length,
    ),
    ...mean('turns/tokens', sampled, turns.length),
    'tokens/sampled': sampledHere,
    'tokens/forward': sampledHere + sum(contexts),
    ...(sampled > 0 && { 'policy/entropy': entropyOf(trained) }),
  };
  for (const turn of turns) {
    const trainable = actOf(turn)?.trainable ?? true;
    if (trainable === true) continue;
    metrics[`untrainable/${trainable}`] = (metrics[`untrainable/${trainable}`] ?? 0) + 1;
  }
  const asked = played.flatMap(({ calls }) => calls.filter(({ purpose }) => purpose !== 'act'));
  if (asked.length > 0) {
    metrics['asked/total'] = asked.length;
    metrics['asked/cut'] = asked.filter(({ finish }) => finish === 'length').length;
  }
  const judged = sum(groups.flatMap(({ members }) => members.map(judgeCalls)));
  if (judged > 0) metrics['judge/calls'] = judged;
  for (const { newPath } of played.flatMap(({ calls }) => calls)) {
    if (newPath !== undefined) metrics[`newPath/${newPath}`] = (metrics[`newPath/${newPath}`] ?? 0) + 1;
  }
  Object.assign(metrics, environmentMetrics(groups.flatMap(({ members }) => members)));
  for (const { stop } of trajectories) metrics[`stop/${stop}`] = (metrics[`stop/${stop}`] ?? 0) + 1;
  return metrics;
}

const judgeCalls = ({ calls }: Episode): number => calls.filter(({ role }) => role === JUDGE).length;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, x) => total + x, 0);

const mean = (name: string, total: number, of: number): Metrics => (of === 0 ? {} : { [name]: total / of });
