/** When a run did no steps, on the axis of minutes: while it was evaluated. */

import type { History } from '../../history.ts';
import type { Axis, SeriesTable } from '../../series.ts';
import type { Span } from '../charts/chart.tsx';

/** Evaluations and the step that they follow are written to the log together. */
const together = 0.1 / 60;

/** The stretch of each evaluation; none on axes that stand still meanwhile, and before the first step, where time begins. */
export function evaluatingSpans(
  { evaluations }: Pick<History, 'evaluations'>,
  { axes: { step: steps, minute: minutes }, began, series }: SeriesTable,
  axis: Axis,
): readonly Span[] {
  if (axis !== 'minute') return [];
  const seconds = series['time/step_s']?.mean;
  return evaluations.flatMap(({ step, time }) => {
    const to = (time - began) / 60_000;
    const own = steps.findLastIndex((one) => one <= step);
    // The log has the step either before its evaluation began, or when it was over.
    const isBefore = own >= 0 && minutes[own]! < to - together;
    const from = isBefore
      ? minutes[own]!
      : (minutes[own - 1] ?? Number.NaN) + (seconds?.[own] ?? Number.NaN) / 60;
    return from < to ? [{ from, to }] : [];
  });
}
