/** The learning curves of an experiment as a picture: for each arm the mean over seeds, in the band of all of them. */

import { mean } from '../../src/core/statistics.ts';
import { chartPicture } from '../../src/show/chart-frame.ts';
import { formatScore, niceTicks } from '../../src/show/format.ts';
import { drawChart, lookOf } from '../../src/show/svg-chart.ts';
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
  const labels = lines.map(({ arm, points }) => `${arm} ${formatScore(points.at(-1)!.value)}`);
  const shares = [0, 0.25, 0.5, 0.75, 1];
  const body = drawChart(box, {
    x: {
      title: 'share of the run',
      end: 1,
      ticks: shares,
      labels: shares.map((share) => `${100 * share}%`),
    },
    yTicks,
    lines: lines.map(({ points }, index) => ({
      look: lookOf(index),
      points: points.map(({ at, value, low, high }) => ({ x: at, y: value, band: [low, high] as const })),
      label: labels[index]!,
    })),
  });
  return chartPicture({
    width: Math.ceil(
      box.left + box.width + 24 + letterWidth * Math.max(...labels.map(({ length }) => length)),
    ),
    height: margin.top + plotHeight + margin.bottom,
    description: `${name}: ${curve}; at the end ${labels.join(', ')}`,
    title: name,
    subtitle: `${curve}; mean of ${seedsText(experiment, result)}, band: lowest to highest`,
    body,
  });
}

function linesOf({ arms }: Experiment, { runs }: StoredResult): Line[] {
  return arms.flatMap((arm) => {
    const curves = (runs[arm] ?? []).filter(hasCurve).map(({ curve }) => curve);
    if (curves.length === 0) return [];
    const length = Math.min(...curves.map((curve) => curve.length));
    const points = Array.from({ length }, (_, index) => {
      const values = curves.map((curve) => curve[index]!);
      return {
        at: index / (length - 1),
        value: mean(values),
        low: Math.min(...values),
        high: Math.max(...values),
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
