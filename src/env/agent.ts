/** The contract of an agent developer: plain code that talks to the URL of a model, in whatever dialect, and says how well it went. */

import { TurnwiseError } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import type { JsonCompatible } from '../core/json/json-compatible.ts';
import type { Message } from '../core/messages.ts';
import type { Rng } from '../core/rng.ts';
import type { Split, TaskSet } from './environment.ts';
import type { ScoreGroup } from './scores/group-scores.ts';
import { AGENT } from './session.ts';
import { readTasks, type Tasks } from './tasks/tasks.ts';
import type { SimulatedUser } from './user/simulate-user.ts';
import type { UserInEpisode } from './user/talk.ts';

const marker = Symbol.for('turnwise.agent');

/** What a run of the agent gets: a task (plain JSON, since it is stored), and where its model answers. */
export interface AgentEpisode<Task = Json> {
  readonly task: Task;
  /** Ends in `/v1`; `/chat/completions`, `/responses` and `/messages` lie below it. It belongs to this episode alone. */
  readonly baseURL: string;
  /** The same without `/v1`, as Anthropic's own SDK and LangChain want it. */
  readonly anthropicBaseURL: string;
  readonly apiKey: string;
  /** Name of the model to ask for; of an agent with `roles`, the first. Each role is asked for by its own name. */
  readonly model: string;
  /** The simulated user of this name in `users`. @throws TurnwiseError `agent-invalid` where there is none */
  readonly user: (name: string) => UserInEpisode;
  /** Aborted when the episode is over, whatever the reason. */
  readonly signal: AbortSignal;
  /**
   * Reward a turn on the way, beside the reward that `run` returns: methods with turn-level credit give it to that turn.
   * Rewards of one turn add up.
   *
   * @param value a finite number
   * @param options.call the id that the answer carried (`chatcmpl-…`, `resp_…`, `msg_…`). Default: the last answer
   * @throws TurnwiseError `agent-reward` for an id that is not of this episode, for what is no finite number, and after the end
   *
   * @example
   * const answer = await openai.chat.completions.create({ model, messages });
   * reward(compiles(answer) ? 0.1 : -0.1, { call: answer.id });
   */
  readonly reward: (value: number, options?: { readonly call?: string }) => void;
}

export interface AgentResult {
  /** Of the end, for each role; what was given along the way is added to it. */
  readonly reward: number;
  /** What single roles earned besides, by role. */
  readonly rewards?: Readonly<Record<string, number>>;
  /** Default: whether this reward is above 0. */
  readonly success?: boolean;
  /** Figures to watch: their means are events' metrics `env/<name>`. */
  readonly metrics?: Readonly<Record<string, number>>;
  /** Kept with the episode. */
  readonly info?: Json;
}

/** A call of the agent that a teacher answers in place of the policy. */
export interface TeacherRequest<Task = Json> {
  readonly task: Task;
  /** Whom the agent asks: one of its `roles`, or `agent`. */
  readonly role: string;
  readonly messages: readonly Message[];
  /** Names of the tools that the call offers. */
  readonly tools: readonly string[];
  /** Whether this demonstration should be good, or show a beginner's mistakes. */
  readonly player: 'expert' | 'beginner';
  readonly rng: Rng;
}

/** What the teacher has the assistant say. */
export interface TeacherAnswer {
  readonly content?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: JsonObject }[];
}

export interface AgentDefinition<Task = Json> {
  readonly name: string;
  /** One line for lists. */
  readonly description?: string;
  /** A function from a split to a list or a numbered set (which may be infinite); or one list, set or file, which is split. */
  readonly tasks: Tasks<Task>;
  /** One episode. What it throws makes the episode `failed`, never a reward. */
  readonly run: (episode: AgentEpisode<Task>) => Promise<AgentResult>;
  /** A scripted teacher: the source of demonstrations, from which a small model gets its words and its start. */
  readonly demonstrate?: (request: TeacherRequest<Task>) => TeacherAnswer | Promise<TeacherAnswer>;
  /** Called once when all episodes are over: close what they shared, such as connections to tools. */
  readonly close?: () => Promise<void>;
  /**
   * Roles that the policy plays, such as a planner and a worker: the agent asks for each by its name in `model`. One learner
   * plays all of them unless `seats` gives a role to another, which then has weights or an adapter of its own. Default: one
   * role, `agent`.
   */
  readonly roles?: readonly string[];
  /** Calls of one episode; the next one is refused. Default 32. */
  readonly maxCalls?: number;
  /** Training settings that were found to work; layered over the recipe's, under the user's. */
  readonly settings?: JsonObject;
  /**
   * Other models that the agent may ask for through the same URL, such as a judge: name to `openai:<url>`. Their answers
   * are kept and never trained on.
   */
  readonly models?: Readonly<Record<string, string>>;
  /** Simulated users by name, with whom `run` talks. Their words are kept and never trained on. */
  readonly users?: Readonly<Record<string, SimulatedUser<Task>>>;
  /** The answer to a task, or several of which each is right. */
  readonly truth?: (task: Task) => string | readonly string[];
  /** Rewards that compare the episodes of a group, such as those of a judge. */
  readonly scoreGroup?: ScoreGroup;
}

