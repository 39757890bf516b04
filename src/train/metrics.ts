/** Figures of a step's episodes, by metric path (docs/metrics.md). */

import { isTrainable } from '../core/stop.ts';
import type { Trajectory } from '../core/trajectory.ts';
import type { Metrics } from './events.ts';

export function rolloutMetrics(trajectories: readonly Trajectory[]): Metrics {
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, x) => total + x, 0);
  const usable = trajectories.filter(({ stop }) => isTrainable(stop));
  const turns = usable.flatMap((trajectory) => trajectory.turns);
  const share = (count: number, of: number): number => (of === 0 ? 0 : count / of);
  const sampled = sum(turns.map(({ ids }) => ids.length));
  // Turns that a branch copied were played once, by its parent.
  const played = usable.flatMap((trajectory) => trajectory.turns.slice(trajectory.sharedTurns ?? 0));
  const sampledHere = sum(played.map(({ ids }) => ids.length));
  const metrics: Record<string, number> = {
    'reward/mean': share(sum(usable.map(({ outcome }) => outcome)), usable.length),
    'reward/success': share(usable.filter(({ success }) => success).length, usable.length),
    'turns/mean': share(turns.length, usable.length),
    'turns/total': played.length,
    'turns/invalid_share': share(turns.filter(({ valid }) => !valid).length, turns.length),
    'tokens/sampled': sampledHere,
    'tokens/forward': sampledHere + sum(played.map(({ contextIds }) => contextIds.length)),
    // The mean surprise of sampled tokens: an unbiased estimate of the policy's entropy.
    'policy/entropy': share(-sum(turns.flatMap(({ logprobs }) => logprobs)), sampled),
  };
  for (const { untrainable } of turns) {
    if (untrainable) metrics[`untrainable/${untrainable}`] = (metrics[`untrainable/${untrainable}`] ?? 0) + 1;
  }
  for (const { stop } of trajectories) metrics[`stop/${stop}`] = (metrics[`stop/${stop}`] ?? 0) + 1;
  return metrics;
}
