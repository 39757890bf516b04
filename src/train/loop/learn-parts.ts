/** A step that is learned in parts, as if it had been learned at once. */

import type { Group } from '../../core/episode.ts';
import type { UsableGroups } from '../../curation/usable.ts';
import type { Batch } from '../batches/batches.ts';
import type { Metrics } from './events.ts';
import type { Update } from './learn-step.ts';
import type { Played } from './play-step.ts';

/** One part: what was handed over, what curation made of it, and what was learned. */
export interface LearnedPart {
  readonly batch: Batch;
  readonly curated: Played;
  readonly update: Update;
}

export interface LearnedStep extends Pick<Batch, 'staleness' | 'dropped'> {
  readonly played: readonly Group[];
  readonly groups: readonly Group[];
  readonly usable: UsableGroups;
  readonly update: Update;
}

/** All parts of a step; at least one. */
export function joinParts(parts: readonly LearnedPart[]): LearnedStep {
  const usable = parts.map(({ curated }) => curated.usable);
  return {
    staleness: Math.max(...parts.map(({ batch }) => batch.staleness)),
    dropped: sum(parts.map(({ batch }) => batch.dropped)),
    played: parts.flatMap(({ curated }) => curated.played),
    groups: parts.flatMap(({ curated }) => curated.groups),
    usable: {
      groups: usable.flatMap(({ groups }) => groups),
      failedEpisodes: sum(usable.map(({ failedEpisodes }) => failedEpisodes)),
      droppedGroups: sum(usable.map(({ droppedGroups }) => droppedGroups)),
    },
    update: joinUpdates(parts.map(({ update }) => update)),
  };
}

/** Memories are those after the last part; figures are means over the parts, and counts their sums. */
function joinUpdates(updates: readonly Update[]): Update {
  const last = updates.at(-1)!;
  if (updates.length === 1) return last;
  const credited = new Map(updates.flatMap(({ credited: own }) => [...(own ?? [])]));
  return {
    ...last,
    metrics: joinMetrics(updates.map(({ metrics }) => metrics)),
    ...(credited.size > 0 && { credited }),
    trainedTokens: sum(updates.map(({ trainedTokens }) => trainedTokens)),
    updates: sum(updates.map((update) => update.updates)),
  };
}

const COUNTS = /(^|\/)(tokens\/trained|refused_updates)$/;

function joinMetrics(all: readonly Metrics[]): Metrics {
  const names = new Set(all.flatMap((metrics) => Object.keys(metrics)));
  return Object.fromEntries(
    [...names].map((name) => {
      const values = all.flatMap((metrics) => metrics[name] ?? []);
      return [name, COUNTS.test(name) ? sum(values) : sum(values) / values.length];
    }),
  );
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
