/** Places of episodes from which others go on: held as snapshots, or reached again by repeating what was done before. */

import type { Role } from '../core/episode.ts';
import { TurnwiseError } from '../core/errors.ts';
import type { Rng } from '../core/rng.ts';
import { canRepeat, type World } from '../env/world.ts';
import { EpisodeEnd } from './boundary.ts';
import { ChanceInTurn } from './chance-in-turn.ts';
import type { Thread } from './context/thread.ts';
import { GuardedSession, type GuardOptions, type OpenRequest } from './guard/guarded-session.ts';
import type { Prefix } from './recorder.ts';
import type { Said } from './turns/episode-turns.ts';

/** What one role has done so far. */
export interface Seat {
  readonly role: Role;
  /** What it was shown and wrote so far, with the state of its context. */
  thread: Thread;
  /**
   * The call whose path the policy's sampler holds of the conversation. The prefix of a branch was another conversation, and
   * completions of others are in none.
   */
  held: number | undefined;
  /** What was wrong with the form of the last completion; the agent is told before its next turn. */
  problem: string | undefined;
  /** What it reads before its next turn, beside what the environment shows it. */
  said: Said;
}

/** What leads to a place from the start: how its episode was opened, all actions since, and where chance was drawn anew. */
export interface Way {
  /** Makes the streams anew. */
  readonly opening: () => OpenRequest;
  readonly actions: readonly string[];
  readonly drawnAnew?: readonly { readonly after: number; readonly chance: () => Rng }[];
}

/** The way of an episode that went on from the end of this one with a fresh chance. */
export function drawingAnew(way: Way, chance: () => Rng): Way {
  return { ...way, drawnAnew: [...(way.drawnAnew ?? []), { after: way.actions.length, chance }] };
}

interface Where {
  readonly prefix: Prefix;
  readonly seats: readonly Seat[];
  /** The next prompt there, where critics are asked what it is worth. */
  readonly promptIds?: Int32Array;
  readonly way?: Way;
}

export interface KeptPlace extends Where {
  /**
   * A session that goes on from here, and ends with the episode of `guard`. It repeats the chance of its origin, or draws
   * from `chance`.
   *
   * @throws EpisodeEnd
   */
  open(guard: GuardOptions, chance?: Rng): Promise<GuardedSession>;
  /** Never throws. */
  dispose(): Promise<void>;
}

/** The start of an episode, as a place. */
export function startOf(prefix: Prefix, opening: () => OpenRequest): KeptPlace {
  return {
    prefix,
    seats: [],
    way: { opening, actions: [] },
    open: (guard, chance) => GuardedSession.open({ ...opening(), ...(chance && { rng: chance }) }, guard),
    dispose: async () => {},
  };
}

/**
 * The present place of a session: a snapshot where there are any, the way to it where its world repeats what is done again;
 * undefined where neither is.
 *
 * @param role who acts next
 * @throws EpisodeEnd
 */
export async function keepPlace(
  session: GuardedSession,
  role: Role,
  { world, boundary, timeoutMs }: GuardOptions,
  where: Where,
): Promise<KeptPlace | undefined> {
  if (session.hasSnapshots) {
    const snapshot = await session.snapshot();
    const what = `letting go of ${session.place}`;
    return {
      ...where,
      open: (guard, chance) => GuardedSession.reopen(snapshot, chance, guard),
      dispose: () => boundary.quietly(what, timeoutMs, () => snapshot.dispose()),
    };
  }
  const { way } = where;
  if (!canRepeat(world) || way === undefined) return undefined;
  const anchor = session.anchor(role);
  return {
    ...where,
    open: (guard, chance) => repeated(way, { role, anchor }, guard, chance),
    dispose: async () => {},
  };
}

async function repeated(
  { opening, actions, drawnAnew = [] }: Way,
  end: { readonly role: Role; readonly anchor: string },
  guard: GuardOptions,
  fresh: Rng | undefined,
): Promise<GuardedSession> {
  const { rng, ...opened } = opening();
  const chance = new ChanceInTurn(rng);
  const turnTo = (done: number): void => {
    for (const { after, chance: next } of drawnAnew) if (after === done) chance.goOnWith(next());
  };
  turnTo(0);
  const session = await GuardedSession.open({ ...opened, rng: chance }, guard);
  try {
    for (const [index, action] of actions.entries()) {
      if (session.toMove() === undefined) break;
      await session.step(action);
      turnTo(index + 1);
    }
    const role = session.toMove();
    const seen = role === end.role ? session.anchor(role) : `${role ?? 'nobody'} to move`;
    if (seen !== end.anchor) throw failed(guard, ledElsewhere(guard.world, seen, end.anchor));
    if (fresh) chance.goOnWith(fresh);
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}

const failed = ({ place }: GuardOptions, error: Error): EpisodeEnd =>
  new EpisodeEnd('failed:environment', `going on in ${place}: ${error.message}`, error);

function ledElsewhere({ name, pure }: World, seen: string, expected: string): TurnwiseError {
  const [promise, word] = pure ? ['is pure', 'pure'] : ['repeats what is done again', 'repeats'];
  return new TurnwiseError('replay-differs', {
    what: `"${name}" says that it ${promise}, and the same task, chance and actions led it to another state`,
    seen: seen.slice(0, 500),
    allowed: expected.slice(0, 500),
    next: `Its step may read a clock, a file or a variable outside the state. Take that out, or leave \`${word}\` out`,
    fields: { environment: name },
  });
}
