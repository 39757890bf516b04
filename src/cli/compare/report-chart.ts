/** Curves for a page: lines are an SVG that stretches, labels are text beside it, so that both fit any width. */

import { formatCount, formatScore, formatTicks, niceTicks } from '../../show/format.ts';
import { escapeHtml } from '../../show/html.ts';
import type { BandPoint } from './bands.ts';

/** Size of the drawing; it is stretched to the page. */
const size = 1000;

export interface ChartLine {
  readonly name: string;
  /** Class of its colour. */
  readonly look: string;
  /** Thick, with its interval as a band. */
  readonly mean: readonly BandPoint[];
  /** Thin: every seed. */
  readonly seeds: readonly (readonly { readonly spent: number; readonly value: number }[])[];
}

export interface Chart {
  readonly title: string;
  readonly xName: string;
  /** Where the drawing ends: at the budget, for all lines. */
  readonly end: number;
  /** What the y axis holds at least. */
  readonly low: number;
  readonly high: number;
  /** A dotted line. */
  readonly level?: number;
}

export function chartFigure(lines: readonly ChartLine[], chart: Chart): string {
  const { title, xName, end, level } = chart;
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
  const yTicks = niceTicks(Math.min(chart.low, ...values), Math.max(chart.high, ...values), 5);
  const [low, high] = [yTicks[0]!, yTicks.at(-1)!];
  const xTicks = niceTicks(0, end, 5).filter((tick) => tick <= end);
  const x = (spent: number): string => ((spent / end) * size).toFixed(1);
  const y = (value: number): string => {
    const inside = Math.min(high, Math.max(low, value));
    return ((1 - (inside - low) / (high - low)) * size).toFixed(1);
  };
  const path = (of: readonly (readonly [number, number])[]): string =>
    of.map(([spent, value], index) => `${index === 0 ? 'M' : 'L'}${x(spent)} ${y(value)}`).join('');
  const across = (value: number, kind: string): string =>
    `<path class="${kind}" d="M0 ${y(value)}H${size}"/>`;
  const drawn = shown.map(({ name, look, mean, seeds }) => {
    const last = mean.at(-1);
    if (last === undefined) return '';
    const banded = mean.flatMap(({ spent, interval }) => (interval ? [{ spent, ...interval }] : []));
    const outline = [
      ...banded.map((point) => [point.spent, point.high] as const),
      ...banded.toReversed().map((point) => [point.spent, point.low] as const),
    ];
    return [
      `<g class="${look}"><title>${escapeHtml(name)}: ${formatScore(last.value, 3)} after ${formatCount(last.spent)}</title>`,
      banded.length > 1 ? `<path class="band" d="${path(outline)}Z"/>` : '',
      ...(seeds.length > 1
        ? seeds.map(
            (seed) => `<path class="seed" d="${path(seed.map(({ spent, value }) => [spent, value]))}"/>`,
          )
        : []),
      `<path class="curve" d="${path(mean.map(({ spent, value }) => [spent, value]))}"/>`,
      `<path class="dot" d="M${x(last.spent)} ${y(last.value)}h0"/></g>`,
    ].join('');
  });
  const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;
  const yLabels = formatTicks(yTicks).map(
    (label, index) =>
      `<span style="bottom:${percent((yTicks[index]! - low) / (high - low))}">${label}</span>`,
  );
  const xNames = end < 10 ? formatTicks(xTicks) : xTicks.map(shortCount);
  const xLabels = xTicks.map(
    (tick, index) =>
      `<span${tick / end > 0.95 ? ' class="last"' : ''} style="left:${percent(tick / end)}">${xNames[index]}</span>`,
  );
  const zero = low < 0 ? across(0, 'base') : '';
  return `<figure class="card"><figcaption>${escapeHtml(title)}</figcaption>
<div class="plot"><div class="ys" aria-hidden="true">${yLabels.join('')}</div>
<div class="area"><svg viewBox="0 0 ${size} ${size}" preserveAspectRatio="none" role="img" aria-label="${escapeHtml(`${title}, over ${xName}`)}">
${yTicks.map((tick) => across(tick, tick === low && low >= 0 ? 'base' : 'grid')).join('')}${zero}${level === undefined ? '' : across(level, 'level')}
${drawn.join('\n')}
</svg></div>
<div class="xs" aria-hidden="true">${xLabels.join('')}<span class="axis-name">${escapeHtml(xName)}</span></div></div></figure>`;
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
  const yTicks = niceTicks(Math.min(bounds[0], ...all), Math.max(bounds[1], ...all), 5);
  const [low, high] = [yTicks[0]!, yTicks.at(-1)!];
  const x = (column: number): number => ((column + 0.5) / columns.length) * size;
  const y = (value: number): string => ((1 - (value - low) / (high - low)) * size).toFixed(1);
  const seeds = [...new Set(columns.flatMap(({ values }) => [...values.keys()]))];
  const lines = seeds.map((seed) => {
    const points = columns.flatMap(({ values }, column) => {
      const value = values.get(seed);
      return value === undefined ? [] : [`${x(column).toFixed(1)} ${y(value)}`];
    });
    return `<path class="pairing" d="M${points.join('L')}"/>`;
  });
  const dots = columns.map(({ look, values }, column) =>
    [...values]
      .map(
        ([seed, value]) =>
          `<g class="${look}"><title>seed ${seed}: ${formatScore(value, 3)}</title><path class="dot" d="M${x(column).toFixed(1)} ${y(value)}h0"/></g>`,
      )
      .join(''),
  );
  const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;
  const yLabels = formatTicks(yTicks).map(
    (label, index) =>
      `<span style="bottom:${percent((yTicks[index]! - low) / (high - low))}">${label}</span>`,
  );
  const names = columns.map(
    ({ name }, column) => `<span style="left:${percent(x(column) / size)}">${escapeHtml(name)}</span>`,
  );
  const grid = yTicks.map((tick) => `<path class="grid" d="M0 ${y(tick)}H${size}"/>`).join('');
  return `<figure class="card"><figcaption>${escapeHtml(title)}</figcaption>
<div class="plot"><div class="ys" aria-hidden="true">${yLabels.join('')}</div>
<div class="area"><svg viewBox="0 0 ${size} ${size}" preserveAspectRatio="none" role="img" aria-label="${escapeHtml(title)}">
${grid}${lines.join('')}${dots.join('')}
</svg></div><div class="xs" aria-hidden="true">${names.join('')}</div></div></figure>`;
}

/** 20k rather than 20.0k. */
function shortCount(value: number): string {
  return formatCount(value)
    .replace(/(\.\d*?)0+(?=[kM]$)/, '$1')
    .replace(/\.(?=[kM]$)/, '');
}
