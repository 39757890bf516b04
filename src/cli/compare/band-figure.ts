/** Figures of comparisons: means of several seeds with their bands, and the ends of runs. */

import { chartFigure } from '../../show/chart-frame.ts';
import { formatCount, formatScore, formatTicks, niceTicks } from '../../show/format.ts';
import type { ChartLine } from '../../show/svg-chart.ts';
import type { BandPoint } from './bands.ts';

export interface BandLine {
  readonly name: string;
  /** Class of its colour. */
  readonly look: string;
  /** Thick, with its interval as a band. */
  readonly mean: readonly BandPoint[];
  /** Thin: every seed. */
  readonly seeds: readonly (readonly { readonly spent: number; readonly value: number }[])[];
}

export function bandFigure(
  lines: readonly BandLine[],
  figure: {
    readonly title: string;
    readonly xName: string;
    /** Where the drawing ends: at the budget, for all lines. */
    readonly end: number;
    /** What the y axis holds at least. */
    readonly low: number;
    readonly high: number;
    /** A dotted line. */
    readonly level?: number;
  },
): string {
  const { title, xName, end, level } = figure;
  if (lines.every(({ mean }) => mean.length === 0)) return '';
  const shown = lines.map(({ seeds, ...line }) => ({
    ...line,
    seeds: seeds.map((seed) => seed.filter(({ spent }) => spent <= end * (1 + 1e-9))),
  }));
  const values = shown.flatMap(({ seeds, mean }) => [
    ...seeds.flat().map(({ value }) => value),
    ...mean.flatMap(({ value, interval }) =>
      interval && seeds.length === 0 ? [value, interval.low, interval.high] : [value],
    ),
  ]);
  const ticks = niceTicks(0, end, 5).filter((tick) => tick <= end);
  const labels = end < 10 ? formatTicks(ticks) : ticks.map(shortCount);
  return chartFigure(title, {
    x: { title: xName, end, ticks, labels },
    yTicks: niceTicks(Math.min(figure.low, ...values), Math.max(figure.high, ...values), 5),
    ...(level !== undefined && { level }),
    lines: shown.flatMap(chartLines),
  });
}

function chartLines({ name, look, mean, seeds }: BandLine): ChartLine[] {
  const last = mean.at(-1);
  if (last === undefined) return [];
  const points = mean.map(({ spent, value, interval }) => ({
    x: spent,
    y: value,
    ...(interval && { band: [interval.low, interval.high] as const }),
  }));
  const tip = `${name}: ${formatScore(last.value, 3)} after ${formatCount(last.spent)}`;
  const thin = seeds.length > 1 ? seeds : [];
  return [
    ...thin.map((seed) => ({
      ...{ look, kind: 'thin' as const },
      points: seed.map(({ spent, value }) => ({ x: spent, y: value })),
    })),
    { look, points, tip, dots: 'last' },
  ];
}

export interface SlopeColumn {
  readonly name: string;
  readonly look: string;
  /** By seed. */
  readonly values: ReadonlyMap<number, number>;
}

/** The end of every run as a dot, pairs joined: two humps show here only. */
export function slopeFigure(
  columns: readonly SlopeColumn[],
  title: string,
  bounds: readonly [number, number],
): string {
  const all = columns.flatMap(({ values }) => [...values.values()]);
  if (all.length === 0) return '';
  const seeds = [...new Set(columns.flatMap(({ values }) => [...values.keys()]))];
  const middle = (column: number): number => column + 0.5;
  const joined = seeds.map((seed) => ({
    kind: 'joined' as const,
    points: columns.flatMap(({ values }, column) => {
      const value = values.get(seed);
      return value === undefined ? [] : [{ x: middle(column), y: value }];
    }),
  }));
  const dots = columns.map(({ look, values }, column) => ({
    ...{ look, kind: 'dots' as const },
    points: [...values].map(([seed, value]) => ({
      ...{ x: middle(column), y: value },
      tip: `seed ${seed}: ${formatScore(value, 3)}`,
    })),
  }));
  return chartFigure(title, {
    x: {
      title: '',
      end: columns.length,
      ticks: columns.map((_, column) => middle(column)),
      labels: columns.map(({ name }) => name),
    },
    yTicks: niceTicks(Math.min(bounds[0], ...all), Math.max(bounds[1], ...all), 5),
    lines: [...joined, ...dots],
  });
}

/** 20k rather than 20.0k. */
function shortCount(value: number): string {
  return formatCount(value)
    .replace(/(\.\d*?)0+(?=[kM]$)/, '$1')
    .replace(/\.(?=[kM]$)/, '');
}
