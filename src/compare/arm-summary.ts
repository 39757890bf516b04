/** What an arm came to over the seeds that it has. */

import { mean, quantile } from '../core/statistics.ts';
import { collapseBound } from '../evidence/collapse.ts';
import type { Spend } from '../train/loop/events.ts';
import { type CostAxis, costAxes } from './budget.ts';
import { costToReach, type Reading, type RunFigures } from './run-record.ts';
import { type ArmResult, costLevel } from './world-results.ts';

/** Figures of an arm over the seeds that it has. */
export interface ArmSummary {
  readonly counted: number;
  readonly diverged: number;
  readonly missing: number;
  readonly warm: number;
  readonly final: number;
  readonly area: number;
  readonly return: number;
  /** Means over seeds of what was spent where the budget ends. */
  readonly spent: Spend;
  /** Medians over seeds of what was spent until success was `costLevel`: null where half never got there. */
  readonly toLevel: Readonly<Record<CostAxis, number | null>>;
  readonly reached: number;
  readonly collapses: number;
  /** No collapse was seen, and yet this rate of collapses is possible, at 95%. */
  readonly collapseBound: number;
  readonly secondsPerStep: number;
}

/** Null where no seed has figures. */
export function summaryOf({ seeds }: ArmResult, reading: Reading): ArmSummary | null {
  const runs = seeds.flatMap(({ run, figures }) => (run && figures ? [{ run, figures }] : []));
  if (runs.length === 0) return null;
  const over = (of: (figures: RunFigures) => number): number => mean(runs.map(({ figures }) => of(figures)));
  const byAxis = <T>(of: (axis: CostAxis) => T) =>
    Object.fromEntries(costAxes.map((axis) => [axis, of(axis)])) as Record<CostAxis, T>;
  const whole = (axis: CostAxis): Reading => ({ ...reading, axis, end: Number.POSITIVE_INFINITY });
  const costs = (axis: CostAxis) => runs.map(({ run }) => costToReach(run, whole(axis), costLevel));
  return {
    counted: runs.length,
    diverged: seeds.filter(({ diverged }) => diverged).length,
    missing: seeds.length - runs.length,
    warm: over(({ warm }) => warm),
    final: over(({ final }) => final),
    area: over(({ area }) => area),
    return: over((figures) => figures.return),
    spent: byAxis((axis) => over(({ spent }) => spent[axis])),
    toLevel: byAxis((axis) => {
      const sorted = costs(axis).map(({ spent, reached }) => (reached ? spent : Number.MAX_VALUE));
      const median = quantile(sorted, 0.5);
      return median > Number.MAX_VALUE / 4 ? null : median;
    }),
    reached: costs('turns').filter(({ reached }) => reached).length,
    collapses: runs.filter(({ figures }) => figures.collapsed).length,
    collapseBound: collapseBound(runs.length),
    secondsPerStep: quantile(
      runs.flatMap(({ run }) => run.steps.map(({ metrics }) => metrics['time/step_s'] ?? 0)),
      0.5,
    ),
  };
}
