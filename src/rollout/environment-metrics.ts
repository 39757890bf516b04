/** Figures that environments tell of themselves, as means over the episodes that count. */

import type { Episode } from '../core/episode.ts';
import { isTrainable } from '../core/stop.ts';

/**
 * The mean of each metric of steps and scores, as `env/<name>`, over the steps that told it. Of a world of worlds also how
 * often each of them was played, solved, and what it paid: `env/<world>/episodes`, `/success` and `/reward`.
 */
export function environmentMetrics(episodes: readonly Episode[]): Readonly<Record<string, number>> {
  const sums = new Map<string, { total: number; count: number }>();
  const add = (name: string, figure: number): void => {
    const sum = sums.get(name) ?? { total: 0, count: 0 };
    sum.total += figure;
    sum.count++;
    sums.set(name, sum);
  };
  const played: Record<string, number> = {};
  for (const { stop, part, success, outcome, transitions } of episodes) {
    if (!isTrainable(stop)) continue;
    for (const { metrics } of transitions) {
      if (metrics) for (const [name, figure] of Object.entries(metrics)) add(name, figure);
    }
    if (part === undefined) continue;
    played[`env/${part}/episodes`] = (played[`env/${part}/episodes`] ?? 0) + 1;
    for (const role of Object.keys(outcome)) {
      add(`${part}/success`, success[role] ? 1 : 0);
      add(`${part}/reward`, outcome[role] ?? 0);
    }
  }
  const means = [...sums].map(([name, { total, count }]) => [`env/${name}`, total / count] as const);
  return Object.fromEntries([...means, ...Object.entries(played)].sort(([a], [b]) => (a < b ? -1 : 1)));
}
