/** The latest run of a world, for commands that are given the world in place of a run. */

import type { WorldFactory } from '../env/factory.ts';
import type { World } from '../env/world.ts';
import { isSameWorld, runWorldOf, sourceKind } from '../run/load/world-source.ts';
import type { RunWorld } from '../store/run-file.ts';
import { latestRun } from '../store/runs.ts';

/** Its name; undefined where there is none below `root`. */
export function latestRunOf(factory: WorldFactory, world: World, root: string): string | undefined {
  const wanted = runWorldOf(factory, world);
  return latestRun(root, (known) => isFound(known, wanted));
}

/** What is served somewhere may be gone, and what was made in code is: such runs are asked for by name. */
function isFound(known: RunWorld, wanted: RunWorld): boolean {
  if (known.source === wanted.source) return isSameWorld(known, wanted);
  const kinds = [known, wanted].map(({ source }) => sourceKind(source));
  return !kinds.includes('address') && sourceKind(known.source) !== 'code' && isSameWorld(known, wanted);
}
