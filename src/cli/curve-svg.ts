/** The learning curve as a self-contained SVG that reads well on light and dark pages. */

import type { EvaluationResult } from '../train/events.ts';
import { formatInterval, formatScore, formatTicks, niceTicks } from './format.ts';
import { returnDiffers } from './run-history.ts';

export interface CurvePoint {
  readonly step: number;
  readonly sampled: EvaluationResult;
  readonly greedy: EvaluationResult;
}

export interface Curve {
  readonly title: string;
  readonly subtitle: string;
  /** Evaluations in order of steps; the first is the warm start. */
  readonly points: readonly CurvePoint[];
}

interface Panel {
  readonly name: string;
  readonly value: (result: EvaluationResult) => number;
  readonly interval: (result: EvaluationResult) => readonly [number, number];
  readonly range?: readonly [number, number];
}

const successPanel: Panel = {
  name: 'Success on held-out tasks',
  value: (result) => result.success,
  interval: (result) => result.successInterval,
  range: [0, 1],
};

const returnPanel: Panel = {
  name: 'Return on held-out tasks',
  value: (result) => result.return,
  interval: (result) => result.returnInterval,
};

const width = 744;
const plotHeight = 230;
const margin = { left: 64, right: 128, header: 64, panel: 34, axis: 44 } as const;
const plotWidth = width - margin.left - margin.right;

const style = `
  svg { color-scheme: light dark; }
  .paper { fill: #ffffff; } .ink { fill: #1f2328; } .soft { fill: #59636e; }
  .grid { stroke: #d8dee4; stroke-width: 1; } .axis { stroke: #818b98; stroke-width: 1; }
  .sampled { stroke: #0a7d5a; } .sampled-fill { fill: #0a7d5a; } .band { fill: #0a7d5a; fill-opacity: 0.16; }
  .greedy { stroke: #8250df; } .greedy-fill { fill: #8250df; } .warm { stroke: #bc4c00; } .warm-fill { fill: #bc4c00; }
  text { font-family: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; font-size: 12px; }
  .title { font-size: 17px; font-weight: 600; } .panel { font-weight: 600; }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117; } .ink { fill: #e6edf3; } .soft { fill: #9198a1; }
    .grid { stroke: #21262d; } .axis { stroke: #656c76; }
    .sampled { stroke: #3fb98f; } .sampled-fill { fill: #3fb98f; } .band { fill: #3fb98f; fill-opacity: 0.2; }
    .greedy { stroke: #b392f0; } .greedy-fill { fill: #b392f0; } .warm { stroke: #f0883e; } .warm-fill { fill: #f0883e; }
  }`;

/** An SVG document: success with its 95% band, greedy beside it, and return below where it says more than success. */
export function curveSvg({ title, subtitle, points }: Curve): string {
  const panels = returnDiffers(points) ? [successPanel, returnPanel] : [successPanel];
  const panelHeight = margin.panel + plotHeight + margin.axis;
  const height = margin.header + panels.length * panelHeight + 8;
  const body = panels.map((panel, index) => drawPanel(panel, points, margin.header + index * panelHeight));
  const label = points.length > 0 ? describe(points) : 'no evaluations yet';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escapeXml(title)}: ${escapeXml(label)}</title>
