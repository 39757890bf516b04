/** The learning curve as a self-contained SVG that reads well on light and dark pages. */

import type { EvaluationResult } from '../train/loop/events.ts';
import { chartPicture } from './chart-frame.ts';
import { formatInterval, formatScore, niceTicks } from './format.ts';
import { type GamePoint, returnDiffers } from './run-history.ts';
import { type Chart, type ChartLine, drawChart, lookOf, type Scales, scalesOf } from './svg-chart.ts';

export interface CurvePoint {
  readonly step: number;
  readonly sampled: EvaluationResult;
  readonly greedy?: EvaluationResult;
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
    other: {
      label: 'greedy',
      points: points.flatMap(({ step, greedy }) => (greedy ? [{ step, value: value(greedy) }] : [])),
    },
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

/** An SVG document: success with its 95% band, greedy beside it, and return below where it says more than success. */
export function curveSvg(curve: Curve): string {
  const { title, subtitle } = curve;
  const panels = panelsOf(curve);
  const panelHeight = margin.panel + plotHeight + margin.axis;
  const height = margin.header + panels.length * panelHeight + 8;
  const body = panels.map((panel, index) => drawPanel(panel, margin.header + index * panelHeight));
  const description = `${title}: ${describe(panels[0]!)}`;
  return chartPicture({ width, height, description, title, subtitle, body });
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
  const lastStep = Math.max(1, ...points.map((point) => point.step));
  const box = { left: margin.left, top: top + margin.panel, width: plotWidth, height: plotHeight };
  const chart: Chart = {
    x: {
      title: 'reinforcement-learning step',
      end: lastStep,
      ticks: niceTicks(0, lastStep, 6).filter((tick) => tick <= lastStep && Number.isInteger(tick)),
    },
    yTicks: niceTicks(Math.min(...values), Math.max(...values), 5),
    lines: [
      ...(other.points.length > 0 ? [lineOf(other, { look: lookOf(1), kind: 'other' })] : []),
      lineOf(main, { look: lookOf(0), ...(main.points.length <= 40 && { dots: 'all' }) }),
    ],
  };
  return [
    `<text class="ink panel" x="24" y="${top + 16}">${panel.name}</text>`,
    `<text class="soft" x="${box.left + box.width}" y="${top + 16}" text-anchor="end">${panel.note}</text>`,
    ...drawChart(box, chart),
    ...startLabel(panel, scalesOf(box, chart), box.top + box.height),
  ].join('\n');
}

function lineOf({ label, points }: Panel['main'], how: Omit<ChartLine, 'points'>): ChartLine {
  const last = points.at(-1);
  return {
    ...how,
    points: points.map((point) => ({
      x: point.step,
      y: point.value,
      ...(point.interval && { band: point.interval }),
      tip: `step ${point.step}: ${formatPoint(point, 3)}`,
    })),
    ...(last && { label: `${label} ${formatScore(last.value)}` }),
  };
}

/** A ring at the first point, with its value on the side where there is room. */
function startLabel({ main, start }: Panel, { x, y }: Scales, bottom: number): string[] {
  const [first] = main.points;
  if (first === undefined) return [];
  const at = Number(y(first.value));
  const left = Number(x(first.step));
  const below = at + 24 < bottom;
  return [
    `<circle class="ring ${lookOf(2)}" cx="${left}" cy="${at}" r="6"/>`,
    `<text class="label ${lookOf(2)}" x="${left + 12}" y="${below ? at + 20 : at - 12}">${start} ${formatScore(first.value)}</text>`,
  ];
}
