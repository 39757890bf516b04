/** A scripted episode from start to end, without a model: for oracles, examples and tests of environments. */

import type { Json } from '../core/json/json.ts';
import type { Message } from '../core/messages.ts';
import { Rng } from '../core/rng.ts';
import { partOf } from './mix/part.ts';
import type { Role, Session, StepResult } from './session.ts';
import type { PlayerKind, World } from './world.ts';

export interface PlayedTurn extends StepResult {
  readonly role: Role;
  readonly messages: readonly Message[];
  readonly action: string;
}

export interface PlayedEpisode {
  readonly turns: readonly PlayedTurn[];
  /** What the first role reads at the end. */
  readonly closing: readonly Message[];
  /** Whether the environment ended the episode, rather than the turn limit. */
  readonly done: boolean;
  /** Of the first role. */
  readonly outcome: number;
  readonly success: boolean;
}

/**
 * Play `task` with a scripted player, or with `choose`, until it ends or a role has used its turns.
 * The same seed and choices give the same episode. Raises a RangeError where the world has no such player.
 */
export async function playEpisode(
  world: World,
  task: Json,
  seed: string | number,
  player: PlayerKind | ((session: Session, rng: Rng) => string | Promise<string>),
): Promise<PlayedEpisode> {
  const { signal } = new AbortController();
  const session = await world.open(task, Rng.of('world', seed));
  const choices = Rng.of('player', seed);
  const choose =
    typeof player === 'function' ? player : (live: Session) => world.script?.(live, player, choices);
  const turns: PlayedTurn[] = [];
  const used = new Map<Role, number>();
  try {
    for (let role = session.toMove(); role !== undefined; role = session.toMove()) {
      const count = used.get(role) ?? 0;
      if (count >= partOf(world, session).maxTurns) break;
      used.set(role, count + 1);
      const messages = session.observe(role);
      const action = await choose(session, choices);
      if (action === undefined) throw new RangeError(`"${world.name}" has no such scripted player`);
      turns.push({ role, messages, action, ...(await session.step(action, signal)) });
    }
    const first = world.roles[0] ?? '';
    return {
      turns,
      closing: session.observe(first),
      done: session.toMove() === undefined,
      outcome: turns.reduce((sum, turn) => sum + (turn.rewards[first] ?? 0), 0),
      success: turns.at(-1)?.success[first] ?? false,
    };
  } finally {
    await session.close();
  }
}

export interface PlayerMeans {
  readonly success: number;
  readonly outcome: number;
  readonly turns: number;
}

/** What a scripted player achieves on the first `episodes` tasks of the test split, on average. */
export async function measurePlayer(world: World, kind: PlayerKind, episodes: number): Promise<PlayerMeans> {
  const tasks = world.tasks('test');
  const sums = { success: 0, outcome: 0, turns: 0 };
  for (let index = 0; index < episodes; index++) {
    const played = await playEpisode(world, tasks.at(index % tasks.size), index, kind);
    sums.success += played.success ? 1 : 0;
    sums.outcome += played.outcome;
    sums.turns += played.turns.length;
  }
  return {
    success: sums.success / episodes,
    outcome: sums.outcome / episodes,
    turns: sums.turns / episodes,
  };
}
