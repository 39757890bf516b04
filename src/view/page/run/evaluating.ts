/** When a run did no steps, on the axis of minutes: while it was evaluated. */

import type { History } from '../../history.ts';
import type { Axis, SeriesTable } from '../../series.ts';
import type { Span } from '../charts/chart.tsx';

/** The stretches from the last step before each evaluation to its end; none on axes that stand still meanwhile. */
export function evaluatingSpans(
  { evaluations }: Pick<History, 'evaluations'>,
  { axes, began }: Pick<SeriesTable, 'axes' | 'began'>,
  axis: Axis,
): readonly Span[] {
  if (axis !== 'minute') return [];
  return evaluations.flatMap(({ step, time }) => {
    const from = axes.minute[axes.step.findLastIndex((one) => one <= step)];
    const to = (time - began) / 60_000;
    return from === undefined || from >= to ? [] : [{ from, to }];
  });
}
