/** Is the run learning, and if not, why not? */

import { useEffect, useMemo } from 'preact/hooks';
import type { SeriesTable } from '../../series.ts';
import type { RunOverview, StepEpisodes } from '../../shapes.ts';
import { pinnedX } from '../charts/cursor.ts';
import { nearestIndex } from '../charts/curve.ts';
import { runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import { RunStore } from '../data/run-store.ts';
import { useKeys } from '../navigation/keys.ts';
import { address, go, query, show } from '../navigation/router.ts';
import { Shell } from '../parts/shell.tsx';
import { Failed } from '../parts/states.tsx';
import { drawnMetrics } from './charts-of-run.ts';
import { evaluatingSpans } from './evaluating.ts';
import { Figures } from './figures.tsx';
import { GroupTable } from './group-table.tsx';
import { PromptsCard } from './prompts-card.tsx';
import { RunHead } from './run-head.tsx';
import { nearestStored, useViewKeys, viewOf } from './run-view.ts';
import { SettingsCard } from './settings-card.tsx';
import { SmallCharts } from './small-charts.tsx';
import { StartCard } from './start-card.tsx';
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
    <Shell crumbs={[{ label: run }]} problem={overview ? undefined : problem}>
      {overview && curves && <Body overview={overview} curves={curves} version={store.episodes.value} />}
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
  const spans = useMemo(
    () => evaluatingSpans(overview.history, curves, view.axis),
    [overview.history.evaluations, curves, view.axis],
  );
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
  ]);
  const warned = [...new Set(overview.history.warnings.map((warning) => warning.step))].sort((a, b) => a - b);
  const toWarning = (by: 1 | -1): void => {
    // Before somebody chooses a step, the last one is shown.
    const at = view.step ?? Number.POSITIVE_INFINITY;
    const next =
      by > 0
        ? (warned.find((one) => one > at) ?? warned[0])
        : (warned.findLast((one) => one < at) ?? warned.at(-1));
    if (next === undefined) return;
    show({ step: next, bar: undefined });
    const told = document.querySelector<HTMLDetailsElement>('details.warnings');
    if (told) told.open = true;
  };
  useKeys([
    { key: 'n', does: 'next step with a warning', act: () => toWarning(1) },
    { key: 'N', does: 'previous one', act: () => toWarning(-1) },
    { key: '/', does: 'search all metrics', act: () => go(`${address('runs', name, 'metrics')}?search=`) },
  ]);
  useViewKeys(view);
  return (
    <>
      <RunHead overview={overview} tab="" />
      <Figures overview={overview} />
      <div class="main-and-side">
        <SuccessChart overview={overview} curves={curves} view={view} spans={spans} onPick={pick} />
        {step === undefined ? (
          <StartCard overview={overview} />
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
      <SmallCharts curves={curves} axis={view.axis} smoothing={view.smoothing} spans={spans} onPick={pick} />
      <PromptsCard {...overview.history} />
      <div class="main-and-side">
        {problem ? (
          <Failed problem={problem} />
        ) : step !== undefined && episodes ? (
          <GroupTable run={name} place={String(step)} groups={bar ? groups.filter(bar.holds) : groups} />
        ) : (
          <div />
        )}
        <SettingsCard run={name} isLive={overview.state === 'running'} />
      </div>
    </>
  );
}
