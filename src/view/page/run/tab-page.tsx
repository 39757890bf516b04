/** A page about one run beside its first: the same head, another body. */

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { RunOverview } from '../../shapes.ts';
import { runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import { useChanges } from '../data/use-changes.ts';
import { address } from '../navigation/router.ts';
import { Shell } from '../parts/shell.tsx';
import { RunHead, type RunTab } from './run-head.tsx';

interface TabPageProps {
  readonly run: string;
  readonly tab: Exclude<RunTab, ''>;
  /** @param version goes up while the run goes on */
  readonly children: (overview: RunOverview, version: number) => ComponentChildren;
}

export function TabPage({ run, tab, children }: TabPageProps) {
  const [live, follow] = useState<string | undefined>();
  const version = useChanges(live);
  const { value: overview, problem } = useLoaded<RunOverview>(runPath(run), version);
  useEffect(() => {
    if (overview?.state !== 'running') follow(undefined);
    else if (live === undefined) follow(`/api/live?run=${encodeURIComponent(run)}&after=${overview.offset}`);
  }, [overview]);
  const up = address('runs', run);
  return (
    <Shell crumbs={[{ label: run, to: up }, { label: tab }]} problem={problem}>
      {overview && (
        <>
          <RunHead overview={overview} tab={tab} />
          {children(overview, version)}
        </>
      )}
    </Shell>
  );
}
