/** A recorded episode, to be played again: its task, what was done, read and said in it, and the names of its chance. */

import type { Episode, EpisodeKey, Group } from '../../core/episode.ts';
import { keyText } from '../../core/episode-key.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { type Chain, chainOf } from '../../core/trajectory.ts';
import type { EpisodeRequest } from '../../rollout/episode.ts';
import { type Replay, type ReplayOptions, replayOf } from '../../rollout/turns/replay.ts';
import type { EpisodeLabel } from '../../store/rollouts/episode-line.ts';
import { memberAt } from '../server/episode.ts';
import { Groups } from '../server/groups.ts';
import type { WatchedRun } from '../server/watched-run.ts';
import type { RecordedPlace } from './messages.ts';

export interface Recorded {
  readonly key: EpisodeKey;
  readonly group: Group;
  readonly episode: Episode;
  readonly label: EpisodeLabel;
  /** From the start, the prefix of a branch included. */
  readonly chain: Chain;
  /** What names its random streams, where that is not its key. */
  readonly drawsAs: EpisodeKey | undefined;
  /** Of a branch whose record does not say it. */
  readonly branchChance?: 'same' | 'fresh';
}

/** @throws TurnwiseError `episode-unknown`, `rollouts-invalid`, `episode-too-large` */
export async function recordedBefore(run: WatchedRun, from: Omit<RecordedPlace, 'turns'>): Promise<Recorded> {
  const read = await new Groups().read(run, from.place, from.group, from.label);
  const { group, stored } = read;
  const episode = memberAt(read, from.member);
  const { key } = episode;
  const { label } = stored;
  const drawsAs = isEvaluated(label) ? drawnBefore(key) : undefined;
  return { key, group, episode, label, chain: chainOf(group, episode), drawsAs };
}

export const isEvaluated = (label: EpisodeLabel): boolean => label === 'sampled' || label === 'greedy';

/** Evaluations draw as if the step before the first had asked for them. */
const drawnBefore = (key: EpisodeKey): EpisodeKey => ({ ...key, step: 0 });

export function replayFrom(
  { group, episode, label, branchChance }: Recorded,
  options: Omit<ReplayOptions, 'drawsAs' | 'branchChance' | 'anyPrompt'>,
): Replay {
  return replayOf(group, episode, {
    ...options,
    ...(isEvaluated(label) && { drawsAs: drawnBefore }),
    ...(branchChance && { branchChance }),
    // The tokens of another model may be others.
    anyPrompt: label === 'recorded',
  });
}

/** The episode with what it read of its own: no prompt of a checkpoint stands in for one that it did not have. */
export function requestOf(
  { key, episode, drawsAs }: Recorded,
  replayed: Replay,
  maxTurns: number,
): EpisodeRequest {
  const { task, prompt = '', stripped, told = stripped, startedAt = [] } = episode;
  // Said at the place from which it started, which is in the record.
  const isSaid = startedAt.some(({ transition }) => transition >= 0);
  return {
    ...{ key, task, prompt, maxTurns, replayed },
    ...(told && !isSaid && { say: told }),
    ...(drawsAs && { drawsAs }),
  };
}

/** @param missing what it takes to go on */
export function unrecorded(
  { key }: Recorded,
  missing: string,
  next = 'Replay all of it (without --to), or go on with an episode of an evaluation, or of a run that stores all steps (rolloutLog 1)',
): TurnwiseError {
  return new TurnwiseError('play-unrecorded', {
    what: `Episode ${keyText(key)} cannot be gone on with as it was played`,
    seen: `its run has not kept ${missing}`,
    next,
  });
}

export function notPure(world: string): TurnwiseError {
  return new TurnwiseError('play-impure', {
    what: `${world} cannot be taken back to a turn, since it is not a pure environment`,
    next: 'Play one of its tasks from the beginning',
  });
}
