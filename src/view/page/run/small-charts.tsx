/** Small charts with the same x-axis and cursor: what most often explains why a run does or does not learn. */

import { useMemo } from 'preact/hooks';
import type { Axis, SeriesTable } from '../../series.ts';
import { Chart, type Line, type Span } from '../charts/chart.tsx';
import { hoveredX, pinnedX } from '../charts/cursor.ts';
import { nearestIndex, rangeOf, smoothed } from '../charts/curve.ts';
import { number } from '../text/format.ts';
import { type SmallChart, smallCharts } from './charts-of-run.ts';

interface SmallChartsProps {
  readonly curves: SeriesTable;
  readonly axis: Axis;
  readonly smoothing: number;
  readonly spans?: readonly Span[];
  readonly onPick: (x: number) => void;
}

export function SmallCharts(props: SmallChartsProps) {
  const measured = smallCharts.filter(({ metric }) =>
    props.curves.series[metric]?.mean.some(Number.isFinite),
  );
  return (
    <div class={measured.length % 3 === 0 ? 'small-charts by-three' : 'small-charts'}>
      {measured.map((chart) => (
        <MetricChart key={chart.metric} chart={chart} {...props} />
      ))}
    </div>
  );
}

interface MetricChartProps extends SmallChartsProps {
  readonly chart: SmallChart;
}

export function MetricChart({ chart, curves, axis, smoothing, spans = [], onPick }: MetricChartProps) {
  const { metric, title, unit, part, transform } = chart;
  const series = curves.series[metric]!;
  const values = useMemo(
    () => (transform ? Float32Array.from(series.mean, transform) : series.mean),
    [series, transform],
  );
  const shaded = part && curves.series[part.metric]?.mean;
  const xs = useMemo(() => Array.from(curves.axes[axis]), [curves, axis]);
  const { lines, range, most } = useMemo(() => {
    const { low, high, beyond } = rangeOf(values);
    const raw = Array.from(values, (value) => (Number.isFinite(value) ? value : null));
    const drawn: Line[] = [
      ...(shaded
        ? [
            {
              colour: 'band',
              values: smoothed(curves.axes.step, shaded, smoothing),
              width: 0,
              filled: true,
            } as const,
          ]
        : []),
      ...(smoothing > 0 ? [{ colour: 'grey', values: raw, width: 1, faint: true } as const] : []),
      {
        colour: 'blue',
        values: smoothing > 0 ? smoothed(curves.axes.step, values, smoothing) : raw,
        width: 1.75,
      },
    ];
    return { lines: drawn, range: [low, high] as const, most: beyond };
  }, [values, shaded, smoothing, curves]);
  const finite = values.filter(Number.isFinite);
  const bounds = `${number(Math.min(0, ...finite))} – ${number(most ?? finite.reduce((a, b) => Math.max(a, b), 0))}`;
  return (
    <section class="card small-chart" aria-label={title}>
      <h2>
        <span>{title}</span> <Value xs={xs} values={values} unit={unit} />
      </h2>
      <Chart
        xs={xs}
        lines={lines}
        range={range}
        height={64}
        spans={spans}
        beyond={most !== undefined}
        onPick={onPick}
        label={`${title}: first ${number(finite[0])}, last ${number(finite.at(-1))}, ${bounds}`}
      />
      <p class="ink3 small">
        <span>{bounds}</span>
        <span>{most !== undefined ? 'top 1 % ▲' : shaded ? part.name : ''}</span>
      </p>
    </section>
  );
}

interface ValueProps {
  readonly xs: readonly number[];
  readonly values: Float32Array;
  readonly unit: string | undefined;
}

/** The value under the pointer, else of the chosen step, else the last. */
function Value({ xs, values, unit }: ValueProps) {
  const x = hoveredX.value ?? pinnedX.value;
  const value = values[x === undefined ? values.length - 1 : nearestIndex(xs, x)];
  return (
    <b>
      {number(value)}
      {unit !== undefined && <span class="ink3"> {unit}</span>}
    </b>
  );
}
