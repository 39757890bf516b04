/**
 * A stored episode that is played again: up to a turn it does what it did, reads what it read and has the attempts and the chance that
 * it had. The record says what came of each of these turns, so neither the policy nor the turn control is asked.
 */

import type { Call, Episode, EpisodeKey, Group } from '../../core/episode.ts';
import { keyText } from '../../core/episode-key.ts';
import type { Message } from '../../core/messages.ts';
import type { StopReason } from '../../core/stop.ts';
import { chainOf } from '../../core/trajectory.ts';
import type { CompletionRequest } from '../../policy/policy.ts';
import { EpisodeEnd } from '../boundary.ts';
import { type CopiedPrefix, keyAt, type PartEnd } from './copied-prefix.ts';

/** How a record ended. */
export type RecordedEnd = Pick<Episode, 'stop' | 'failure'>;

export interface Replay extends CopiedPrefix {
  /** What came after the turns that are repeated; absent where all are. */
  readonly next?: { readonly attempt: number; readonly messages: readonly Message[] | undefined };
  /** How it ended, where all of it is repeated: then nobody goes on. */
  readonly end?: RecordedEnd;
  /** How much of it a branch shares: its turn control sees what comes after. */
  readonly shared: { readonly calls: number; readonly transitions: number };
  /** Whether prompts may differ from those of the record, as where another model played it. */
  readonly anyPrompt: boolean;
  /** Told of each call before it is repeated. */
  readonly onRepeat?: (request: CompletionRequest, call: Call) => void;
}

export interface ReplayOptions {
  /** Transitions that are repeated; more than there are: all of it, to its end. */
  readonly turns: number;
  /** Names the chance of its episodes, where their keys do not. */
  readonly drawsAs?: (key: EpisodeKey) => EpisodeKey;
  /** Of branches, where their record does not say it. */
  readonly branchChance?: 'same' | 'fresh';
  /** Whether what comes afterwards happens by a chance of its own. */
  readonly fresh?: boolean;
  readonly anyPrompt?: boolean;
  readonly onRepeat?: Replay['onRepeat'];
}

/** @throws RangeError where the prefix of a branch is not in the group */
export function replayOf(group: Group, episode: Episode, options: ReplayOptions): Replay {
  const { turns, drawsAs = (key) => key, fresh = false, anyPrompt = false, onRepeat } = options;
  const { calls, transitions } = chainOf(group, episode);
  const { branchedFrom, stop, failure } = episode;
  const all = turns >= transitions.length && !fresh;
  const repeated = transitions.slice(0, turns);
  const acts = new Set(repeated.map(({ call }) => call));
  const said = all ? calls : calls.slice(0, calls.findLastIndex(({ id }) => acts.has(id)) + 1);
  const places = partsOf(group, episode, options).map((part) => ({
    ...part,
    episode: drawsAs(part.episode),
  }));
  const next = transitions[repeated.length];
  return {
    calls: said,
    transitions: repeated,
    places: fresh ? endingAt(places, repeated.length - 1, drawsAs(episode.key)) : places,
    shared: { calls: branchedFrom?.calls ?? 0, transitions: (branchedFrom?.transition ?? -1) + 1 },
    anyPrompt: anyPrompt || all,
    ...(all && { end: { stop, ...(failure !== undefined && { failure }) } }),
    ...(!all && {
      next: {
        attempt: next?.attempt ?? repeated.at(-1)?.attempt ?? 0,
        messages: calls.slice(said.length).find(({ purpose }) => purpose === 'act')?.messages,
      },
    }),
    ...(onRepeat && { onRepeat }),
  };
}

/** Where the parts of an episode end that others played, or that drew from another chance. */
function partsOf(group: Group, episode: Episode, { branchChance = 'same' }: ReplayOptions): PartEnd[] {
  const { branchedFrom, startedAt = [] } = episode;
  if (branchedFrom === undefined) return [...startedAt];
  const { transition, chance = branchChance } = branchedFrom;
  const wanted = keyText(branchedFrom.episode);
  const origin = group.members.find(({ key }) => keyText(key) === wanted)!;
  const before = partsOf(group, origin, { turns: 0, branchChance });
  const player = keyAt({ places: before }, transition, origin.key);
  return [...before.filter((part) => part.transition < transition), { episode: player, transition, chance }];
}

/** The same parts up to a transition, after which chance is another one. */
function endingAt(places: readonly PartEnd[], transition: number, own: EpisodeKey): PartEnd[] {
  const player = keyAt({ places }, transition, own);
  return [
    ...places.filter((part) => part.transition < transition),
    { episode: player, transition, chance: 'fresh' },
  ];
}

export function endOf({ stop, failure = stop }: RecordedEnd): EpisodeEnd {
  return new EpisodeEnd(stop satisfies StopReason, failure);
}
