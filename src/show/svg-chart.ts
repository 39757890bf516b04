/** The one writer of static charts: lines with bands over axes, for pictures of their own and for figures on a page. */

import { formatTicks } from './format.ts';
import { escapeHtml } from './html.ts';
import { keptApart } from './kept-apart.ts';

/** Line colours, light and dark, for as many lines as one can tell apart. */
export const lineColours = [
  ['#0a7d5a', '#3fb98f'],
  ['#8250df', '#b392f0'],
  ['#bc4c00', '#f0883e'],
  ['#0969da', '#58a6ff'],
  ['#bf3989', '#f778ba'],
  ['#7d6200', '#d9b13b'],
  ['#1b7c83', '#39c5cf'],
  ['#cf222e', '#ff7b72'],
] as const;

/** The class of a line's colour; further lines begin again, dashed. */
export function lookOf(index: number): string {
  return `c${index % lineColours.length}${index >= lineColours.length ? ' dashed' : ''}`;
}

const colourRules = (side: 0 | 1): string =>
  lineColours.map((pair, index) => `.c${index} { color: ${pair[side]}; }`).join(' ');

/** Rules for everything inside an element of class `chart`, and the colours of `lookOf`. */
export const chartStyle: string = `
  .chart { color-scheme: light dark; font-size: 12px; }
  .chart text { font-family: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; }
  .chart .ink { fill: #1f2328; } .chart .soft { fill: #59636e; }
  .chart .grid { stroke: #d8dee4; } .chart .axis { stroke: #818b98; } .chart .level { stroke: #59636e; stroke-dasharray: 2 4; }
  .chart .line { fill: none; stroke: currentColor; stroke-width: 2.25; stroke-linejoin: round; stroke-linecap: round; }
  .chart .other { stroke-width: 1.75; stroke-dasharray: 5 4; } .chart .dashed.line { stroke-dasharray: 7 5; }
  .chart .thin { fill: none; stroke: currentColor; opacity: 0.3; } .chart .joined { fill: none; stroke: #818b98; opacity: 0.5; }
  .chart .band { fill: currentColor; fill-opacity: 0.15; } .chart .dot, .chart .label { fill: currentColor; }
  .chart .ring { fill: none; stroke: currentColor; stroke-width: 2; } .chart .label { font-weight: 600; }
  ${colourRules(0)}
  @media (prefers-color-scheme: dark) {
    .chart .ink { fill: #e6edf3; } .chart .soft { fill: #9198a1; }
    .chart .grid { stroke: #21262d; } .chart .axis { stroke: #656c76; } .chart .level { stroke: #9198a1; }
    ${colourRules(1)}
  }`;

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface ChartPoint {
  readonly x: number;
  readonly y: number;
  /** A band is drawn through the points that have one. */
  readonly band?: readonly [low: number, high: number];
  /** A word for those who point at its dot. */
  readonly tip?: string;
}

export interface ChartLine {
  /** Class of its colour: `lookOf`. Absent for lines that only join. */
  readonly look?: string;
  /** `main` unless given: `other` is dashed, `thin` one of many, `joined` grey, `dots` has no line. */
  readonly kind?: 'main' | 'other' | 'thin' | 'joined' | 'dots';
  readonly points: readonly ChartPoint[];
  /** Which of its points are dots. Default: none; of kind `dots` all. */
  readonly dots?: 'all' | 'last';
  /** Beside its last point, kept apart from those of other lines. */
  readonly label?: string;
  /** For those who point at it. */
  readonly tip?: string;
}

export interface Chart {
  /** From 0 to `end`. */
  readonly x: {
    readonly title: string;
    readonly end: number;
    readonly ticks: readonly number[];
    readonly labels?: readonly string[];
  };
  /** Horizontal lines; the first and the last bound the chart, and lines stay within it. */
  readonly yTicks: readonly number[];
  /** A dotted line. */
  readonly level?: number;
  readonly lines: readonly ChartLine[];
}

/** Where values lie in the box. */
export interface Scales {
  x(value: number): string;
  y(value: number): string;
}

