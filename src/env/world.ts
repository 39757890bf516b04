/** A world is anything an agent can act in: a pure environment, a game, or live sessions. The rollout knows only worlds. */

import type { Json } from '../core/json/json.ts';
import type { Message } from '../core/messages.ts';
import type { Rng } from '../core/rng.ts';
import type { Agent } from './agent.ts';
import type { Environment, Split, TaskSet } from './environment.ts';
import type { Game } from './game.ts';
import type { ActionProtocol } from './protocol.ts';
import type { ScoreGroup } from './scores/group-scores.ts';
import type { Role, Session, SnapshotCost } from './session.ts';
import type { SimulatedUser } from './user/simulate-user.ts';

/** A thought before an action, as a corrector sees it. */
export interface ThoughtToCorrect {
  /** Where it was thought, before the action. */
  readonly session: Session;
  /** The conversation so far. */
  readonly messages: readonly Message[];
  /** Without white space at its ends; empty where a scripted player is about to act. */
  readonly thought: string;
  readonly rng: Rng;
}

/** Scripted players: the expert, the beginner with typical mistakes, and uniform choice among the legal actions. */
export type PlayerKind = 'expert' | 'beginner' | 'random';

export interface World {
  readonly name: string;
  readonly description: string;
  readonly roles: readonly Role[];
  /** Turns of one role in one episode, unless the run says fewer. */
  readonly maxTurns: number;
  /** Least and most that an episode can earn one role; checks hold every episode to it. */
  readonly returns?: readonly [least: number, most: number];
  /** Fields of the rollout file that `info.credit` of its turns gives (docs/credit.md). */
  readonly facts?: readonly string[];
  /**
   * Whether its code is a reducer: what it does is done when a call returns, and depends on nothing else. Where its sessions
   * have no snapshots, places are reached by repeating actions, and a fresh chance takes the place of `rng` in between, so each
   * step has to draw from the `rng` of `open` itself.
   */
  readonly pure?: true;
  /**
   * Whether the same task, chance and actions always lead to the same place, wherever its code runs: a server whose environment
   * is pure, and which takes chance from here, or a live session that says so. Follows from `pure`. Episodes branch by doing
   * again what was done where its sessions have no snapshots; then each step has to draw from the `rng` of `open` itself.
   */
  readonly repeats?: true;
  /** What snapshots of its sessions cost; absent where they offer none. Recipes that branch need them, or a world that repeats. */
  readonly snapshots?: SnapshotCost;
  /** The pure environment behind it, where there is one: wrappers make other environments and games of it. */
  readonly environment?: Environment;
  /** The game behind it, where there is one: small games can be solved exactly, so strategies in them can be measured. */
  readonly game?: Game;
  /** The agent behind it, where its own code plays the episodes. */
  readonly agent?: Agent;
  /** Roles that simulated users play, unless a run seats others in them. The policy plays the rest. */
  readonly users?: Readonly<Record<Role, SimulatedUser>>;
  /** How actions are found in what the policy wrote. Default: the raw text, trimmed. */
  readonly protocol: ActionProtocol;
  tasks(split: Split): TaskSet<Json>;
  /**
   * Open an episode. `rng` is the episode's own stream of chance; `startRng`, where it is given, is shared by the episodes
   * of a group, whose starts must be the same to be compared. `signal` aborts when nobody waits for it any more.
   */
  open(task: Json, rng: Rng, startRng?: Rng, signal?: AbortSignal): Promise<Session>;
  /**
   * A session that goes on from what `toJson` of a free snapshot gave, with the chance that its origin had, also in another
   * process.
   *
   * @throws TurnwiseError `snapshot-invalid`
   */
  reopen?(held: Json): Promise<Session>;
  /**
   * The action (before the protocol's formatting) a scripted player takes now; undefined where there is no such player.
   * Remote worlds ask their server.
   */
  script?(session: Session, kind: PlayerKind, rng: Rng): string | undefined | Promise<string | undefined>;
  /**
   * The thought that is right there, or the same one where nothing is wrong with it. Where the protocol tells thoughts from
   * actions, scripted players write it before theirs, and recipes may imitate it. A corrector may be a language model.
   */
  correctThought?(turn: ThoughtToCorrect): string | Promise<string>;
  /**
   * The completion that would answer the task, word for word in the present wording and action format; or several, of
   * which each would. Absent where no single completion does.
   */
  truth?(task: Json): string | readonly string[];
  /** What helps with a task, more of it at higher levels, from 1; undefined where there is no more. */
  guidance?(task: Json, level: number): string | undefined;
  /** Rewards that compare the episodes of a group, such as those of a judge; asked once, when all have ended. */
  readonly scoreGroup?: ScoreGroup;
}

/** The roles that are the policy's, unless a run seats others in them. */
export function policyRoles({ roles, users = {} }: Pick<World, 'roles' | 'users'>): readonly Role[] {
  return roles.filter((role) => !Object.hasOwn(users, role));
}

/** Whether episodes can go on from places of others: from snapshots, or by doing again what was done. */
export function canBranch(world: Partial<Pick<World, 'agent' | 'pure' | 'repeats' | 'snapshots'>>): boolean {
  return world.agent === undefined && (canRepeat(world) || world.snapshots !== undefined);
}

/** Whether a place of an earlier episode is reached by doing again what was done. */
export function canRepeat({
  agent,
  pure,
  repeats,
}: Partial<Pick<World, 'agent' | 'pure' | 'repeats'>>): boolean {
  return agent === undefined && (pure === true || repeats === true);
}

/** Why a finished episode cannot be gone on with from one of its turns: an agent's own code asks the model, or the world is not pure. */
export type Unrepeatable = 'agent' | 'impure';

/** Undefined where every turn can be reached again. */
export function unrepeatableOf({ agent, pure }: Pick<World, 'agent' | 'pure'>): Unrepeatable | undefined {
  if (agent !== undefined) return 'agent';
  return pure ? undefined : 'impure';
}

/** The solutions that a world knows of a task: none where it knows none, and where its own code fails: what cannot be told is no reason to end a run. */
export function truthsOf({ truth }: Pick<World, 'truth'>, task: Json): readonly string[] {
  let given: unknown;
  try {
    given = truth?.(task) ?? [];
  } catch {
    return [];
  }
  const truths: readonly unknown[] = Array.isArray(given) ? given : [given];
  return truths.filter((one) => typeof one === 'string');
}

/**
 * What a world says to help with a task at a level, from 1: its own guidance, else a solution that it knows at level 1. What
 * cannot be told, also because its own code fails, is no reason to end a run.
 */
export function guidanceOf(
  world: Pick<World, 'guidance' | 'truth'>,
  task: Json,
  level: number,
): string | undefined {
  if (!world.guidance) return level === 1 ? truthsOf(world, task)[0] : undefined;
  try {
    const said: unknown = world.guidance(task, level);
    return typeof said === 'string' ? said : undefined;
  } catch {
    return undefined;
  }
}
