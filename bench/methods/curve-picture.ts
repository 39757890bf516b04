/** The learning curves of an experiment as a picture: for each arm the mean over seeds, and the band that it lies in. */

import { Rng } from '../../src/core/rng.ts';
import { bootstrapMeanInterval, mean } from '../../src/core/statistics.ts';
import { formatScore, niceTicks } from '../../src/show/format.ts';
import { escapeHtml } from '../../src/show/html.ts';
import { drawAxes, keptApart, lineColours, plotStyle, svgDocument } from '../../src/show/svg-plot.ts';
import type { Experiment, StoredResult, StoredRun } from './experiment.ts';

interface CurvePoint {
  /** Share of the run. */
  readonly at: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

interface Line {
  readonly arm: string;
  readonly points: readonly CurvePoint[];
}

const plotHeight = 210;
const margin = { left: 56, top: 76, bottom: 52 } as const;
const plotWidth = 470;
/** Of a letter of the labels, about. */
const letterWidth = 6.7;
/** A quarter of the resamples that verdicts take: a band is looked at, not decided by. */
const RESAMPLES = 500;

const colourRules = (side: 0 | 1): string =>
  lineColours
    .map((pair, index) => `.c${index} { stroke: ${pair[side]}; } .f${index} { fill: ${pair[side]}; }`)
    .join(' ');
const style = plotStyle(
  `${colourRules(0)} .band { fill-opacity: 0.15; }`,
  `${colourRules(1)} .band { fill-opacity: 0.2; }`,
);

/** The file of its picture, seen from `docs/`; undefined where no run kept a curve. */
export function picturePath({ name }: Experiment, { runs }: StoredResult): string | undefined {
  return Object.values(runs).some((list) => list.some(hasCurve)) ? `curves/${name}.svg` : undefined;
}

/** An SVG document of those arms whose runs kept a curve, of which there is at least one. */
export function curvePicture(experiment: Experiment, result: StoredResult): string {
  const lines = linesOf(experiment, result);
  const { name, curve = 'success while learning' } = experiment;
  const edges = lines.flatMap(({ points }) => points.flatMap(({ low, high }) => [low, high]));
  // Success fills its range; other figures are looked at closely.
  const bounds = experiment.curve === undefined ? [0, 1] : [];
  const yTicks = niceTicks(Math.min(...edges, ...bounds), Math.max(...edges, ...bounds), 5);
  const box = { left: margin.left, top: margin.top, width: plotWidth, height: plotHeight };
  const axes = drawAxes(
    box,
    {
      title: 'share of the run',
      end: 1,
      ticks: [0, 0.25, 0.5, 0.75, 1],
      label: (share) => `${100 * share}%`,
    },
    yTicks,
  );
  const labels = lines.map(({ arm, points }) => `${arm} ${formatScore(points.at(-1)!.value)}`);
  const right = box.left + box.width;
  const places = keptApart(
    lines.map(({ points }) => Number(axes.y(points.at(-1)!.value))),
    16,
    [box.top, box.top + box.height],
  );
  const drawn = lines.map(({ points }, index) => {
    const look = index % lineColours.length;
    const path = (of: readonly CurvePoint[], side: 'value' | 'low' | 'high'): string =>
      of.map((point) => `${axes.x(point.at)},${axes.y(point[side])}`).join(' ');
    const outline = `${path(points, 'high')} ${path(points.toReversed(), 'low')}`;
    return {
      band: `<polygon class="band f${look}" points="${outline}"/>`,
      line: `<polyline class="c${look}" fill="none" stroke-width="2.25" stroke-linejoin="round" stroke-linecap="round" points="${path(points, 'value')}"/>`,
      label: `<text class="f${look}" x="${right + 10}" y="${(places[index]! + 4).toFixed(1)}" font-weight="600">${escapeHtml(labels[index]!)}</text>`,
    };
  });
  const ends = labels.join(', ');
  return svgDocument({
    width: Math.ceil(right + 24 + letterWidth * Math.max(...labels.map((label) => label.length))),
    height: margin.top + plotHeight + margin.bottom,
    description: `${name}: ${curve}; at the end ${ends}`,
    style,
    title: name,
    subtitle: `${curve}; mean of ${seedsText(experiment, result)}, band: 95% interval of the mean`,
    body: [
      ...axes.lines,
      ...drawn.map(({ band }) => band),
      ...drawn.map(({ line }) => line),
      ...drawn.map(({ label }) => label),
    ],
  });
}

function linesOf({ arms }: Experiment, { runs }: StoredResult): Line[] {
  return arms.flatMap((arm) => {
    const curves = (runs[arm] ?? []).filter(hasCurve).map(({ curve }) => curve);
    if (curves.length === 0) return [];
    const length = Math.min(...curves.map((curve) => curve.length));
    const rng = Rng.of('curve', arm);
    const points = Array.from({ length }, (_, index) => {
      const values = curves.map((curve) => curve[index]!);
      return {
        at: index / (length - 1),
        value: mean(values),
        ...bootstrapMeanInterval(values, rng, RESAMPLES),
      };
    });
    return [{ arm, points }];
  });
}

function hasCurve(run: StoredRun): run is StoredRun & { readonly curve: readonly number[] } {
  return run.curve !== undefined && run.curve.length > 1;
}

function seedsText({ arms }: Experiment, { runs }: StoredResult): string {
  return `${Math.min(...arms.map((arm) => runs[arm]?.length ?? 0))} seeds`;
}
