/** One finished run as a curve of what it was worth over what it had spent. */

import { gameCurve, type RunHistory, returnDiffers, valuesOf } from '../run-history.ts';
import { taskNoun } from '../task-words.ts';

/** What recipes are compared by. */
export interface Measure {
  readonly kind: 'success' | 'return' | 'exploitability';
  readonly title: string;
  readonly better: 'higher' | 'lower';
  /** What a run should reach; nothing where no level means much. */
  readonly level?: number;
}

const success = (tasks: string): Measure => ({
  kind: 'success',
  title: `Success on ${tasks}`,
  better: 'higher',
  level: 0.8,
});

/** In self-play every win is also a loss, so that success says nothing. */
const exploitability: Measure = {
  kind: 'exploitability',
  title: 'Exploitability of the average policy',
  better: 'lower',
};

/** The same curves by return, where it says more than success. */
export const returnMeasure = (tasks: string): Measure => ({
  kind: 'return',
  title: `Return on ${tasks}`,
  better: 'higher',
});

export function byReturn({ points, ...curve }: RunCurve): RunCurve {
  return {
    ...curve,
    points: points.map(({ interval: _, ...point }) => ({ ...point, value: point.return ?? point.value })),
  };
}

export interface RunPoint {
  readonly step: number;
  /** Environment steps so far. */
  readonly turns: number;
  /** Tokens processed so far, to act and to learn. */
  readonly tokens: number;
  readonly value: number;
  readonly interval?: readonly [number, number];
  readonly return?: number;
}

export interface RunCurve {
  /** At least one; the first is the warm start, where it was measured. */
  readonly points: readonly RunPoint[];
  readonly stepSeconds: readonly number[];
  readonly returnDiffers: boolean;
}

/** What the tasks of the evaluations are called; every run of a comparison has the same. */
export function tasksOf(histories: readonly RunHistory[]): string {
  return taskNoun(histories.find(({ start }) => start)?.start);
}

export function measureOf(histories: readonly RunHistory[]): Measure {
  return histories.some((history) => gameCurve(history).length > 0)
    ? exploitability
    : success(tasksOf(histories));
}

export function runCurve(history: RunHistory, measure: Measure): RunCurve {
  const { evaluations, steps } = history;
  const spent = new Map([
    [0, { turns: 0, tokens: 0 }],
    ...steps.map(({ step, spent: { turns, tokens } }) => [step, { turns, tokens }] as const),
  ]);
  const points: RunPoint[] =
    measure.kind === 'exploitability'
      ? gameCurve(history).map(({ step, average }) => ({ step, ...spent.get(step)!, value: average }))
      : evaluations.map(({ step, sampled }) => ({
          step,
          ...spent.get(step)!,
          value: sampled.success,
          interval: sampled.successInterval,
          return: sampled.return,
        }));
  return {
    points,
    stepSeconds: valuesOf(steps, 'time/step_s'),
    returnDiffers: returnDiffers(evaluations),
  };
}
