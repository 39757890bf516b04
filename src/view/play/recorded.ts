/** A recorded episode, to be played again: its task, its turns, and the names of its chance. */

import type { Episode, EpisodeKey, Group } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import { chainOf, roleGroups } from '../../core/trajectory.ts';
import { memberAt } from '../server/episode.ts';
import { Groups } from '../server/groups.ts';
import type { WatchedRun } from '../server/watched-run.ts';
import type { RecordedPlace } from './messages.ts';
import type { RecordedTurn } from './steered-policy.ts';

export interface Recorded {
  readonly key: EpisodeKey;
  readonly task: Json;
  readonly group: Group;
  readonly episode: Episode;
  /** Calls of the turns that are kept, each with the situation of the turn that it ends. */
  readonly turns: readonly RecordedTurn[];
  /** What names its random streams, where that is not its key. */
  readonly drawsAs: EpisodeKey | undefined;
}

/** @throws TurnwiseError `episode-unknown`, `rollouts-invalid`, `episode-too-large` */
export async function recordedBefore(run: WatchedRun, from: RecordedPlace): Promise<Recorded> {
  const read = await new Groups().read(run, from.place, from.group, from.label);
  const { group, stored } = read;
  const episode = memberAt(read, from.member);
  const { calls } = chainOf(group, episode);
  const acted = roleGroups([group])
    .flatMap(({ members }) => members[from.member]?.turns ?? [])
    .sort((a, b) => (a.transition?.at ?? 0) - (b.transition?.at ?? 0));
  const kept = acted.slice(0, from.turns);
  const last = kept.at(-1)?.calls.at(-1)?.id ?? -1;
  const turns: RecordedTurn[] = calls
    .filter(({ id }) => id <= last)
    .map((call) => ({
      call,
      anchor: kept.find(({ calls: own }) => own.at(-1)?.id === call.id)?.transition?.anchor,
    }));
  const { key, task } = episode;
  // Evaluations draw as if the step before the first had asked for them.
  const drawsAs = stored.label === 'training' ? undefined : { ...key, step: 0 };
  return { key, task, group, episode, turns, drawsAs };
}

export function notPure(world: string): TurnwiseError {
  return new TurnwiseError('play-impure', {
    what: `${world} cannot be taken back to a turn, since it is not a pure environment`,
    next: 'Play one of its tasks from the beginning',
  });
}
