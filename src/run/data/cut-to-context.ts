/** Recorded episodes that are longer than the context of whoever learns from them. */

import type { Call, Episode, Transition } from '../../core/episode.ts';
import { isTrained } from '../../core/trajectory.ts';

/**
 * The episode up to the last turn that fits, the episode itself where all do, and undefined where not even the first learned
 * answer does. What later turns earned lies on the last that is left, so that the return of each turn is what it was.
 */
export function cutToContext(episode: Episode, contextLength: number): Episode | undefined {
  const lengths = new Map<number, number>();
  const fits = (call: Call): boolean => {
    const before = call.parent === undefined ? 0 : (call.kept ?? lengths.get(call.parent));
    if (before === undefined) return false;
    const length = before + call.context.length + call.ids.length;
    if (length > contextLength) return false;
    lengths.set(call.id, length);
    return true;
  };
  // What goes on from an answer that is gone is gone, also where it kept only the beginning of it.
  const calls = episode.calls.filter(
    (call) => (call.parent === undefined || lengths.has(call.parent)) && fits(call),
  );
  return calls.length === episode.calls.length ? episode : cutTo(episode, calls);
}

/** The episode with these calls of it alone, and the rewards of all; undefined where none of them is learned. */
export function cutTo(episode: Episode, calls: readonly Call[]): Episode | undefined {
  if (!calls.some(isTrained)) return undefined;
  const ids = new Set(calls.map(({ id }) => id));
  const kept = episode.transitions.filter(({ call }) => call === undefined || ids.has(call));
  if (kept.length === 0) return undefined;
  const { closing: _, failure: __, ...rest } = episode;
  return { ...rest, calls, transitions: withRewardsOf(kept, episode.transitions), stop: 'early-stop' };
}

/** The transitions, the last of which has the rewards of those that are gone. */
function withRewardsOf(kept: readonly Transition[], all: readonly Transition[]): Transition[] {
  const last = kept.at(-1)!;
  const rewards: Record<string, number> = { ...last.rewards };
  for (const transition of all) {
    if (kept.includes(transition)) continue;
    for (const [role, reward] of Object.entries(transition.rewards)) {
      rewards[role] = (rewards[role] ?? 0) + reward;
    }
  }
  return [...kept.slice(0, -1), { ...last, rewards }];
}
