/** The learning curve as a self-contained SVG that reads well on light and dark pages. */

import type { EvaluationResult } from '../train/loop/events.ts';
import { formatInterval, formatScore, niceTicks } from './format.ts';
import { type GamePoint, returnDiffers } from './run-history.ts';
import { drawAxes, keptApart, plotStyle, svgDocument } from './svg-plot.ts';

export interface CurvePoint {
  readonly step: number;
  readonly sampled: EvaluationResult;
  readonly greedy: EvaluationResult;
}

export interface Curve {
  readonly title: string;
  readonly subtitle: string;
  /** What the tasks of the evaluations are called. */
  readonly tasks: string;
  /** Evaluations in order of steps; the first is the warm start. */
  readonly points: readonly CurvePoint[];
  /** In self-play, instead of success: how exploitable the average of all policies and the last one are. */
  readonly game?: readonly GamePoint[];
}

interface Point {
  readonly step: number;
  readonly value: number;
  readonly interval?: readonly [number, number];
}

/** One chart: a main line with its band, and another line to compare. */
interface Panel {
  readonly name: string;
  readonly note: string;
  readonly main: { readonly label: string; readonly points: readonly Point[] };
  readonly other: { readonly label: string; readonly points: readonly Point[] };
  /** What the first point of the main line is called. */
  readonly start: string;
  readonly range?: readonly [number, number];
}

function evaluationPanel(
  name: string,
  points: readonly CurvePoint[],
  value: (result: EvaluationResult) => number,
  interval: (result: EvaluationResult) => readonly [number, number],
): Panel {
  return {
    name,
    note: 'band: 95% interval, sampled at temperature 1',
    main: {
      label: 'sampled',
      points: points.map(({ step, sampled }) => ({
        step,
        value: value(sampled),
        interval: interval(sampled),
      })),
    },
    other: { label: 'greedy', points: points.map(({ step, greedy }) => ({ step, value: value(greedy) })) },
    start: 'warm start',
  };
}

function panelsOf({ points, game, tasks }: Curve): Panel[] {
  if (game && game.length > 0) {
    return [
      {
        name: 'Exploitability',
        note: 'half of NashConv; 0 is an equilibrium',
        main: { label: 'average', points: game.map(({ step, average }) => ({ step, value: average })) },
        other: { label: 'last', points: game.map(({ step, last }) => ({ step, value: last })) },
        start: 'first step',
        range: [0, 0.1],
      },
    ];
  }
  const success = evaluationPanel(
    `Success on ${tasks}`,
    points,
    (result) => result.success,
    (result) => result.successInterval,
  );
  const panels: Panel[] = [{ ...success, range: [0, 1] }];
  if (returnDiffers(points)) {
    panels.push(
      evaluationPanel(
        `Return on ${tasks}`,
        points,
        (result) => result.return,
        (result) => result.returnInterval,
      ),
    );
  }
  return panels;
}

const width = 744;
const plotHeight = 230;
const margin = { left: 64, right: 128, header: 64, panel: 34, axis: 44 } as const;
const plotWidth = width - margin.left - margin.right;

const style = plotStyle(
  `.sampled { stroke: #0a7d5a; } .sampled-fill { fill: #0a7d5a; } .band { fill: #0a7d5a; fill-opacity: 0.16; }
  .greedy { stroke: #8250df; } .greedy-fill { fill: #8250df; } .warm { stroke: #bc4c00; } .warm-fill { fill: #bc4c00; }`,
  `.sampled { stroke: #3fb98f; } .sampled-fill { fill: #3fb98f; } .band { fill: #3fb98f; fill-opacity: 0.2; }
    .greedy { stroke: #b392f0; } .greedy-fill { fill: #b392f0; } .warm { stroke: #f0883e; } .warm-fill { fill: #f0883e; }`,
);

/** An SVG document: success with its 95% band, greedy beside it, and return below where it says more than success. */
export function curveSvg(curve: Curve): string {
  const { title, subtitle } = curve;
  const panels = panelsOf(curve);
  const panelHeight = margin.panel + plotHeight + margin.axis;
  const height = margin.header + panels.length * panelHeight + 8;
  const body = panels.map((panel, index) => drawPanel(panel, margin.header + index * panelHeight));
  const description = `${title}: ${describe(panels[0]!)}`;
  return svgDocument({ width, height, description, style, title, subtitle, body });
}

