/** A page about one run beside its first: the same head, another body. */

import type { ComponentChildren } from 'preact';
import type { RunOverview } from '../../shapes.ts';
import { runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import { address } from '../navigation/router.ts';
import { Shell } from '../parts/shell.tsx';
import { RunHead, type RunTab } from './run-head.tsx';

interface TabPageProps {
  readonly run: string;
  readonly tab: Exclude<RunTab, ''>;
  readonly children: (overview: RunOverview) => ComponentChildren;
}

export function TabPage({ run, tab, children }: TabPageProps) {
  const { value: overview, problem } = useLoaded<RunOverview>(runPath(run));
  const up = address('runs', run);
  return (
    <Shell crumbs={[{ label: run, to: up }, { label: tab }]} problem={problem}>
      {overview && (
        <>
          <RunHead overview={overview} tab={tab} />
          {children(overview)}
        </>
      )}
    </Shell>
  );
}