export function scalesOf({ left, top, width, height }: Box, { x, yTicks }: Chart): Scales {
  const [low, high] = [yTicks[0]!, yTicks.at(-1)!];
  return {
    x: (value) => (left + (value / x.end) * width).toFixed(1),
    y: (value) => {
      const inside = Math.min(high, Math.max(low, value));
      return (top + height - ((inside - low) / (high - low)) * height).toFixed(1);
    },
  };
}

/** The elements of a chart: axes, then bands, lines, dots and labels, so that nothing hides a line. */
export function drawChart(box: Box, chart: Chart): string[] {
  const scales = scalesOf(box, chart);
  const { lines } = chart;
  return [
    ...drawAxes(box, chart, scales),
    ...lines.flatMap((line) => drawBand(line, scales)),
    ...lines.flatMap((line) => drawLine(line, scales)),
    ...lines.flatMap((line) => drawDots(line, scales)),
    ...drawLabels(box, lines, scales),
  ];
}

function drawAxes(
  box: Box,
  { x: { title, ticks, labels }, yTicks, level }: Chart,
  { x, y }: Scales,
): string[] {
  const { left, top, width, height } = box;
  const [right, bottom] = [left + width, top + height];
  const across = (look: string, at: string | number): string =>
    `<line class="${look}" x1="${left}" y1="${at}" x2="${right}" y2="${at}"/>`;
  return [
    ...formatTicks(yTicks).flatMap((text, index) => {
      const at = y(yTicks[index]!);
      return [
        across('grid', at),
        `<text class="soft" x="${left - 10}" y="${Number(at) + 4}" text-anchor="end">${text}</text>`,
      ];
    }),
    ...ticks.map(
      (tick, index) =>
        `<text class="soft" x="${x(tick)}" y="${bottom + 18}" text-anchor="middle">${escapeHtml(labels?.[index] ?? String(tick))}</text>`,
    ),
    across('axis', bottom),
    ...(yTicks[0]! < 0 && yTicks.at(-1)! > 0 ? [across('axis', y(0))] : []),
    ...(level === undefined ? [] : [across('level', y(level))]),
    `<text class="soft" x="${left + width / 2}" y="${bottom + 36}" text-anchor="middle">${escapeHtml(title)}</text>`,
  ];
}

const classOf = (kind: string, look: string | undefined): string =>
  `class="${look ? `${kind} ${look}` : kind}"`;

const tipOf = (tip: string | undefined): string =>
  tip === undefined ? '' : `<title>${escapeHtml(tip)}</title>`;

function drawBand({ look, points }: ChartLine, { x, y }: Scales): string[] {
  const edge = (side: 0 | 1): string[] =>
    points.flatMap((point) => (point.band ? [`${x(point.x)},${y(point.band[side])}`] : []));
  const outline = [...edge(1), ...edge(0).reverse()];
  return outline.length < 4 ? [] : [`<polygon ${classOf('band', look)} points="${outline.join(' ')}"/>`];
}

function drawLine({ look, kind = 'main', points, tip }: ChartLine, { x, y }: Scales): string[] {
  if (kind === 'dots' || points.length === 0) return [];
  const path = points.map((point) => `${x(point.x)},${y(point.y)}`).join(' ');
  const names = { main: 'line', other: 'line other', thin: 'thin', joined: 'joined' };
  return [`<polyline ${classOf(names[kind], look)} points="${path}">${tipOf(tip)}</polyline>`];
}

function drawDots({ look, kind, points, dots }: ChartLine, { x, y }: Scales): string[] {
  const shown = dots === 'all' || kind === 'dots' ? points : dots === 'last' ? points.slice(-1) : [];
  return shown.map(
    (point) =>
      `<circle ${classOf('dot', look)} cx="${x(point.x)}" cy="${y(point.y)}" r="3">${tipOf(point.tip)}</circle>`,
  );
}

/** At the right edge. */
function drawLabels({ left, top, width, height }: Box, lines: readonly ChartLine[], { y }: Scales): string[] {
  const named = lines.filter(({ label, points }) => label !== undefined && points.length > 0);
  const places = keptApart(
    named.map(({ points }) => Number(y(points.at(-1)!.y))),
    16,
    [top, top + height],
  );
  return named.map(
    ({ look, label }, index) =>
      `<text ${classOf('label', look)} x="${left + width + 10}" y="${(places[index]! + 4).toFixed(1)}">${escapeHtml(label!)}</text>`,
  );
}
