/** The numbers of an event, under the paths of docs/metrics.md: the names that every sink uses. */

import type { TimedEvent } from '../../store/log-lines.ts';
import type { EvaluationResult } from '../../train/loop/events.ts';

export interface Measured {
  readonly kind: 'step' | 'clone' | 'evaluation';
  readonly step: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly metrics: Readonly<Record<string, number>>;
}

/** Undefined for an event without numbers. */
export function measuredIn(event: TimedEvent): Measured | undefined {
  const time = Date.parse(event.time);
  switch (event.type) {
    case 'step':
    case 'clone':
      return { kind: event.type, step: event.step, time, metrics: event.metrics };
    case 'evaluation':
      return {
        kind: 'evaluation',
        step: event.step,
        time,
        metrics: {
          ...figuresOf('sampled', event.sampled),
          ...(event.greedy && figuresOf('greedy', event.greedy)),
        },
      };
    default:
      return undefined;
  }
}

function figuresOf(way: string, result: EvaluationResult): Record<string, number> {
  const [low, high] = result.successInterval;
  const figures = {
    success: result.success,
    success_low: low,
    success_high: high,
    return: result.return,
    turns: result.turns,
    episodes: result.episodes,
    ...result.metrics,
  };
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [`eval/${way}/${name}`, value]));
}
