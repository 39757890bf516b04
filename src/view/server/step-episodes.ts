/** Episodes of one step or evaluation as the index knows them: no episode is read. */

import { TurnwiseError } from '../../core/errors.ts';
import type { EpisodeLabel } from '../../store/rollouts/episode-line.ts';
import type { IndexRecord } from '../../store/rollouts/index-record.ts';
import type { RolloutIndex } from '../../store/rollouts/rollout-index.ts';
import type { GroupPlace } from '../../store/rollouts/rollout-reader.ts';
import { type Shard, shardFile, shardOf, stepOfShard } from '../../store/rollouts/shard-names.ts';
import type { MemberRow } from '../shapes.ts';
import { finite } from './finite.ts';

const extension = '.jsonl.gz';

/** A place is how the file of a step is called: `12`, `evaluation-12`, `recorded`. @throws TurnwiseError `episode-unknown` */
export function shardAt(place: string): Shard {
  const shard = shardOf(`${place}${extension}`);
  if (shard === undefined) throw unknownEpisode(`"${place.slice(0, 40)}"`);
  return shard;
}

export function placeOf(shard: Shard): string {
  return shardFile(shard).slice(0, -extension.length);
}

export interface StoredGroup extends GroupPlace {
  readonly group: number;
  readonly label: EpisodeLabel;
  readonly records: readonly IndexRecord[];
}

/** The groups of a file. A member that joined a later group too has the key of its first one. */
export function groupsAt(index: RolloutIndex, shard: Shard): StoredGroup[] {
  const byOffset = new Map<number, IndexRecord[]>();
  for (const record of index.inShard(shard)) {
    const records = byOffset.get(record.offset);
    if (records) records.push(record);
    else byOffset.set(record.offset, [record]);
  }
  const step = stepOfShard(shard);
  return [...byOffset.values()].map((records) => {
    const own = records.find((record) => record.step === step) ?? records[0]!;
    const { offset, length, group, label } = own;
    return { shard, offset, length, group, label, records };
  });
}

/** @throws TurnwiseError `episode-unknown` */
export function findGroup(
  index: RolloutIndex,
  place: string,
  group: number,
  label?: string | undefined,
): StoredGroup {
  const found = groupsAt(index, shardAt(place)).find(
    (one) => one.group === group && (label === undefined || one.label === label),
  );
  if (!found) throw unknownEpisode(`group ${group} of ${place.slice(0, 40)}`);
  return found;
}

export function memberRows(groups: readonly StoredGroup[]): MemberRow[] {
  return groups.flatMap(({ group, label, records }) => records.map((record) => rowOf(record, group, label)));
}

function rowOf(record: IndexRecord, group: number, label: EpisodeLabel): MemberRow {
  return {
    group,
    member: record.line,
    role: record.role,
    label,
    stop: record.stop,
    success: record.has('success'),
    failed: record.has('failed'),
    branched: record.has('branched'),
    turns: record.turns,
    tokens: record.tokens,
    return: finite(record.return),
    seconds: record.seconds,
    surprise: finite(record.surprise),
    advantage: finite(record.advantage),
  };
}

export function unknownEpisode(seen: string): TurnwiseError {
  return new TurnwiseError('episode-unknown', {
    what: 'The run has stored no such episode',
    seen,
    next: 'Open a step that is stored; --set rolloutLog=1 stores every step',
  });
}
