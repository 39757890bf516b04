/** The large chart: success on test tasks with its interval, greedy, and training behind; exploitability for games that have it. */

import { useMemo } from 'preact/hooks';
import { onWhichTasks, taskWord } from '../../../show/task-words.ts';
import type { History } from '../../history.ts';
import { type Axis, axes, type SeriesTable } from '../../series.ts';
import type { RunOverview } from '../../shapes.ts';
import { Chart, type ChartProps, type Line, type Span } from '../charts/chart.tsx';
import { rangeOf, smoothed, smoothings } from '../charts/curve.ts';
import { show } from '../navigation/router.ts';
import { Choice } from '../parts/choice.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { number, share } from '../text/format.ts';
import { exploitability, trainingSuccess } from './charts-of-run.ts';
import type { View } from './run-view.ts';
import { Warnings } from './warnings.tsx';

interface SuccessChartProps {
  readonly overview: RunOverview;
  readonly curves: SeriesTable;
  readonly view: View;
  readonly spans: readonly Span[];
  readonly onPick: (x: number) => void;
}

type Place = (history: History['evaluations'][number], began: number) => number;

const placeOf: Readonly<Record<Axis, Place>> = {
  step: ({ step }) => step,
  minute: ({ time, step }, began) => (step === 0 ? 0 : (time - began) / 60_000),
  episode: ({ spent }) => spent.episodes,
  turn: ({ spent }) => spent.turns,
  token: ({ spent }) => spent.tokens,
};

