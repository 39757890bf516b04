/** What did this one number do? All metrics, searchable, drawn as the run page draws its eight. */

import { useLayoutEffect } from 'preact/hooks';
import type { SeriesTable } from '../../series.ts';
import { decodeSeries } from '../../series.ts';
import { ask, runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import { query, show } from '../navigation/router.ts';
import { Search } from '../parts/search.tsx';
import { Waiting } from '../parts/states.tsx';
import { useViewKeys, viewOf } from './run-view.ts';
import { MetricChart } from './small-charts.tsx';
import { TabPage } from './tab-page.tsx';

const mostShown = 64;

export function MetricsPage({ run }: { readonly run: string }) {
  return (
    <TabPage run={run} tab="metrics">
      {({ metrics }, version) => <Metrics run={run} names={metrics} version={version} />}
    </TabPage>
  );
}

interface MetricsProps {
  readonly run: string;
  readonly names: readonly string[];
  readonly version: number;
}

function Metrics({ run, names, version }: MetricsProps) {
  const wanted = query.value.get('q') ?? '';
  const words = wanted.toLowerCase().split(/\s+/);
  const shown = names
    .filter((name) => words.every((word) => name.toLowerCase().includes(word)))
    .slice(0, mostShown);
  const path = runPath(run, `/metrics?px=400&names=${shown.map(encodeURIComponent).join(',')}`);
  const { value: curves } = useLoaded<SeriesTable>(path, version, async (signal) =>
    decodeSeries(await (await ask(path, signal ? { signal } : {})).arrayBuffer()),
  );
  const view = viewOf(query.value);
  const { axis, smoothing } = view;
  useViewKeys(view);
  // Whoever comes to search goes on typing.
  useLayoutEffect(() => {
    if (!query.peek().has('search')) return;
    show({ search: undefined });
    document.getElementById('search')?.focus();
  }, []);
  return (
    <>
      <Search what="Search metrics" />
      {curves ? (
        <div class="small-charts">
          {shown
            .filter((name) => curves.series[name])
            .map((name) => (
              <MetricChart
                key={name}
                chart={{ metric: name, title: name }}
                curves={curves}
                axis={axis}
                smoothing={smoothing}
                onPick={() => {}}
              />
            ))}
        </div>
      ) : (
        <Waiting lines={8} />
      )}
      {shown.length === 0 && <p class="ink2">No metric matches “{wanted}”.</p>}
      {names.length > mostShown && shown.length === mostShown && (
        <p class="ink2">The first {mostShown} that match; search for others.</p>
      )}
    </>
  );
}
