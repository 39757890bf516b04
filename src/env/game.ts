/** The contract of a game author: several roles over one plain JSON state. An environment is the one-role case. */

import type { Json } from '../core/json/json.ts';
import type { JsonCompatible } from '../core/json/json-compatible.ts';
import type { Message } from '../core/messages.ts';
import type { Rng } from '../core/rng.ts';
import type { Split } from './environment.ts';
import type { ScoreGroup } from './scores/group-scores.ts';
import type { Role } from './session.ts';
import { readTasks, type TaskSet, type Tasks } from './tasks/tasks.ts';

export interface GameStep<State> {
  readonly state: State;
  readonly rewards: Readonly<Record<Role, number>>;
  readonly done: boolean;
  readonly success?: Readonly<Record<Role, boolean>>;
  readonly valid: boolean;
  /** Figures to watch: their means are events' metrics `env/<name>`. */
  readonly metrics?: Readonly<Record<string, number>>;
  readonly info?: Json;
}

/** What authors write, but for the tasks. */
interface GameRules<Task, State> {
  readonly name: string;
  readonly description: string;
  readonly roles: readonly Role[];
  /** Turns of one role. */
  readonly maxTurns: number;
  /** Least and most that an episode can earn one role: `turnwise env check` holds every episode to it. */
  readonly returns?: readonly [least: number, most: number];
  start(task: Task, rng: Rng): State;
  /** Who acts in this state; undefined when it is over. */
  toMove(state: State): Role | undefined;
  /** Everything `role` may know in this state that it was not shown before its last turn. */
  observe(state: State, role: Role): readonly Message[];
  step(state: State, role: Role, action: string, rng: Rng): GameStep<State>;
  /** As in an environment: fields that `info.credit` of its turns gives. */
  readonly facts?: readonly string[];
  /** Key of what `role` knows (its information set). */
  anchor(state: State, role: Role): string;
  actions?(state: State, role: Role): readonly string[];
  solve?(state: State, role: Role, rng: Rng): string;
  stumble?(state: State, role: Role, rng: Rng): string;
  render?(state: State): string;
  /** Rewards that compare the episodes of a group. */
  readonly scoreGroup?: ScoreGroup;
  /** As `observe`, in words for models that read; pretrained models get it. The first turn of a role opens with instructions. */
  natural?(state: State, role: Role): readonly Message[];
}

/** Tasks and states are plain JSON, which `defineGame` and `fromGame` check. */
export interface Game<Task = Json, State = Json> extends GameRules<Task, State> {
  tasks(split: Split): TaskSet<Task>;
}

/** What `defineGame` takes. */
export interface GameDefinition<Task = Json, State = Json> extends GameRules<Task, State> {
  readonly tasks: Tasks<Task>;
}

/**
 * A game from its definition. It infers the types of task and state, and checks that they hold nothing but JSON. Tasks are
 * given as in `defineEnvironment`.
 */
export function defineGame<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>>(
  definition: GameDefinition<Task, State>,
): Game<Task, State> {
  return { ...definition, tasks: readTasks(definition.tasks) };
}
