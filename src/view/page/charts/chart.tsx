/** A line chart by uPlot: its lines, a shaded band, marks on the time axis, labels at the lines' ends, one cursor for all. */

import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { theme } from '../navigation/theme.ts';
import { number } from '../text/format.ts';
import { type Colour, colour } from './colours.ts';
import { cursorKey, hoveredX, pinnedX } from './cursor.ts';
import { nearestIndex } from './curve.ts';

export interface Line {
  readonly label?: string;
  /** For a narrow chart. */
  readonly short?: string;
  readonly note?: string;
  readonly colour: Colour;
  readonly values: readonly (number | null)[];
  readonly width?: number;
  readonly dash?: readonly number[];
  readonly points?: boolean;
  readonly faint?: boolean;
  /** Fill down to zero. */
  readonly filled?: boolean;
}

/** A stretch of the x-axis. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface ChartProps {
  readonly xs: readonly number[];
  readonly lines: readonly Line[];
  readonly band?: { readonly low: readonly (number | null)[]; readonly high: readonly (number | null)[] };
  readonly range: readonly [number, number];
  readonly height: number;
  readonly axes?: boolean;
  /** In rows under the axis. */
  readonly marks?: readonly {
    readonly x: number;
    readonly row: number;
    readonly glyph: string;
    readonly colour: Colour;
  }[];
  /** Shaded behind the lines. */
  readonly spans?: readonly Span[];
  /** Above the range: drawn at the top edge. */
  readonly beyond?: boolean;
  readonly onPick?: (x: number) => void;
  readonly label: string;
}

const labelGap = 15;
const narrow = 480;
const font = '12px system-ui';
/** Between marks of the x-axis. */
const increments = Array.from(
  { length: 36 },
  (_, place) => [1, 2, 5][place % 3]! * 10 ** (Math.floor(place / 3) - 3),
);

export function Chart(props: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const ends = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const isSeen = useRef(true);
  const { xs, lines, band, height } = props;
  const shape = `${theme.value} ${height} ${lines.map((line) => `${line.colour}${line.label ?? ''}${line.width}`).join()} ${band !== undefined}`;

  useEffect(() => {
    const element = holder.current!;
    const chart = new uPlot(
      optionsOf(latest, element.clientWidth, ends.current),
      dataOf(latest.current),
      element,
    );
    plot.current = chart;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0)
        chart.setSize({ width: element.clientWidth, height: latest.current.height });
    });
    observer.observe(element);
    // What nobody sees is drawn when somebody does: a run goes on under a page that lies open.
    const sight = new IntersectionObserver((entries) => {
      const wasSeen = isSeen.current;
      isSeen.current = entries.at(-1)!.isIntersecting;
      if (isSeen.current && !wasSeen) chart.setData(dataOf(latest.current));
    });
    sight.observe(element);
    return () => {
      observer.disconnect();
      sight.disconnect();
      chart.destroy();
    };
  }, [shape]);
  useEffect(() => {
    if (isSeen.current) plot.current?.setData(dataOf(latest.current));
  }, [xs, lines, band]);
  useSignalEffect(() => {
    void hoveredX.value;
    if (isSeen.current && plot.current) placeEnds(plot.current, latest.current, ends.current);
  });
  useSignalEffect(() => {
    void pinnedX.value;
    if (isSeen.current) plot.current?.redraw(false);
  });
  return (
    <div class="chart">
      <div ref={holder} role="img" aria-label={props.label} />
      <div ref={ends} class="chart-ends" aria-hidden="true" />
    </div>
  );
}

type Latest = { readonly current: ChartProps };

function dataOf({ xs, lines, band }: ChartProps): uPlot.AlignedData {
  const columns = [...(band ? [band.high, band.low] : []), ...lines.map(({ values }) => values)];
  return [xs as number[], ...(columns as (number | null)[][])];
}

function optionsOf(latest: Latest, width: number, ends: HTMLElement | null): uPlot.Options {
  const { lines, band, height, axes = false, marks } = latest.current;
  const grid = { stroke: colour('line'), width: 1 };
  const rows = marks === undefined ? 0 : 2;
  const hasLabels = lines.some((line) => line.label !== undefined);
  const invisible: uPlot.Series = { stroke: 'transparent', points: { show: false }, spanGaps: true };
  return {
    width,
    height,
    legend: { show: false },
    padding: [
      8,
      hasLabels && width > narrow ? 138 : hasLabels ? 66 : 4,
      // Without points there is no x-axis, whose room holds half of the lowest mark of the other.
      () => (!axes ? 2 : latest.current.xs.length > 0 ? 0 : 8),
      axes ? 0 : 2,
    ],
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: false, y: false },
      sync: { key: cursorKey, scales: ['x', null], setSeries: false },
    },
    scales: {
      x: { time: false, range: (_, low, high) => widened(latest.current.xs, low, high) },
      y: { range: () => [...latest.current.range] as [number, number] },
    },
    axes: axes
      ? [
          {
            stroke: colour('ink3'),
            font,
            grid: { show: false },
            ticks: { show: false },
            size: 26 + 14 * rows,
            space: 60,
            // There is no half step.
            incrs: () => increments.filter((one) => one >= 1 || !latest.current.xs.every(Number.isInteger)),
          },
          { stroke: colour('ink3'), font, grid, ticks: { show: false }, size: 42, gap: 4, space: 40 },
        ]
      : [{ show: false }, { show: false }],
    series: [
      {},
      ...(band ? [invisible, invisible] : []),
      ...lines.map(
        (line): uPlot.Series => ({
          stroke: colour(line.colour),
          width: line.width ?? 1.5,
          alpha: line.faint ? 0.45 : 1,
          spanGaps: true,
          ...(line.dash && { dash: [...line.dash] }),
          ...(line.filled && { fill: colour('band') }),
          points: line.points
            ? {
                show: true,
                size: 6,
                fill: colour('panel'),
                stroke: colour(line.colour),
                width: 1.5,
              }
            : {
                show: line.values.filter((value) => value !== null).length === 1,
                size: 5,
                fill: colour(line.colour),
              },
        }),
      ),
    ],
    ...(band && { bands: [{ series: [1, 2] as [number, number], fill: colour('band') }] }),
    hooks: {
      // What uPlot binds as a click is one on its legend.
      ready: [
        (chart) =>
          chart.over.addEventListener('click', () => {
            const { idx } = chart.cursor;
            if (typeof idx === 'number') latest.current.onPick?.(chart.data[0][idx]!);
          }),
      ],
      setCursor: [
        (chart) => {
          // Only the chart under the pointer tells; the others follow it.
          if (chart.cursor.event === undefined || chart.cursor.event === null) return;
          const { idx } = chart.cursor;
          hoveredX.value = typeof idx === 'number' ? chart.data[0][idx] : undefined;
        },
      ],
      drawClear: [(chart) => shade(chart, latest.current.spans ?? [])],
      draw: [(chart) => drawOver(chart, latest.current, ends)],
    },
  };
}

