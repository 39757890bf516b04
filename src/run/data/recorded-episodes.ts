/** Recorded episodes as a run learns from them: in the words of its model, in its context, and under keys of its own. */

import type { Call, Episode, Group } from '../../core/episode.ts';
import { keyText } from '../../core/episode-key.ts';
import { isTrainable } from '../../core/stop.ts';
import { chainOf, isTrained, roleGroups } from '../../core/trajectory.ts';
import type { EpisodesOfRows } from '../../data/episodes-of-rows.ts';
import type { Kept } from '../../train/kit/learn.ts';
import { successfulRoles } from './imitated-episodes.ts';
import { asRead, type Reader } from './in-context.ts';
import { type Lesson, withLesson } from './learned-answers.ts';

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
  /** Answers in roles that are not learned. */
  readonly others: number;
  /** What went wrong in the context, in each that is left out for it. */
  readonly failures: readonly unknown[];
}

/**
 * The groups in the words of this run's model, under keys of their own: step 0, which no run plays, and groups numbered one
 * after another. A branch is an episode of its own, with its prefix, so that it needs no episode that was left out.
 * Recorded actions are learned from whoever took them, at a log-probability that nobody knows and nothing reads.
 *
 * @param lesson what is learned of them. Default: all
 */
export async function recordedGroups(
  reader: Reader,
  { groups: found, exact }: EpisodesOfRows,
  lesson: Lesson = {},
): Promise<RecordedGroups> {
  const counts = { episodes: 0, successful: 0, exact: 0, cut: 0, tooLong: 0, asked: 0, others: 0 };
  const groups: Group[] = [];
  const failures: unknown[] = [];
  for (const group of found) {
    const members: Episode[] = [];
    for (const recorded of group.members) {
      if (!isTrainable(recorded.stop) || recorded.transitions.length === 0) continue;
      const { episode, others } = withLesson(alone(group, recorded), lesson);
      counts.others += others;
      if (!episode.calls.some(isTrained)) continue;
      const isExact = exact.has(recorded) && episode.calls.every(hasIds);
      const { read, asked, failed } = await asRead(episode, reader, isExact);
      if (read === undefined) {
        if (failed === undefined) counts.tooLong++;
        else failures.push(failed);
        continue;
      }
      counts.episodes++;
      if (read.calls.length < episode.calls.length) counts.cut++;
      if (isExact) counts.exact++;
      if (asked) counts.asked++;
      if (successfulRoles(read).length > 0) counts.successful++;
      members.push({ ...read, key: { ...read.key, step: 0, group: groups.length, member: members.length } });
    }
    if (members.length > 0) groups.push({ step: 0, group: groups.length, members });
  }
  return { groups, failures, ...counts };
}

/** Whether the ids of an answer are recorded, where it is learned: an endpoint may have told its text alone. */
const hasIds = (call: Call): boolean => !isTrained(call) || call.ids.length > 0 || call.text === '';

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

/** All that is learned of it, as the memory of a run: the roles with answers that are. */
export function keptOf(groups: readonly Group[]): Kept[] {
  return roleGroups(groups).flatMap(({ role, members }) =>
    members
      .filter(({ calls }) => calls.some((call) => call.role === role && isTrained(call)))
      .map(({ episode }) => ({ episode: episode.key, role })),
  );
}