export function SuccessChart({ overview, curves, view, spans, onPick }: SuccessChartProps) {
  const { axis, smoothing } = view;
  const game = curves.series[exploitability[0]]?.mean.some(Number.isFinite) ?? false;
  const chart = useMemo(
    () => (game ? gameChart(curves, axis) : successLines(overview, curves, axis, smoothing)),
    [overview.history.evaluations, curves, axis, smoothing, game],
  );
  const marks = useMemo(() => marksOf(overview, curves, axis), [overview, curves, axis]);
  const { evaluations } = overview.history;
  return (
    <section class="card success" aria-label="Success">
      <div class="card-head">
        <h2>{game ? 'Exploitability' : 'Success'}</h2>
        <Choice
          label="x-axis"
          isUnseen
          value={axis}
          options={axes.map((name) => [name, `by ${name}`])}
          onChange={(x) => show({ x: x === 'step' ? undefined : x })}
        />
        <Choice
          label="Smoothing"
          isUnseen
          value={smoothing}
          options={smoothings.map((one) => [one, one === 0 ? 'not smoothed' : `smoothing ${one}`])}
          onChange={(smooth) => show({ smooth: smooth === '0.8' ? undefined : smooth })}
        />
        {!game && (
          <span class="ink3 small wide">{onWhichTasks(overview.history.start)}, 95 % interval shaded</span>
        )}
      </div>
      <Chart
        {...chart}
        height={300}
        axes
        marks={marks}
        spans={spans}
        onPick={onPick}
        label={`${game ? 'Exploitability' : 'Success'} by ${axis}; its numbers are in the table below`}
      />
      <p class="ink3 small lanes" aria-hidden="true">
        <span class="blue">▲</span> evaluation <span>◆</span> checkpoint
        {overview.history.resumes.length > 0 && <> ‖ resumed</>}
        {spans.length > 0 && <> ■ shaded: evaluating</>}
        {overview.history.warnings.length > 0 && (
          <>
            {' '}
            <span class="red">!</span> warning
          </>
        )}
      </p>
      <Warnings warnings={overview.history.warnings} />
      <details>
        <summary>Table of evaluations</summary>
        <table class="rows plain">
          <TableHead columns={['Step', 'Sampled', '95 % interval', 'Greedy', 'Return']} />
          <tbody>
            {evaluations.slice(-200).map(({ step, label, sampled, greedy }) => (
              <tr key={`${step} ${label}`}>
                <th scope="row">{step}</th>
                <td>{share(sampled.success, 3)}</td>
                <td>{sampled.successInterval.map((bound) => share(bound, 3)).join('–')}</td>
                <td>{greedy ? share(greedy.success, 3) : '–'}</td>
                <td>{number(sampled.return)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  );
}

type Drawing = Pick<ChartProps, 'xs' | 'lines' | 'band' | 'range'>;

function successLines({ history }: RunOverview, curves: SeriesTable, axis: Axis, smoothing: number): Drawing {
  const training = curves.series[trainingSuccess]!.mean;
  const steps = curves.axes.step;
  const tasks = taskWord(history.start);
  const places = curves.axes[axis];
  const tested = new Map(history.evaluations.map((point) => [placeOf[axis](point, curves.began), point]));
  const xs = [...new Set([...places, ...tested.keys()])].sort((a, b) => a - b);
  const at = new Map(Array.from(places, (x, index) => [x, index]));
  const smooth = smoothed(steps, training, smoothing);
  const trainingAt = (values: ArrayLike<number | null>): (number | null)[] =>
    xs.map((x) => {
      const value = values[at.get(x) ?? -1];
      return value === undefined || value === null || Number.isNaN(value) ? null : value;
    });
  const evaluated = (read: (point: History['evaluations'][number]) => number | undefined) =>
    xs.map((x) => {
      const point = tested.get(x);
      return (point && read(point)) ?? null;
    });
  const isGreedy = history.evaluations.some(({ greedy }) => greedy !== undefined);
  const lines: Line[] = [
    ...(smoothing > 0
      ? [{ colour: 'grey', values: trainingAt(training), width: 1, faint: true } as const]
      : []),
    { colour: 'grey', values: trainingAt(smooth), width: 1.75, label: 'training tasks', short: 'training' },
    ...(isGreedy
      ? [
          {
            colour: 'red',
            dash: [5, 4],
            values: evaluated(({ greedy }) => greedy?.success),
            label: `${tasks}, greedy`,
            short: 'greedy',
          } as const,
        ]
      : []),
    {
      colour: 'blue',
      width: 2,
      points: true,
      values: evaluated(({ sampled }) => sampled.success),
      label: `${tasks}, sampled`,
      short: tasks,
    },
  ];
  return {
    xs,
    lines,
    band: {
      low: evaluated(({ sampled }) => sampled.successInterval[0]),
      high: evaluated(({ sampled }) => sampled.successInterval[1]),
    },
    range: [0, 1],
  };
}

function gameChart(curves: SeriesTable, axis: Axis): Drawing {
  const [average, last] = exploitability.map((name) => curves.series[name]!.mean);
  const { high } = rangeOf([...average!, ...last!]);
  return {
    xs: Array.from(curves.axes[axis]),
    lines: [
      { colour: 'red', dash: [5, 4], values: Array.from(last!, orNull), label: 'last policy', short: 'last' },
      {
        colour: 'blue',
        width: 2,
        values: Array.from(average!, orNull),
        label: 'average policy',
        short: 'average',
      },
    ],
    range: [0, high],
  };
}

const orNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

function marksOf(
  { history, checkpoints }: RunOverview,
  curves: SeriesTable,
  axis: Axis,
): NonNullable<ChartProps['marks']> {
  const places = curves.axes[axis];
  // A point stands for the steps up to its own.
  const xOf = (step: number): number | undefined =>
    step === 0 ? (axis === 'step' ? 0 : undefined) : places[curves.axes.step.findIndex((one) => one >= step)];
  const at = (
    steps: readonly number[],
    row: number,
    glyph: string,
    colour: 'ink3' | 'red',
  ): ChartProps['marks'] =>
    [...new Set(steps)].flatMap((step) => {
      const x = xOf(step);
      return x === undefined ? [] : [{ x, row, glyph, colour }];
    });
  return [
    ...history.evaluations.map((point) => ({
      x: placeOf[axis](point, curves.began),
      row: 0,
      glyph: '▲',
      colour: 'blue' as const,
    })),
    ...at(checkpoints, 1, '◆', 'ink3')!,
    ...at(history.resumes, 1, '‖', 'ink3')!,
    ...at(
      history.warnings.map(({ step }) => step),
      1,
      '!',
      'red',
    )!,
  ];
}
