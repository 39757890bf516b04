/** One run as it lies on disk: what it was worth along the way, and what it had spent by then. */

import { sampleStd } from '../core/statistics.ts';
import { collapsed } from '../evidence/collapse.ts';
import { type CurvePoint, meanValue, spentToReach, valueAt } from '../evidence/learning-curve.ts';
import { version } from '../run/version.ts';
import type { TimedEvent } from '../store/event-log.ts';
import { RunDirectory } from '../store/run-directory.ts';
import { runNames } from '../store/runs.ts';
import type { Metrics, Spend, StoredEvent } from '../train/loop/events.ts';
import type { CostAxis } from './budget.ts';

export interface RunPoint {
  readonly step: number;
  readonly spent: Spend;
  readonly success: number;
  readonly return: number;
  /** Turns of an episode, and what the environment says of itself. */
  readonly measured: Metrics;
  /** Of the evaluation; all figures are over these. */
  readonly episodes: number;
  /** Of the average policy, where self-play in a game can be solved. */
  readonly exploitability?: number;
}

export interface RunRecord {
  readonly name: string;
  readonly start: Extract<StoredEvent, { readonly type: 'start' }> | undefined;
  readonly finished: boolean;
  /** The first is the warm start. */
  readonly points: readonly RunPoint[];
  readonly steps: readonly { readonly step: number; readonly spent: Spend; readonly metrics: Metrics }[];
  /** Of the warm start and this run, evaluations included. */
  readonly wallSeconds: number;
}

/** Undefined where no such run began. */
export function readRun(store: string, name: string): RunRecord | undefined {
  if (!runNames(store).includes(name)) return undefined;
  const events = RunDirectory.openForReading({ root: store, name, version }).events.read();
  const all = <Type extends StoredEvent['type']>(type: Type) =>
    events.filter((event) => event.type === type) as Extract<(typeof events)[number], { type: Type }>[];
  const steps = all('step');
  const games = new Map(
    steps.flatMap(({ step, metrics }) => {
      const value = metrics['game/exploitability_average'];
      return value === undefined ? [] : [[step, value] as const];
    }),
  );
  return {
    name,
    start: all('start')[0],
    finished: all('finish').length > 0,
    points: all('evaluation').map(({ step, spent, sampled }) => {
      const exploitability = games.get(step);
      return {
        step,
        spent,
        success: sampled.success,
        return: sampled.return,
        measured: { turns: sampled.turns, ...sampled.metrics },
        episodes: sampled.episodes,
        ...(exploitability !== undefined && { exploitability }),
      };
    }),
    steps,
    wallSeconds: runningSeconds(events),
  };
}

/** From the first event to the last, without the time in which a run waited to be resumed. */
export function runningSeconds(events: readonly TimedEvent[]): number {
  const times = events.map(({ time }) => Date.parse(time));
  const since = (index: number): number => times[index]! - (times[index - 1] ?? times[index]!);
  const running = events.map(({ type }, index) => (type === 'resume' ? 0 : since(index)));
  return running.reduce((sum, time) => sum + time, 0) / 1000;
}

/** What is read off a curve. Self-play is measured by exploitability: every win there is also a loss. */
export type Quantity = 'success' | 'return' | 'exploitability';

/** Over one of the four costs. The points of a game are its steps, so that success at a step without one is left out. */
export function curveOf({ points }: RunRecord, quantity: Quantity, axis: CostAxis): CurvePoint[] {
  return points.flatMap((point) => {
    const value = point[quantity];
    if (value === undefined) return [];
    return [
      {
        spent: point.spent[axis],
        value,
        ...(quantity === 'success' && { episodes: point.episodes }),
      },
    ];
  });
}

/** Where curves are read: an axis, and how far along it. */
export interface Reading {
  readonly quantity: Quantity;
  readonly axis: CostAxis;
  readonly end: number;
}

/** What one run comes to; nothing where it was never measured. */
export interface RunFigures {
  /** At the end of the budget, along the line between evaluations. */
  readonly final: number;
  /** How many episodes `final` is a share of, where it is one. */
  readonly episodes: number | undefined;
  /** Mean along the way to the end of the budget. */
  readonly area: number;
  readonly return: number;
  readonly warm: number;
  readonly spent: Spend;
  readonly collapsed: boolean;
}

export function figuresOf(run: RunRecord, { quantity, axis, end }: Reading): RunFigures | undefined {
  const curve = curveOf(run, quantity, axis);
  const last = run.points.at(-1);
  if (curve.length === 0 || last === undefined) return undefined;
  const within = curve.filter(({ spent }) => spent < end);
  const cut = [...within, { spent: end, value: valueAt(curve, end), ...lastShare(curve) }];
  return {
    final: valueAt(curve, end),
    episodes: curve.at(-1)!.episodes,
    area: meanValue(curve, end),
    return: valueAt(curveOf(run, 'return', axis), end),
    warm: curve[0]!.value,
    spent: spentAt(run, axis, end),
    collapsed: quantity === 'success' && collapsed(cut),
  };
}

/**
 * A metric of evaluations where the budget ends, or `spread/METRIC`: the standard deviation of a metric over the steps that
 * have it. Undefined where no evaluation has it, or fewer than two steps.
 */
export function measuredAt(
  run: RunRecord,
  name: string,
  { axis, end }: Omit<Reading, 'quantity'>,
): number | undefined {
  const [, spread] = name.split(/^spread\//);
  if (spread !== undefined) return spreadOverSteps(run, spread);
  const curve = run.points.flatMap(({ spent, measured }) => {
    const value = measured[name];
    return value === undefined ? [] : [{ spent: spent[axis], value }];
  });
  return curve.length === 0 ? undefined : valueAt(curve, end);
}

function lastShare(curve: readonly CurvePoint[]): { readonly episodes?: number } {
  const { episodes } = curve.at(-1)!;
  return episodes === undefined ? {} : { episodes };
}

/** All four costs where one of them stood at `end`: along the line between steps. */
function spentAt({ steps, points }: RunRecord, axis: CostAxis, end: number): Spend {
  const zero = points[0]!.spent;
  const all = [zero, ...steps.map(({ spent }) => spent)];
  const at = (of: CostAxis): number =>
    valueAt(
      all.map((spent) => ({ spent: spent[axis], value: spent[of] })),
      end,
    );
  return { episodes: at('episodes'), turns: at('turns'), tokens: at('tokens'), seconds: at('seconds') };
}

/** What was spent until success first stood at `level`; the budget where it never did, and then `reached` is false. */
export function costToReach(
  run: RunRecord,
  { quantity, axis, end }: Reading,
  level: number,
): { readonly spent: number; readonly reached: boolean } {
  const spent = spentToReach(curveOf(run, quantity, axis), level);
  return spent === undefined || spent > end ? { spent: end, reached: false } : { spent, reached: true };
}

/** Mean of a metric over the steps that have it; undefined where none has. */
export function meanMetric(run: RunRecord, metric: string): number | undefined {
  const values = overSteps(run, metric);
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function spreadOverSteps(run: RunRecord, metric: string): number | undefined {
  const values = overSteps(run, metric);
  return values.length < 2 ? undefined : sampleStd(values);
}

const overSteps = ({ steps }: RunRecord, metric: string): number[] =>
  steps.flatMap(({ metrics }) => metrics[metric] ?? []);
