/** Success on test tasks of the chosen runs in one chart: four that can be told apart, the rest grey. */

import { useMemo } from 'preact/hooks';
import type { RunRow } from '../../shapes.ts';
import { Chart, type Line } from '../charts/chart.tsx';
import { dashes, seriesColours } from '../charts/colours.ts';
import { useKeys } from '../navigation/keys.ts';
import { query, show } from '../navigation/router.ts';
import { Choice } from '../parts/choice.tsx';
import { oneLine } from '../text/safe-text.ts';
import { settingText } from './grouping.ts';

interface OverlayProps {
  readonly runs: readonly RunRow[];
  readonly groupBy: string | undefined;
}

const overlayAxes = ['step', 'episode', 'token', 'minute'] as const;
type OverlayAxis = (typeof overlayAxes)[number];

function pointsOf({ history }: RunRow, axis: OverlayAxis): [number, number][] {
  return history.evaluations.map(({ step, spent, sampled }) => [
    { step, episode: spent.episodes, token: spent.tokens, minute: spent.seconds / 60 }[axis],
    sampled.success,
  ]);
}

/** Seeds of one setting are thin lines of one colour with their mean. */
export function Overlay({ runs, groupBy }: OverlayProps) {
  const axis = overlayAxes.find((name) => name === query.value.get('x')) ?? 'step';
  useKeys([
    {
      key: 'x',
      does: 'next x-axis',
      act: () => show({ x: overlayAxes[(overlayAxes.indexOf(axis) + 1) % overlayAxes.length] }),
    },
  ]);
  const { xs, lines } = useMemo(() => curvesOf(runs, axis, groupBy), [runs, axis, groupBy]);
  const label = `Test success of ${runs.length} runs by ${axis}`;
  return (
    <section class="card" aria-label="Curves">
      <div class="card-head">
        <h2>Test success</h2>
        <Choice
          label="by"
          value={axis}
          options={overlayAxes.map((name) => [name, name])}
          onChange={(x) => show({ x })}
        />
      </div>
      <Chart xs={xs} lines={lines} range={[0, 1]} height={260} axes label={label} />
    </section>
  );
}

/** Names of runs differ at their ends. */
function labels(name: string): { label: string; short: string } {
  const line = oneLine(name);
  const end = (length: number): string => (line.length > length ? `…${line.slice(1 - length)}` : line);
  return { label: end(17), short: end(8) };
}

function curvesOf(
  runs: readonly RunRow[],
  axis: OverlayAxis,
  groupBy: string | undefined,
): { xs: number[]; lines: Line[] } {
  const curves = runs.map((run) => ({ run, points: new Map(pointsOf(run, axis)) }));
  const xs = [...new Set(curves.flatMap(({ points }) => [...points.keys()]))].sort((a, b) => a - b);
  const groups = new Map<string, typeof curves>();
  for (const curve of curves) {
    const name = groupBy === undefined ? curve.run.name : `${groupBy} ${settingText(curve.run, groupBy)}`;
    groups.set(name, [...(groups.get(name) ?? []), curve]);
  }
  const lines = [...groups].flatMap(([name, members], index): Line[] => {
    const colour = seriesColours[index] ?? 'grey';
    const dash = dashes[index] ?? [];
    const own = members.map(
      ({ points }): Line => ({
        colour,
        dash,
        width: members.length > 1 ? 1 : 1.75,
        faint: members.length > 1,
        points: members.length === 1,
        values: xs.map((x) => points.get(x) ?? null),
        ...(members.length === 1 && labels(name)),
      }),
    );
    if (members.length === 1) return own;
    const mean = xs.map((x) => {
      const values = members.flatMap(({ points }) => points.get(x) ?? []);
      return values.length === members.length
        ? values.reduce((sum, value) => sum + value, 0) / values.length
        : null;
    });
    return [
      ...own,
      { colour, dash, width: 2, values: mean, ...labels(name), note: `mean of ${members.length}` },
    ];
  });
  return { xs, lines };
}
