/** What every SVG chart has: paper and ink for light and dark pages, axes with a grid, and labels that keep apart. */

import { formatTicks } from './format.ts';
import { escapeHtml } from './html.ts';

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

/** The rules of all charts, and of those lines that are given, which may differ in dark. */
export function plotStyle(light: string, dark: string): string {
  return `
  svg { color-scheme: light dark; }
  .paper { fill: #ffffff; } .ink { fill: #1f2328; } .soft { fill: #59636e; }
  .grid { stroke: #d8dee4; stroke-width: 1; } .axis { stroke: #818b98; stroke-width: 1; }
  ${light}
  text { font-family: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; font-size: 12px; }
  .title { font-size: 17px; font-weight: 600; } .panel { font-weight: 600; }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117; } .ink { fill: #e6edf3; } .soft { fill: #9198a1; }
    .grid { stroke: #21262d; } .axis { stroke: #656c76; }
    ${dark}
  }`;
}

/** A whole document: a sheet of paper with a title, a line below it, and what is drawn. */
export function svgDocument(page: {
  readonly width: number;
  readonly height: number;
  /** What is to be seen, in words, for those who cannot. */
  readonly description: string;
  readonly style: string;
  readonly title: string;
  readonly subtitle: string;
  readonly body: readonly string[];
}): string {
  const { width, height, description, style, title, subtitle, body } = page;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escapeHtml(description)}</title>
<style>${style}
</style>
<rect class="paper" width="${width}" height="${height}" rx="8"/>
<text class="ink title" x="24" y="32">${escapeHtml(title)}</text>
<text class="soft" x="24" y="52">${escapeHtml(subtitle)}</text>
${body.join('\n')}
</svg>
`;
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Axes {
  readonly lines: readonly string[];
  x(value: number): string;
  y(value: number): string;
}

/** Horizontal lines at `yTicks`, which bound the chart, and numbers at `xTicks` below it, from 0 to `end`. */
export function drawAxes(
  { left, top, width, height }: Box,
  horizontal: {
    readonly title: string;
    readonly end: number;
    readonly ticks: readonly number[];
    readonly label?: (tick: number) => string;
  },
  yTicks: readonly number[],
): Axes {
  const { title, end, ticks, label = String } = horizontal;
  const [low, high] = [yTicks[0]!, yTicks.at(-1)!];
  const [right, bottom] = [left + width, top + height];
  const x = (value: number): string => (left + (value / end) * width).toFixed(1);
  const y = (value: number): string => (bottom - ((value - low) / (high - low)) * height).toFixed(1);
  const lines = [
    ...formatTicks(yTicks).flatMap((text, index) => {
      const at = y(yTicks[index]!);
      return [
        `<line class="grid" x1="${left}" y1="${at}" x2="${right}" y2="${at}"/>`,
        `<text class="soft" x="${left - 10}" y="${Number(at) + 4}" text-anchor="end">${text}</text>`,
      ];
    }),
    ...ticks.map(
      (tick) =>
        `<text class="soft" x="${x(tick)}" y="${bottom + 18}" text-anchor="middle">${label(tick)}</text>`,
    ),
    `<line class="axis" x1="${left}" y1="${bottom}" x2="${right}" y2="${bottom}"/>`,
    `<text class="soft" x="${left + width / 2}" y="${bottom + 36}" text-anchor="middle">${title}</text>`,
  ];
  return { lines, x, y };
}

/** Places in [low, high] as near as can be to those wanted, in their order, each at least `gap` from the next. */
export function keptApart(
  wanted: readonly number[],
  gap: number,
  [low, high]: readonly [number, number],
): number[] {
  const order = [...wanted.keys()].sort((a, b) => wanted[a]! - wanted[b]!);
  // Isotonic regression of what is left when every gap is taken off: neighbours in the wrong order share their mean.
  const blocks: { sum: number; count: number }[] = [];
  for (const [rank, index] of order.entries()) {
    let block = { sum: wanted[index]! - rank * gap, count: 1 };
    for (let before = blocks.at(-1); before; before = blocks.at(-1)) {
      if (before.sum / before.count <= block.sum / block.count) break;
      block = { sum: block.sum + before.sum, count: block.count + before.count };
      blocks.pop();
    }
    blocks.push(block);
  }
  const highest = high - (wanted.length - 1) * gap;
  const places = new Array<number>(wanted.length);
  let rank = 0;
  for (const { sum, count } of blocks) {
    const place = Math.max(low, Math.min(highest, sum / count));
    for (let member = 0; member < count; member++, rank++) places[order[rank]!] = place + rank * gap;
  }
  return places;
}
