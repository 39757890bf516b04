/** Episodes without the words of some roles, for whoever learns nothing from them. */

import type { Call, Episode, Role, Transition } from '../core/episode.ts';

/**
 * The episode without the calls of these roles, except those that others go on from. What the environment did after them stays,
 * since it may have paid somebody else.
 */
export function withoutCallsOf(episode: Episode, isLeft: (role: Role) => boolean): Episode {
  if (!episode.calls.some(({ role }) => isLeft(role))) return episode;
  const kept = neededCalls(episode.calls, isLeft);
  return {
    ...episode,
    calls: episode.calls.filter(({ id }) => kept.has(id)),
    transitions: episode.transitions.map((transition) => withoutCall(transition, kept)),
  };
}

/** The calls of the other roles, and whatever these go on from, by their ids. */
function neededCalls(calls: readonly Call[], isLeft: (role: Role) => boolean): ReadonlySet<number> {
  const needed = new Set<number>();
  // Backwards: a call goes on from earlier ones alone.
  for (const { id, role, parent, under, parts = [] } of [...calls].reverse()) {
    if (!isLeft(role)) needed.add(id);
    if (!needed.has(id)) continue;
    for (const earlier of [parent, under]) if (earlier !== undefined) needed.add(earlier);
    for (const part of parts) {
      if ('call' in part) needed.add(part.call);
      if ('shown' in part) needed.add(part.shown);
    }
  }
  return needed;
}

function withoutCall(transition: Transition, kept: ReadonlySet<number>): Transition {
  const { call, ...rest } = transition;
  return call === undefined || kept.has(call) ? transition : rest;
}
