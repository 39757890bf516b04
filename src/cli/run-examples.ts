/** Two stored evaluation episodes of one task, before and after: chosen so that they show what was learned. */

import { existsSync, readFileSync } from 'node:fs';
import type { RunDirectory } from '../store/run-directory.ts';
import type { Episode } from './episode-text.ts';

type Stored = Episode & { readonly id: string };

/** A task that the warm start failed and the trained policy solved, where there is one; otherwise the first task. */
export function runExamples(run: RunDirectory): { before: Episode; after: Episode } | undefined {
  const [before, after] = [read(run, 'evaluation-before'), read(run, 'evaluation-after')];
  const pairs = before.flatMap((episode) => {
    const later = after.find(({ id }) => id === episode.id);
    return later && episode.turns.length > 0 && later.turns.length > 0
      ? [{ before: episode, after: later }]
      : [];
  });
  return pairs.find((pair) => !pair.before.success && pair.after.success) ?? pairs[0];
}

function read(run: RunDirectory, label: string): Stored[] {
  const path = run.rolloutsPath(label);
  if (path === undefined || !existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Stored);
}
