/** Figures of a step's episodes, by metric path (docs/metrics.md). */

import type { Group } from '../../core/episode.ts';
import { isTrainable } from '../../core/stop.ts';
import { actOf, type RoleGroup, roleGroups, sampledTokens } from '../../core/trajectory.ts';
import { environmentMetrics } from '../../rollout/environment-metrics.ts';
import type { Metrics } from './events.ts';

/** Every role of every episode counts once. */
export function rolloutMetrics(
  groups: readonly Group[],
  roles: readonly RoleGroup[] = roleGroups(groups),
): Metrics {
  const trajectories = roles.flatMap(({ members }) => members);
  const usable = trajectories.filter(({ stop }) => isTrainable(stop));
  const turns = usable.flatMap((trajectory) => trajectory.turns);
  // Turns that a branch shares were played once, by its parent.
  const played = usable.flatMap((trajectory) => trajectory.turns.slice(trajectory.sharedTurns ?? 0));
  const sampled = sum(turns.map(sampledTokens));
  const sampledHere = sum(played.map(sampledTokens));
  const contexts = played.flatMap(({ calls }) => calls.map(({ context }) => context.length));
  const metrics: Record<string, number> = {
    'reward/mean': share(sum(usable.map(({ outcome }) => outcome)), usable.length),
    'reward/success': share(usable.filter(({ success }) => success).length, usable.length),
    'episodes/total': groups.reduce((total, { members }) => total + members.length, 0),
    'turns/total': groups.reduce(
      (total, { members }) =>
        total + members.reduce((turns, { transitions }) => turns + transitions.length, 0),
      0,
    ),
    'turns/mean': share(turns.length, usable.length),
    'turns/invalid_share': share(
      turns.filter(({ transition }) => transition?.valid === false).length,
      turns.length,
    ),
    'tokens/sampled': sampledHere,
    'tokens/forward': sampledHere + sum(contexts),
    // The mean surprise of sampled tokens: an unbiased estimate of the policy's entropy.
    'policy/entropy': share(-sum(turns.map(({ calls }) => sum(calls.map(logprobOf)))), sampled),
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
  Object.assign(metrics, environmentMetrics(groups.flatMap(({ members }) => members)));
  for (const { stop } of trajectories) metrics[`stop/${stop}`] = (metrics[`stop/${stop}`] ?? 0) + 1;
  return metrics;
}

function logprobOf({
  trainable,
  logprobs,
}: {
  readonly trainable: unknown;
  readonly logprobs: Float32Array;
}): number {
  return trainable === true ? logprobs.reduce((total, logprob) => total + logprob, 0) : 0;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, x) => total + x, 0);

const share = (count: number, of: number): number => (of === 0 ? 0 : count / of);
