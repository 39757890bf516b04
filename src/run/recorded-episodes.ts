/** Recorded episodes as a run learns from them: in the words of its model, and under keys of its own. */

import type { Episode, Group } from '../core/episode.ts';
import { keyText } from '../core/episode-key.ts';
import { isTrainable } from '../core/stop.ts';
import { chainOf, roleGroups } from '../core/trajectory.ts';
import { asTrained, renderDemonstrations } from '../synth/demonstrations.ts';
import type { Kept } from '../train/kit/learn.ts';
import type { Learner } from '../train/kit/learner.ts';

/**
 * The groups in the words of this run's model, under keys of their own: step 0, which no run plays, and groups numbered one
 * after another. A branch is an episode of its own, with its prefix, so that it needs no episode that was left out.
 * Recorded actions are learned from whoever took them, at a log-probability that nobody knows and nothing reads.
 */
export function recordedGroups({ renderer }: Pick<Learner, 'renderer'>, found: readonly Group[]): Group[] {
  return found
    .map((group) => ({
      ...group,
      members: group.members
        .filter(({ stop, transitions }) => isTrainable(stop) && transitions.length > 0)
        .map((episode) => alone(group, episode)),
    }))
    .filter(({ members }) => members.length > 0)
    .map((group, number): Group => {
      const { members } = renderDemonstrations(group, renderer);
      return {
        step: 0,
        group: number,
        members: members.map((episode, member) => {
          const trained = asTrained(episode);
          return { ...trained, key: { ...trained.key, step: 0, group: number, member } };
        }),
      };
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