<style>${style}
</style>
<rect class="paper" width="${width}" height="${height}" rx="8"/>
<text class="ink title" x="24" y="32">${escapeXml(title)}</text>
<text class="soft" x="24" y="52">${escapeXml(subtitle)}</text>
${body.join('\n')}
</svg>
`;
}

function describe(points: readonly CurvePoint[]): string {
  const { sampled } = points.at(-1)!;
  return `success ${formatScore(points[0]!.sampled.success)} after the warm start, ${formatInterval(sampled.success, sampled.successInterval)} at the end`;
}

function drawPanel(panel: Panel, points: readonly CurvePoint[], top: number): string {
  const values = points.flatMap(({ sampled, greedy }) => [...panel.interval(sampled), panel.value(greedy)]);
  const [low, high] = panel.range ?? [Math.min(...values), Math.max(...values)];
  const yTicks = niceTicks(low, high, 5);
  const lastStep = Math.max(1, ...points.map((point) => point.step));
  const xTicks = niceTicks(0, lastStep, 6).filter((tick) => tick <= lastStep && Number.isInteger(tick));
  const [yLow, yHigh] = [yTicks[0]!, yTicks.at(-1)!];
  const plotTop = top + margin.panel;
  const bottom = plotTop + plotHeight;
  const right = margin.left + plotWidth;
  const x = (step: number): string => (margin.left + (step / lastStep) * plotWidth).toFixed(1);
  const y = (value: number): string => (bottom - ((value - yLow) / (yHigh - yLow)) * plotHeight).toFixed(1);

  const lines = [
    `<text class="ink panel" x="24" y="${top + 16}">${panel.name}</text>`,
    `<text class="soft" x="${margin.left + plotWidth}" y="${top + 16}" text-anchor="end">band: 95% interval, sampled at temperature 1</text>`,
  ];
  for (const [index, label] of formatTicks(yTicks).entries()) {
    const at = y(yTicks[index]!);
    lines.push(`<line class="grid" x1="${margin.left}" y1="${at}" x2="${right}" y2="${at}"/>`);
    lines.push(
      `<text class="soft" x="${margin.left - 10}" y="${Number(at) + 4}" text-anchor="end">${label}</text>`,
    );
  }
  for (const tick of xTicks) {
    lines.push(`<text class="soft" x="${x(tick)}" y="${bottom + 18}" text-anchor="middle">${tick}</text>`);
  }
  lines.push(`<line class="axis" x1="${margin.left}" y1="${bottom}" x2="${right}" y2="${bottom}"/>`);
  const middle = margin.left + plotWidth / 2;
  lines.push(
    `<text class="soft" x="${middle}" y="${bottom + 36}" text-anchor="middle">reinforcement-learning step</text>`,
  );
  if (points.length === 0) return lines.join('\n');

  const path = (value: (point: CurvePoint) => number): string =>
    points.map((point) => `${x(point.step)},${y(value(point))}`).join(' ');
  const upper = points.map((point) => `${x(point.step)},${y(panel.interval(point.sampled)[1])}`);
  const lower = points.map((point) => `${x(point.step)},${y(panel.interval(point.sampled)[0])}`).reverse();
  lines.push(`<polygon class="band" points="${[...upper, ...lower].join(' ')}"/>`);
  lines.push(
    `<polyline class="greedy" fill="none" stroke-width="1.75" stroke-dasharray="5 4" stroke-linejoin="round" points="${path(({ greedy }) => panel.value(greedy))}"/>`,
    `<polyline class="sampled" fill="none" stroke-width="2.5" stroke-linejoin="round" stroke-linecap="round" points="${path(({ sampled }) => panel.value(sampled))}"/>`,
  );
  for (const { step, sampled } of points) {
    lines.push(
      `<circle class="sampled-fill" cx="${x(step)}" cy="${y(panel.value(sampled))}" r="3"><title>step ${step}: ${formatInterval(panel.value(sampled), panel.interval(sampled), 3)}</title></circle>`,
    );
  }
  lines.push(...warmStart(panel, points[0]!, x, y, yLow), ...endLabels(panel, points.at(-1)!, right, y));
  return lines.join('\n');
}

/** A ring at the warm start, with its value on the side where there is room. */
function warmStart(
  panel: Panel,
  { step, sampled }: CurvePoint,
  x: (step: number) => string,
  y: (value: number) => string,
  yLow: number,
): string[] {
  const value = panel.value(sampled);
  const at = Number(y(value));
  const below = at + 24 < Number(y(yLow));
  return [
    `<circle class="warm" fill="none" stroke-width="2" cx="${x(step)}" cy="${at}" r="6"/>`,
    `<text class="warm-fill" x="${Number(x(step)) + 12}" y="${below ? at + 20 : at - 12}">warm start ${formatScore(value)}</text>`,
  ];
}

/** Names and last values of both lines at the right edge, kept apart. */
function endLabels(
  panel: Panel,
  { sampled, greedy }: CurvePoint,
  right: number,
  y: (value: number) => string,
): string[] {
  let sampledAt = Number(y(panel.value(sampled)));
  let greedyAt = Number(y(panel.value(greedy)));
  const gap = 16 - Math.abs(sampledAt - greedyAt);
  if (gap > 0) {
    const direction = greedyAt <= sampledAt ? 1 : -1;
    sampledAt += (direction * gap) / 2;
    greedyAt -= (direction * gap) / 2;
  }
  return [
    `<text class="sampled-fill" x="${right + 10}" y="${sampledAt + 4}" font-weight="600">sampled ${formatScore(panel.value(sampled))}</text>`,
    `<text class="greedy-fill" x="${right + 10}" y="${greedyAt + 4}">greedy ${formatScore(panel.value(greedy))}</text>`,
  ];
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