/** A single point is at the left, with one step of room. */
const widened = ([first, ...others]: readonly number[], low: number, high: number): [number, number] =>
  first !== undefined && others.length === 0 ? [first, first + 1] : [low, high];

function shade(chart: uPlot, spans: readonly Span[]): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.fillStyle = colour('soft');
  for (const { from, to } of spans) {
    const [left, right] = [from, to].map((x) =>
      Math.min(Math.max(chart.valToPos(x, 'x', true), bbox.left), bbox.left + bbox.width),
    );
    ctx.fillRect(left!, bbox.top, right! - left!, bbox.height);
  }
  ctx.restore();
}

function drawOver(chart: uPlot, props: ChartProps, ends: HTMLElement | null): void {
  const { lines, marks = [], beyond } = props;
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  ctx.save();
  if (pinnedX.value !== undefined) {
    const x = chart.valToPos(pinnedX.value, 'x', true);
    if (x >= bbox.left - 1 && x <= bbox.left + bbox.width + 1) {
      ctx.strokeStyle = colour('ink3');
      ctx.lineWidth = ratio;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
  }
  ctx.textAlign = 'center';
  ctx.font = `${9 * ratio}px system-ui`;
  for (const mark of marks) {
    ctx.fillStyle = colour(mark.colour);
    const x = chart.valToPos(mark.x, 'x', true);
    ctx.fillText(mark.glyph, x, bbox.top + bbox.height + (34 + 13 * mark.row) * ratio);
  }
  if (beyond) {
    ctx.fillStyle = colour('red');
    const [low, high] = [chart.scales.y!.min!, chart.scales.y!.max!];
    const column = lines.find((line) => line.faint) ?? lines[0];
    for (const [index, value] of (column?.values ?? []).entries()) {
      if (value === null || (value <= high && value >= low)) continue;
      ctx.fillText('▲', chart.valToPos(chart.data[0][index]!, 'x', true), bbox.top + 4 * ratio);
    }
  }
  ctx.restore();
  placeEnds(chart, props, ends);
}

/** Labels stand where their lines end, moved apart where they would overlap. Where somebody points, they have the value there. */
function placeEnds(chart: uPlot, { lines, band, xs }: ChartProps, ends: HTMLElement | null): void {
  if (!ends) return;
  const { bbox } = chart;
  const first = band ? 3 : 1;
  const x = lines.some(({ label }) => label !== undefined) ? hoveredX.peek() : undefined;
  const at = x === undefined ? undefined : nearestIndex(xs, x);
  const left = (bbox.left + bbox.width) / devicePixelRatio + 8;
  const placed = lines
    .flatMap((line, index) => {
      const last = (chart.data[first + index] as (number | null)[]).findLast((value) => value !== null);
      return line.label === undefined || last === null || last === undefined
        ? []
        : [{ line, top: chart.valToPos(last, 'y') + bbox.top / devicePixelRatio - 8 }];
    })
    .sort((a, b) => a.top - b.top);
  const labels = placed.map(({ line, top }, index) => {
    const before = placed[index - 1];
    const room = before && before.line.note !== undefined ? 2 * labelGap : labelGap;
    if (before && top < before.top + room) placed[index]!.top = before.top + room;
    const label = document.createElement('div');
    const value = at === undefined ? null : line.values.slice(0, at + 1).findLast((one) => one !== null);
    const short = line.short ?? line.label!;
    label.textContent =
      typeof value === 'number'
        ? `${chart.width > narrow ? short : ''} ${number(value)}`
        : chart.width > narrow
          ? line.label!
          : short;
    label.className = line.colour === 'grey' ? 'end ink2' : `end ${line.colour}`;
    label.style.left = `${left}px`;
    label.style.top = `${placed[index]!.top}px`;
    if (line.note !== undefined) {
      const note = document.createElement('small');
      note.textContent = line.note;
      label.append(note);
    }
    return label;
  });
  if (at !== undefined) {
    const place = document.createElement('div');
    place.textContent = number(xs[at]);
    place.className = 'end ink2';
    place.style.top = '0';
    place.style.left = `${chart.valToPos(xs[at]!, 'x') + bbox.left / devicePixelRatio + 8}px`;
    labels.push(place);
  }
  ends.replaceChildren(...labels);
}
