/** A learning curve as a small chart of braille dots with axes, for the terminal. */

import type { Paint } from './console.ts';
import { formatTicks, niceTicks } from './format.ts';

export interface Series {
  readonly label: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly marker: string;
  /** Whether the points are joined. */
  readonly line: boolean;
  readonly colour: 'green' | 'yellow' | 'cyan' | 'magenta';
}

export interface PlotOptions {
  readonly columns: number;
  readonly rows: number;
  /** Lowest and highest y; widened to hold all points and to end at readable numbers. */
  readonly yRange: readonly [number, number];
  readonly xLabel: string;
}

/** Bits of the dots of a braille cell by [row][column]. */
const dots = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
] as const;

interface Cell {
  text: string;
  bits: number;
  colour: Series['colour'] | undefined;
}

/** Lines of the chart: y axis on the left, x axis below, a legend last. Empty when there are fewer than two points. */
export function plot(series: readonly Series[], options: PlotOptions, paint: Paint): string[] {
  const points = series.flatMap((one) => one.points);
  if (points.length < 2) return [];
  const { columns, rows, yRange, xLabel } = options;
  const ys = points.map(([, y]) => y);
  const ticks = niceTicks(Math.min(yRange[0], ...ys), Math.max(yRange[1], ...ys), Math.max(2, rows / 2));
  const [yLow, yHigh] = [ticks[0]!, ticks.at(-1)!];
  const [xLow, xHigh] = [Math.min(...points.map(([x]) => x)), Math.max(...points.map(([x]) => x))];
  const labels = formatTicks(ticks);
  const labelWidth = Math.max(...labels.map((label) => label.length));
  const width = columns - labelWidth - 2;

  const cells: Cell[][] = Array.from({ length: rows }, () =>
    Array.from({ length: width }, () => ({ text: '', bits: 0, colour: undefined })),
  );
  const place = ([x, y]: readonly [number, number]): [number, number] => [
    Math.round(((x - xLow) / (xHigh - xLow || 1)) * (width * 2 - 1)),
    // From the middle of the lowest row to the middle of the highest, so that ticks are evenly spaced.
    Math.round((1 - (y - yLow) / (yHigh - yLow)) * (rows - 1) * 4 + 1.5),
  ];
  for (const one of series) if (one.line) drawLine(cells, one.points.map(place), one.colour);
  for (const one of [...series].reverse()) {
    for (const [x, y] of one.points.map(place)) {
      const cell = cells[y >> 2]![x >> 1]!;
      cell.text = one.marker;
      cell.colour = one.colour;
    }
  }

  const labelAt = new Map(ticks.map((tick, index) => [place([xLow, tick])[1] >> 2, labels[index]!]));
  const body = cells.map((row, index) => {
    const label = labelAt.get(index);
    const axis = paint('dim', `${(label ?? '').padStart(labelWidth)} ${label === undefined ? '│' : '┤'}`);
    return axis + row.map((cell) => drawCell(cell, paint)).join('');
  });
  const left = ' '.repeat(labelWidth + 1);
  const [first, last] = [String(xLow), `${xLabel} ${xHigh}`];
  const legend = series.map(({ marker, label, colour }) => `${paint(colour, marker)} ${label}`).join('   ');
  return [
    ...body.map((line) => line.trimEnd()),
    paint('dim', `${left}└${'─'.repeat(width)}`),
    paint('dim', `${left} ${first}${' '.repeat(Math.max(1, width - first.length - last.length))}${last}`),
    `${left} ${legend}`,
  ];
}

function drawCell({ text, bits, colour }: Cell, paint: Paint): string {
  const character = text || (bits === 0 ? ' ' : String.fromCodePoint(0x2800 + bits));
  return colour === undefined ? character : paint(colour, character);
}

function drawLine(
  cells: Cell[][],
  path: readonly (readonly [number, number])[],
  colour: Series['colour'],
): void {
  for (let i = 1; i < path.length; i++) {
    const [[x0, y0], [x1, y1]] = [path[i - 1]!, path[i]!];
    const steps = Math.max(1, Math.abs(x1 - x0), Math.abs(y1 - y0));
    for (let step = 0; step <= steps; step++) {
      const x = Math.round(x0 + ((x1 - x0) * step) / steps);
      const y = Math.round(y0 + ((y1 - y0) * step) / steps);
      const cell = cells[y >> 2]![x >> 1]!;
      cell.bits |= dots[y & 3]![x & 1]!;
      cell.colour ??= colour;
    }
  }
}