function describe({ name, main, start }: Panel): string {
  const [first, last] = [main.points[0], main.points.at(-1)];
  if (!first || !last) return 'no evaluations yet';
  return `${name.toLowerCase()} ${formatScore(first.value)} at the ${start}, ${formatPoint(last, 2)} at the end`;
}

function formatPoint({ value, interval }: Point, decimals: number): string {
  return interval ? formatInterval(value, interval, decimals) : formatScore(value, decimals);
}

function drawPanel(panel: Panel, top: number): string {
  const { main, other, range } = panel;
  const points = [...main.points, ...other.points];
  const values = [...points.flatMap(({ value, interval }) => interval ?? [value]), ...(range ?? [])];
  const yTicks = niceTicks(Math.min(...values), Math.max(...values), 5);
  const lastStep = Math.max(1, ...points.map((point) => point.step));
  const xTicks = niceTicks(0, lastStep, 6).filter((tick) => tick <= lastStep && Number.isInteger(tick));
  const plotTop = top + margin.panel;
  const bottom = plotTop + plotHeight;
  const right = margin.left + plotWidth;
  const { x, y, ...axes } = drawAxes(
    { left: margin.left, top: plotTop, width: plotWidth, height: plotHeight },
    { title: 'reinforcement-learning step', end: lastStep, ticks: xTicks },
    yTicks,
  );
  const lines = [
    `<text class="ink panel" x="24" y="${top + 16}">${panel.name}</text>`,
    `<text class="soft" x="${right}" y="${top + 16}" text-anchor="end">${panel.note}</text>`,
    ...axes.lines,
  ];
  if (main.points.length === 0) return lines.join('\n');

  const path = (of: readonly Point[]): string =>
    of.map(({ step, value }) => `${x(step)},${y(value)}`).join(' ');
  const edge = (side: 0 | 1): string[] =>
    main.points.flatMap(({ step, interval }) => (interval ? [`${x(step)},${y(interval[side])}`] : []));
  lines.push(
    `<polygon class="band" points="${[...edge(1), ...edge(0).reverse()].join(' ')}"/>`,
    `<polyline class="greedy" fill="none" stroke-width="1.75" stroke-dasharray="5 4" stroke-linejoin="round" points="${path(other.points)}"/>`,
    `<polyline class="sampled" fill="none" stroke-width="2.5" stroke-linejoin="round" stroke-linecap="round" points="${path(main.points)}"/>`,
  );
  if (main.points.length <= 40) {
    for (const point of main.points) {
      lines.push(
        `<circle class="sampled-fill" cx="${x(point.step)}" cy="${y(point.value)}" r="3"><title>step ${point.step}: ${formatPoint(point, 3)}</title></circle>`,
      );
    }
  }
  lines.push(...startLabel(panel, x, y, bottom), ...endLabels(panel, right, y, [plotTop, bottom]));
  return lines.join('\n');
}

/** A ring at the first point, with its value on the side where there is room. */
function startLabel(
  { main, start }: Panel,
  x: (step: number) => string,
  y: (value: number) => string,
  bottom: number,
): string[] {
  const { step, value } = main.points[0]!;
  const at = Number(y(value));
  const below = at + 24 < bottom;
  return [
    `<circle class="warm" fill="none" stroke-width="2" cx="${x(step)}" cy="${at}" r="6"/>`,
    `<text class="warm-fill" x="${Number(x(step)) + 12}" y="${below ? at + 20 : at - 12}">${start} ${formatScore(value)}</text>`,
  ];
}

/** Names and last values of both lines at the right edge, kept apart. */
function endLabels(
  { main, other }: Panel,
  right: number,
  y: (value: number) => string,
  range: readonly [number, number],
): string[] {
  const [mainValue, otherValue] = [main.points.at(-1)!.value, other.points.at(-1)!.value];
  const [otherAt, mainAt] = keptApart([Number(y(otherValue)), Number(y(mainValue))], 16, range);
  return [
    `<text class="sampled-fill" x="${right + 10}" y="${mainAt! + 4}" font-weight="600">${main.label} ${formatScore(mainValue)}</text>`,
    `<text class="greedy-fill" x="${right + 10}" y="${otherAt! + 4}">${other.label} ${formatScore(otherValue)}</text>`,
  ];
}
