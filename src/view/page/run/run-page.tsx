/** Is the run learning, and if not, why not? */

import { useEffect, useMemo } from 'preact/hooks';
import type { SeriesTable } from '../../series.ts';
import { axes } from '../../series.ts';
import type { RunOverview, StepEpisodes } from '../../shapes.ts';
import { pinnedX } from '../charts/cursor.ts';
import { nearestIndex, smoothings } from '../charts/curve.ts';
import { runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import { RunStore } from '../data/run-store.ts';
import { useKeys } from '../navigation/keys.ts';
import { query, show } from '../navigation/router.ts';
import { Shell } from '../parts/shell.tsx';
import { Failed, PageFailed, Waiting } from '../parts/states.tsx';
import { drawnMetrics } from './charts-of-run.ts';
import { Figures } from './figures.tsx';
import { GroupTable } from './group-table.tsx';
import { RunHead } from './run-head.tsx';
import { nearestStored, viewOf } from './run-view.ts';
import { SettingsCard } from './settings-card.tsx';
import { SmallCharts } from './small-charts.tsx';
import { StepCard } from './step-card.tsx';
import { barsOf, byInterest, groupsOf } from './step-summary.ts';
import { SuccessChart } from './success-chart.tsx';

export function RunPage({ run }: { readonly run: string }) {
  const store = useMemo(() => new RunStore(run, drawnMetrics), [run]);
  useEffect(() => () => store.close(), [store]);
  const { value: overview } = store.overview;
  const { value: curves } = store.curves;
  const { value: problem } = store.problem;
  return (
    <Shell crumbs={[{ label: 'runs', to: '/' }, { label: run }]} up="/">
      {problem && !overview ? (
        <PageFailed problem={problem} />
      ) : overview && curves ? (
        <Body overview={overview} curves={curves} version={store.episodes.value} />
      ) : (
        <Waiting lines={8} />
      )}
    </Shell>
  );
}

interface BodyProps {
  readonly overview: RunOverview;
  readonly curves: SeriesTable;
  /** Of the stored episodes. */
  readonly version: number;
}

function Body({ overview, curves, version }: BodyProps) {
  const { name, stored } = overview;
  const view = viewOf(query.value);
  const step = nearestStored(stored, view.step);
  const index = step === undefined ? undefined : nearestIndex(curves.axes.step, step);
  const pinned = index === undefined ? undefined : curves.axes[view.axis][index];
  useEffect(() => {
    pinnedX.value = pinned;
    return () => {
      pinnedX.value = undefined;
    };
  }, [pinned]);
  // What was stored once stays as it is, but for the newest.
  const path = step === undefined ? undefined : runPath(name, `/places/${step}`);
  const { value: episodes, problem } = useLoaded<StepEpisodes>(path, step === stored.at(-1) ? version : 0);
  const groups = useMemo(() => groupsOf(episodes?.members ?? []).sort(byInterest), [episodes]);
  const { title, unit, bars } = useMemo(() => barsOf(groups), [groups]);
  const bar = bars.find((one) => one.name === view.bar);
  const pick = (x: number): void => {
    const picked = curves.axes.step[nearestIndex(curves.axes[view.axis], x)];
    show({ step: picked, bar: undefined });
  };
  const move = (by: number): void => {
    const next = stored[stored.indexOf(step ?? -1) + by];
    if (next !== undefined) show({ step: next, bar: undefined });
  };
  useKeys([
    { key: '[', does: 'previous stored step', act: () => move(-1) },
    { key: ']', does: 'next stored step', act: () => move(1) },
    {
      key: 'x',
      does: 'next x-axis',
      act: () => show({ x: axes[(axes.indexOf(view.axis) + 1) % axes.length] }),
    },
    {
      key: 's',
      does: 'smoothing',
      act: () => {
        const at = smoothings.indexOf(view.smoothing);
        show({ smooth: smoothings[(at + 1) % smoothings.length] });
      },
    },
  ]);
  return (
    <>
      <RunHead overview={overview} tab="" />
      <Figures overview={overview} />
      <div class="main-and-side">
        <SuccessChart overview={overview} curves={curves} view={view} onPick={pick} />
        {step === undefined ? (
          <section class="card notice" aria-label="Step">
            <h2>No stored episodes</h2>
            <p class="ink2">
              {overview.state === 'running' ? 'They appear after the first step. ' : ''}
              <code>--set rolloutLog=1</code> stores those of every step.
            </p>
          </section>
        ) : (
          <StepCard
            step={step}
            asked={view.step}
            title={title}
            unit={unit}
            bars={bars}
            chosen={view.bar}
            onStep={move}
          />
        )}
      </div>
      <SmallCharts curves={curves} axis={view.axis} smoothing={view.smoothing} onPick={pick} />
      <div class="main-and-side">
        {problem ? (
          <Failed problem={problem} />
        ) : step !== undefined && episodes ? (
          <GroupTable run={name} place={String(step)} groups={bar ? groups.filter(bar.holds) : groups} />
        ) : (
          <div />
        )}
        <SettingsCard run={name} />
      </div>
    </>
  );
}
