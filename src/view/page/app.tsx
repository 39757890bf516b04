/** Which page an address is. */

import { Component, type ComponentChildren } from 'preact';
import { AnnotationsPage } from './annotations/annotations-page.tsx';
import { ChosenRunsPage } from './compare/chosen-runs-page.tsx';
import { ComparePage } from './compare/compare-page.tsx';
import { EpisodePage } from './episode/episode-page.tsx';
import { EvaluationsPage } from './evaluations/evaluations-page.tsx';
import { GroupPage } from './group/group-page.tsx';
import { segments } from './navigation/router.ts';
import { Shell } from './parts/shell.tsx';
import { PlayPage } from './play/play-page.tsx';
import { ConfigurationPage } from './run/configuration-page.tsx';
import { EpisodesPage } from './run/episodes-page.tsx';
import { LogPage } from './run/log-page.tsx';
import { MetricsPage } from './run/metrics-page.tsx';
import { RunPage } from './run/run-page.tsx';
import { RunsPage } from './runs/runs-page.tsx';

export function App() {
  return (
    <Guarded key={segments.value.join('/')}>
      <Page />
    </Guarded>
  );
}

/** `/runs/NAME/steps/12/groups/3/0`: the names of places in files are `12` and `evaluation-12`. */
function Page() {
  const [runs, run, kind, step, groups, group, member] = segments.value;
  if (runs === undefined) return <RunsPage />;
  if (runs === 'comparisons' && run !== undefined) return <ComparePage name={run} />;
  if (runs === 'compare' && run === undefined) return <ChosenRunsPage />;
  if (runs === 'annotations' && run === undefined) return <AnnotationsPage />;
  if (runs !== 'runs' || run === undefined) return <Nowhere />;
  if (kind === undefined) return <RunPage key={run} run={run} />;
  if (kind === 'metrics') return <MetricsPage run={run} />;
  if (kind === 'config') return <ConfigurationPage run={run} />;
  if (kind === 'play') return <PlayPage run={run} />;
  if (kind === 'log') return <LogPage run={run} />;
  if (kind === 'episodes') return <EpisodesPage run={run} />;
  if (kind === 'evaluations' && groups === undefined && (step === undefined || /^\d+$/.test(step)))
    return <EvaluationsPage run={run} step={step === undefined ? undefined : Number(step)} />;
  if ((kind !== 'steps' && kind !== 'evaluations') || step === undefined || !/^\d+$/.test(step))
    return <Nowhere />;
  const place = kind === 'steps' ? step : `evaluation-${step}`;
  if (groups !== 'groups' || !/^\d+$/.test(group ?? '')) return <Nowhere />;
  const at = { run, place, group: Number(group) };
  if (member === undefined) return <GroupPage {...at} />;
  return /^\d+$/.test(member) ? <EpisodePage {...at} member={Number(member)} /> : <Nowhere />;
}

function Nowhere() {
  return (
    <Shell
      crumbs={[{ label: 'unknown page' }]}
      problem={{ code: 'page-unknown', message: 'There is no such page. All runs are at the beginning.' }}
    />
  );
}

/** A mistake in one page must not leave an empty window. */
class Guarded extends Component<{ readonly children: ComponentChildren }, { readonly error?: unknown }> {
  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <Shell
        crumbs={[{ label: 'error' }]}
        problem={{ code: 'page-failed', message: `This page could not be drawn: ${String(error)}` }}
      />
    );
  }
}
