/** What the events of a run say, gathered for tables, charts and summaries. */

import type { TimedEvent } from '../store/event-log.ts';
import type { EvaluationResult, Metrics, StoredEvent } from '../train/loop/events.ts';
import { formatCount } from './format.ts';

type EventOf<Type extends StoredEvent['type']> = Extract<TimedEvent, { readonly type: Type }>;

export interface RunHistory {
  readonly start: EventOf<'start'> | undefined;
  readonly evaluations: readonly EventOf<'evaluation'>[];
  readonly before: EventOf<'evaluation'> | undefined;
  readonly after: EventOf<'evaluation'> | undefined;
  readonly steps: readonly EventOf<'step'>[];
  readonly finish: EventOf<'finish'> | undefined;
  readonly warnings: readonly EventOf<'warning'>[];
  /** The step after which it went on last; undefined where it ran in one piece. */
  readonly resumedAfter: number | undefined;
  /** Wall-clock seconds from the first to the last event. */
  readonly seconds: number;
}

export function runHistory(events: readonly TimedEvent[]): RunHistory {
  const all = <Type extends StoredEvent['type']>(type: Type): EventOf<Type>[] =>
    events.filter((event): event is EventOf<Type> => event.type === type);
  const evaluations = all('evaluation');
  const times = events.map((event) => Date.parse(event.time));
  return {
    start: all('start')[0],
    evaluations,
    before: evaluations.find((event) => event.label === 'before'),
    after: evaluations.findLast((event) => event.label === 'after'),
    steps: all('step'),
    finish: all('finish').at(-1),
    warnings: all('warning'),
    resumedAfter: all('resume').at(-1)?.step,
    seconds: times.length === 0 ? 0 : (times.at(-1)! - times[0]!) / 1000,
  };
}

/** `498k parameters`, or the model of a server, whose size is unknown. */
export function modelFact({
  parameters,
  server,
}: Pick<Extract<StoredEvent, { readonly type: 'start' }>, 'parameters' | 'server'>): string {
  return parameters === undefined
    ? (server ?? 'a model of unknown size')
    : `${formatCount(parameters)} parameters`;
}

/** Sum of a metric over the steps; 0 where no step has it. */
export function totalOf(history: RunHistory, metric: string): number {
  return history.steps.reduce((sum, event) => sum + (event.metrics[metric] ?? 0), 0);
}

/** The values of a metric, step by step, without the steps that lack it. */
export function valuesOf(events: readonly { readonly metrics: Metrics }[], metric: string): number[] {
  return events.flatMap((event) => event.metrics[metric] ?? []);
}

/** Whether return says more than success: false where a success is worth 1 and nothing else is rewarded. */
export function returnDiffers(evaluations: readonly { readonly sampled: EvaluationResult }[]): boolean {
  return evaluations.some(({ sampled }) => Math.abs(sampled.return - sampled.success) > 1e-6);
}

/** How exploitable self-play is after a step. */
export interface GamePoint {
  readonly step: number;
  /** The average of all policies so far. */
  readonly average: number;
  /** The last policy alone. */
  readonly last: number;
}

/** Exploitability step by step; empty where there is no self-play in a game that can be solved. */
export function gameCurve({ steps }: Pick<RunHistory, 'steps'>): GamePoint[] {
  return steps.flatMap(({ step, metrics }) => {
    const { 'game/exploitability_average': average, 'game/exploitability_last': last } = metrics;
    return average === undefined || last === undefined ? [] : [{ step, average, last }];
  });
}
