/** Recorded episodes as a run learns from them: in the words of its model, in its context, and under keys of its own. */

import type { Call, Episode, Group } from '../../core/episode.ts';
import { keyText } from '../../core/episode-key.ts';
import { isTrainable } from '../../core/stop.ts';
import { chainOf, roleGroups } from '../../core/trajectory.ts';
import type { EpisodesOfRows } from '../../data/episodes-of-rows.ts';
import type { Kept } from '../../train/kit/learn.ts';
import { cutToContext } from './cut-to-context.ts';
import { asRead, type Read, type Reader } from './in-context.ts';

export interface RecordedGroups {
  readonly groups: readonly Group[];
  readonly episodes: number;
  readonly successful: number;
  /** Whose recorded ids are used as they are. */
  readonly exact: number;
  /** Cut at a turn, since they are longer than the context. */
  readonly cut: number;
  /** Whose first turn is longer than that. */
  readonly tooLong: number;
  /** Of those, read whole: the context asks the policy for what they do not have. */
  readonly asked: number;
  /** What went wrong in the context, in each that is left out for it. */
  readonly failures: readonly unknown[];
}

/**
 * The groups in the words of this run's model, under keys of their own: step 0, which no run plays, and groups numbered one
 * after another. A branch is an episode of its own, with its prefix, so that it needs no episode that was left out.
 * Recorded actions are learned from whoever took them, at a log-probability that nobody knows and nothing reads.
 */
export async function recordedGroups(
  reader: Reader,
  { groups: found, exact }: EpisodesOfRows,
): Promise<RecordedGroups> {
  const counts = { episodes: 0, successful: 0, exact: 0, cut: 0, tooLong: 0, asked: 0 };
  const { contextLength } = reader.engine.capabilities;
  const groups: Group[] = [];
  const failures: unknown[] = [];
  for (const group of found) {
    const members: Episode[] = [];
    for (const episode of group.members) {
      if (!isTrainable(episode.stop) || episode.transitions.length === 0) continue;
      const whole = alone(group, episode);
      const isExact = exact.has(episode);
      const own: Read | undefined = isExact ? undefined : await asRead(whole, reader);
      const fitting = own ? own.read : cutToContext(whole, contextLength);
      if (fitting === undefined) {
        if (own?.failed === undefined) counts.tooLong++;
        else failures.push(own.failed);
        continue;
      }
      counts.episodes++;
      if (fitting.calls.length < whole.calls.length) counts.cut++;
      if (isExact) counts.exact++;
      if (own?.asked) counts.asked++;
      if (Object.values(fitting.success).some(Boolean)) counts.successful++;
      const key = { ...fitting.key, step: 0, group: groups.length, member: members.length };
      members.push({ ...fitting, key, calls: fitting.calls.map(toBeLearned) });
    }
    if (members.length > 0) groups.push({ step: 0, group: groups.length, members });
  }
  return { groups, failures, ...counts };
}

/** Whoever wrote it; but what a file says is shown alone stays so, and so do models that an agent asked. */
function toBeLearned(call: Call): Call {
  return call.trainable === 'left-out' || call.purpose === 'consult' ? call : { ...call, trainable: true };
}

/** The groups with those members alone that succeeded, as far as anybody said. */
export function successfulOf(groups: readonly Group[]): Group[] {
  return groups.flatMap((group) => {
    const members = group.members.filter(({ success }) => Object.values(success).some(Boolean));
    return members.length === 0 ? [] : [{ ...group, members }];
  });
}

/** The episode with all its calls and transitions, and without the credit of the run that played it. */
function alone(group: Group, episode: Episode): Episode {
  const { branchedFrom: _, credit: __, ...rest } = episode;
  const { calls, transitions } = chainOf(group, episode);
  return { ...rest, calls, transitions, tools: toolsOf(group, episode) };
}

/** What was declared in it and in its prefixes. */
function toolsOf(group: Group, { branchedFrom, tools }: Episode): Episode['tools'] {
  const origin =
    branchedFrom && group.members.find(({ key }) => keyText(key) === keyText(branchedFrom.episode));
  return origin ? { ...toolsOf(group, origin), ...tools } : tools;
}

/** All of it, as the memory of a run that learns from it. */
export function keptOf(groups: readonly Group[]): Kept[] {
  return roleGroups(groups).flatMap(({ members }) =>
    members.map(({ episode, role }) => ({ episode: episode.key, role })),
  );
}
