/** What a page knows of a run and what happens while it is open: the server would answer the same. */

import { exactNumber } from '../core/json/exact-json.ts';
import type { TimedEvent } from '../store/log-lines.ts';
import { withEvent } from './history.ts';
import type { RunOverview } from './shapes.ts';

/** Of the metrics: how many episodes of a step failed, by origin. */
export const failurePrefix = 'stop/failed:';

export function withEvents(overview: RunOverview, events: readonly TimedEvent[]): RunOverview {
  return events.reduce(withOne, overview);
}

function withOne(overview: RunOverview, event: TimedEvent): RunOverview {
  const history = withEvent(overview.history, event);
  if (event.type !== 'step') return { ...overview, history };
  const numbers = Object.entries(event.metrics).map(
    ([name, value]) => [name, exactNumber(value) ?? Number.NaN] as const,
  );
  const failed = { ...overview.failed };
  for (const [name, value] of numbers) {
    const origin = name.slice(failurePrefix.length);
    if (name.startsWith(failurePrefix)) failed[origin] = (failed[origin] ?? 0) + value;
  }
  const metrics = new Set([...overview.metrics, ...Object.keys(event.metrics)]);
  return {
    ...overview,
    history,
    latest: Object.fromEntries(numbers.map(([name, value]) => [name, Number.isFinite(value) ? value : null])),
    failed,
    metrics: metrics.size > overview.metrics.length ? [...metrics].sort() : overview.metrics,
    episodes: event.spent.episodes,
  };
}

/** With steps that were stored meanwhile. */
export function withStored(
  overview: RunOverview,
  { steps, evaluations }: { readonly steps: readonly number[]; readonly evaluations: readonly number[] },
): RunOverview {
  return {
    ...overview,
    stored: merged(overview.stored, steps),
    evaluated: merged(overview.evaluated, evaluations),
  };
}

const merged = (known: readonly number[], more: readonly number[]): number[] =>
  [...new Set([...known, ...more])].sort((a, b) => a - b);
