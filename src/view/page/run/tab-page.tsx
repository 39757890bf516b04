/** A page about one run beside its first: the same head, another body. */

import type { ComponentChildren } from 'preact';
import type { RunOverview } from '../../shapes.ts';
import { runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import { address } from '../navigation/router.ts';
import { Shell } from '../parts/shell.tsx';
import { PageFailed, Waiting } from '../parts/states.tsx';
import { RunHead } from './run-head.tsx';

interface TabPageProps {
  readonly run: string;
  readonly tab: 'metrics' | 'episodes' | 'config' | 'log';
  readonly children: (overview: RunOverview) => ComponentChildren;
}

export function TabPage({ run, tab, children }: TabPageProps) {
  const { value: overview, problem } = useLoaded<RunOverview>(runPath(run));
  const up = address('runs', run);
  return (
    <Shell crumbs={[{ label: 'runs', to: '/' }, { label: run, to: up }, { label: tab }]} up={up}>
      {problem ? (
        <PageFailed problem={problem} />
      ) : overview ? (
        <>
          <RunHead overview={overview} tab={tab} />
          {children(overview)}
        </>
      ) : (
        <Waiting lines={8} />
      )}
    </Shell>
  );
}