export interface Agent<Task = Json> {
  readonly name: string;
  readonly description: string;
  readonly roles: readonly string[];
  readonly maxCalls: number;
  tasks(split: Split): TaskSet<Task>;
  run(episode: AgentEpisode<Task>): Promise<AgentResult>;
  demonstrate?(request: TeacherRequest<Task>): TeacherAnswer | Promise<TeacherAnswer>;
  close?(): Promise<void>;
  readonly settings?: JsonObject;
  readonly models: Readonly<Record<string, string>>;
  readonly users: Readonly<Record<string, SimulatedUser<Task>>>;
  truth?(task: Task): string | readonly string[];
  readonly scoreGroup?: ScoreGroup;
}

/**
 * An agent that can be trained and evaluated. Export it from a file, then: `turnwise train ./agent.ts`.
 *
 * @throws TurnwiseError `agent-invalid`
 */
export function defineAgent<Task extends JsonCompatible<Task>>(
  definition: AgentDefinition<Task>,
): Agent<Task> {
  const {
    name,
    description = '',
    tasks,
    run,
    demonstrate,
    close,
    roles = [AGENT],
    maxCalls = 32,
    settings,
    models = {},
    users = {},
    truth,
    scoreGroup,
  } = definition;
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) {
    throw invalid('its name', JSON.stringify(name), 'lower-case letters, digits and hyphens');
  }
  if (!Number.isInteger(maxCalls) || maxCalls < 1) {
    throw invalid('maxCalls', String(maxCalls), 'a whole number, at least 1');
  }
  if (!['function', 'object', 'string'].includes(typeof tasks) || tasks === null) {
    throw invalid(
      'tasks',
      typeof tasks,
      'a function from a split to tasks, a list, a numbered set or a file',
    );
  }
  if (typeof run !== 'function') throw invalid('run', typeof run, 'an async function');
  requireRoles(roles, [...Object.keys(models), ...Object.keys(users)]);
  const twice = Object.keys(users).find((user) => user === 'policy' || user in models);
  if (twice !== undefined) {
    throw invalid('the name of a simulated user', twice, 'a name that no model has, and not "policy"');
  }
  const agent: Agent<Task> = {
    name,
    description,
    roles,
    maxCalls,
    tasks: readTasks(tasks),
    run,
    ...(demonstrate && { demonstrate }),
    ...(close && { close }),
    ...(settings && { settings }),
    models,
    users,
    ...(truth && { truth }),
    ...(scoreGroup && { scoreGroup }),
  };
  return Object.defineProperty(agent, marker, { value: true });
}

/** Each is asked for by its name, as other models and users are. */
function requireRoles(roles: readonly string[], others: readonly string[]): void {
  const allowed =
    'a list of names of lower-case letters, digits and hyphens, each once, which no model and no user has';
  if (!Array.isArray(roles) || roles.length === 0) throw invalid('roles', JSON.stringify(roles), allowed);
  for (const [index, role] of roles.entries()) {
    const isName = typeof role === 'string' && /^[a-z0-9][a-z0-9-]*$/.test(role);
    if (!isName || role === 'policy' || roles.indexOf(role) !== index || others.includes(role))
      throw invalid('a role', JSON.stringify(role), allowed);
  }
}

/** Also true for agents of another copy of this package. */
export function isAgent(value: unknown): value is Agent {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[marker] === true;
}

function invalid(part: string, seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('agent-invalid', {
    what: `An agent cannot be used because of ${part}`,
    seen,
    allowed,
    next: 'See docs/train-your-agent.md',
  });
}
