/** A recorded episode in its environment alone: its actions are repeated by the chance that they met, and no model is asked. */

import { TurnwiseError } from '../../core/errors.ts';
import { isTrainable } from '../../core/stop.ts';
import type { World } from '../../env/world.ts';
import { Boundary } from '../../rollout/boundary.ts';
import type { GuardedSession } from '../../rollout/guard/guarded-session.ts';
import { EpisodeTurns } from '../../rollout/turns/episode-turns.ts';
import { unwatched } from '../../rollout/watch.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import { type Recorded, replayFrom } from './recorded.ts';

export interface WalkOptions {
  readonly world: World;
  readonly config: Pick<TrainConfig, 'seed' | 'rollout'>;
  readonly signal: AbortSignal;
}

/**
 * @param visit told of the session before each turn, and after the last one, where `role` is ''
 * @throws TurnwiseError `play-differs` where a turn meets another state than the recorded one
 */
export async function walkRecord(
  past: Recorded,
  { world, config: { seed, rollout }, signal }: WalkOptions,
  visit: (session: GuardedSession, turn: number, role: string) => void,
): Promise<void> {
  const { key, drawsAs, episode, chain } = past;
  const { calls, transitions } = chain;
  const boundary = new Boundary(signal, unwatched, false);
  const guard = { world, boundary, timeoutMs: rollout.turnTimeoutMs, place: 'the recorded episode' };
  const replayed = replayFrom(past, { turns: Number.POSITIVE_INFINITY });
  const turns = new EpisodeTurns({
    ...{ key, task: episode.task, seed, limit: transitions.length, copied: replayed, replayed },
    ...(drawsAs && { drawsAs }),
  });
  let session = await turns.open(guard);
  try {
    for (const [turn, { action, anchor, role }] of transitions.entries()) {
      const here = session.anchor(role);
      if (here !== anchor) throw differs(turn, here, anchor);
      visit(session, turn, role);
      await session.step(action);
      if (turn === transitions.length - 1) break;
      const soFar = { ...episode, calls, transitions: transitions.slice(0, turn + 1) };
      const next = await turns.after({ role, turns: turn + 1 }, () => soFar, session, guard);
      if ('session' in next) session = next.session;
    }
    visit(session, transitions.length, '');
  } finally {
    await session.close();
    boundary.close();
  }
}

/**
 * The episode with the chance of its branches, where an earlier version did not record it: the one that leads to the recorded
 * states.
 */
export async function withBranchChance(past: Recorded, options: WalkOptions): Promise<Recorded> {
  const { branchedFrom, limit, stop } = past.episode;
  // Whoever recorded a limit recorded the chance.
  if (branchedFrom === undefined || limit !== undefined) return past;
  for (const branchChance of ['same', 'fresh'] as const) {
    const tried = { ...past, branchChance };
    try {
      await walkRecord(tried, options, (session, turn, role) => {
        const isOver = session.toMove() === undefined;
        if (role === '' && isTrainable(stop) && isOver !== (stop === 'done'))
          throw differs(turn, isOver ? 'the end' : 'no end', stop);
      });
      return tried;
    } catch (error) {
      if (!TurnwiseError.isInstance(error) || error.code !== 'play-differs') throw error;
    }
  }
  return past;
}

export function differs(turn: number, seen: string, anchor: string): TurnwiseError {
  return new TurnwiseError('play-differs', {
    what: `This environment is not the one that was recorded: it differs at turn ${turn + 1}`,
    seen: seen.slice(0, 120),
    allowed: anchor.slice(0, 120),
    next: 'Fork an episode of a run that this version of the environment made',
  });
}
