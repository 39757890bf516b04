/**
 * The contract of an environment author: a pure reducer over plain JSON state.
 *
 * Because state is plain JSON, snapshots, branching, exact replay, anchors and a server come for free. Whatever else an
 * episode needs (deadlines, limits, failures, tokens) belongs to the rollout.
 */

import type { Split } from '../core/episode.ts';
import type { Json } from '../core/json/json.ts';
import type { JsonCompatible } from '../core/json/json-compatible.ts';
import type { Message } from '../core/messages.ts';
import type { Rng } from '../core/rng.ts';
import type { ScoreGroup } from './scores/group-scores.ts';
import { readTasks, type TaskSet, type Tasks } from './tasks/tasks.ts';
import type { ExampleTurn } from './wording.ts';

export type { Split } from '../core/episode.ts';
export type { TaskSet, Tasks } from './tasks/tasks.ts';

export interface Step<State> {
  readonly state: State;
  /** What the agent reads next (after `done`: the closing words). */
  readonly observation: string;
  readonly reward: number;
  readonly done: boolean;
  /** Whether the task was solved; matters when `done`. */
  readonly success?: boolean;
  /** False when the action was not understood or not legal: the agent is told and pays what the environment says. */
  readonly valid: boolean;
  /** Figures to watch: their means are events' metrics `env/<name>`. */
  readonly metrics?: Readonly<Record<string, number>>;
  readonly info?: Json;
}

/** An environment in words for models that read. It words states and changes none. */
export interface NaturalWording<State> {
  /** Said first, as the system message: the task, the form of an action. */
  readonly instructions: string;
  /** Turns of another task, each as it is read and answered. */
  readonly example: readonly ExampleTurn[];
  /** What the agent reads in `state`, into which `step` led; absent at the start. */
  observe(state: State, step?: Step<State>): string;
}

/** What authors write, but for the tasks. */
interface Reducer<Task, State> {
  readonly name: string;
  /** One line for lists. */
  readonly description: string;
  readonly maxTurns: number;
  /** Least and most that an episode can earn one role: `turnwise env check` holds every episode to it. */
  readonly returns?: readonly [least: number, most: number];
  start(task: Task, rng: Rng): { readonly state: State; readonly messages: readonly Message[] };
  /** Pure: never changes `state`, draws only from `rng`. `action` is what the action protocol extracted. */
  step(state: State, action: string, rng: Rng): Step<State>;
  /** Fields of the rollout file that `info.credit` of its turns gives (docs/credit.md): what methods may need of it. */
  readonly facts?: readonly string[];
  /** Key of the state for step-level groups. Default: canonical JSON of the state. */
  anchor?(state: State): string;
  /** Every legal action, where they can be listed. */
  actions?(state: State): readonly string[];
  /** The scripted expert: source of demonstrations, and the upper bound. */
  solve?(state: State, rng: Rng): string;
  /** A scripted beginner who makes the typical mistake; mixed into demonstrations. */
  stumble?(state: State, rng: Rng): string;
  /**
   * The thought that is right before acting in this state, in the place of `thought`, which is returned where nothing is
   * wrong with it. Scripted players write it in the place of the empty one, before their actions.
   */
  correctThought?(state: State, thought: string, rng: Rng): string;
  /**
   * What a scripted player writes down here, where the context asks for a summary: enough to go on without what was read
   * before. Absent: what contexts write by themselves, mostly the acts so far.
   */
  notes?(state: State): string;
  /** The same slot by slot: what a scripted player writes into a task graph. */
  slots?(state: State): Readonly<Record<string, string>>;
  /** A picture of the state for people. */
  render?(state: State): string;
  /** The action that answers the task at once, or several of which each does; for tasks that one action answers. */
  truth?(task: Task): string | readonly string[];
  /**
   * What helps with a task, said before the first turn: a hint at level 1, more of it at higher levels, undefined where there is
   * no more. The source of tasks `guidance` asks for it.
   */
  guidance?(task: Task, level: number): string | undefined;
  /** Rewards that compare the episodes of a group. */
  readonly scoreGroup?: ScoreGroup;
  /** A second wording, for models that read; pretrained models get it. */
  readonly natural?: NaturalWording<State>;
}

/** Tasks and states are plain JSON, which `defineEnvironment` and `fromEnvironment` check. */
export interface Environment<Task = Json, State = Json> extends Reducer<Task, State> {
  tasks(split: Split): TaskSet<Task>;
}

/** What `defineEnvironment` takes. */
export interface EnvironmentDefinition<Task = Json, State = Json> extends Reducer<Task, State> {
  readonly tasks: Tasks<Task>;
}

/**
 * An environment from its definition. It infers the types of task and state, and checks that they hold nothing but JSON.
 * Tasks may be a function of the split, or one list, numbered set or file, which is split here.
 *
 * @example
 * const echo = defineEnvironment({
 *   name: 'echo',
 *   description: 'Repeat the word.',
 *   maxTurns: 1,
 *   tasks: ['red', 'green', 'blue'],
 *   start: (word: string) => ({ state: word, messages: [user(word)] }),
 *   step: (word, action) => {
 *     const success = action === word;
 *     return { state: word, observation: '', reward: success ? 1 : 0, done: true, success, valid: true };
 *   },
 * });
 */
export function defineEnvironment<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>>(
  definition: EnvironmentDefinition<Task, State>,
): Environment<Task, State> {
  return { ...definition, tasks: readTasks(definition.tasks) };
}
