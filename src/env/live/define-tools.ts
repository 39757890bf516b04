/** The contract of authors whose environment is tools over something outside: files, a database, a service, a browser. */

import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json/json.ts';
import type { JsonCompatible } from '../../core/json/json-compatible.ts';
import type { Message } from '../../core/messages.ts';
import type { Rng } from '../../core/rng.ts';
import { defineWorld, type WorldFactory } from '../factory.ts';
import type { ScoreGroup } from '../scores/group-scores.ts';
import { AGENT, type Session } from '../session.ts';
import { readTasks, type Tasks } from '../tasks/tasks.ts';
import type { Tool } from '../tool.ts';
import { answerAction, toolAction, toolProtocol } from '../tool-protocol.ts';
import type { PlayerKind, World } from '../world.ts';
import { ToolsSession } from './tools-session.ts';
import { wordCallProtocol } from './word-call-protocol.ts';

/** A call that was made. */
export interface ToolUse {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** What the agent read. */
  readonly result: string;
}

/** An episode so far; whole when it is scored. */
export interface ToolEpisode<Task> {
  readonly task: Task;
  readonly calls: readonly ToolUse[];
  /** What the agent wrote without a call: its answer, which ends the episode. */
  readonly answer?: string;
}

export interface Score {
  readonly reward: number;
  /** Default: whether the reward is above 0. */
  readonly success?: boolean;
  /** Figures to watch: their means are events' metrics `env/<name>`. */
  readonly metrics?: Readonly<Record<string, number>>;
}

/** What a scripted player does. */
export type ToolMove =
  | { readonly tool: string; readonly arguments?: JsonObject }
  | { readonly answer: string };

export interface ToolsDefinition<Task, Context> {
  readonly name: string;
  /** One line for lists, and for models that can read. */
  readonly description: string;
  /** Calls and answers of one episode; with the last one it ends and is scored. */
  readonly maxTurns: number;
  readonly tasks: Tasks<Task>;
  /** Where none of them `ends` the episode, words without a call are the answer, and do. */
  readonly tools: readonly Tool<Context>[];
  /** What the tools work on, made for one episode. Stop when `signal` aborts. `rng` gives members of a group the same start. */
  setup(task: Task, signal: AbortSignal, rng: Rng): Context | Promise<Context>;
  /** What the agent reads first. */
  prompt(task: Task, context: Context): string | readonly Message[] | Promise<string | readonly Message[]>;
  /** What the episode was worth, asked once, when it is over. What it throws makes the episode `failed:grader`. */
  score(episode: ToolEpisode<Task>, context: Context, signal: AbortSignal): Score | Promise<Score>;
  /** Let go of what `setup` made. Called once for each context, however its episode ended. */
  teardown?(context: Context): void | Promise<void>;
  /** The scripted expert: source of demonstrations, from which a small model gets its words and its start. */
  solve?(episode: ToolEpisode<Task>, context: Context, rng: Rng): ToolMove;
  /** A scripted beginner who makes the typical mistake. */
  stumble?(episode: ToolEpisode<Task>, context: Context, rng: Rng): ToolMove;
  /** Moves among which a random player chooses. */
  moves?(episode: ToolEpisode<Task>, context: Context): readonly ToolMove[];
  /** The completion that would answer the task, or several of which each would. */
  truth?(task: Task): string | readonly string[];
  /** Rewards that compare the episodes of a group. */
  readonly scoreGroup?: ScoreGroup;
  /** Training settings that were found to work; layered over the recipe's, under the user's. */
  readonly settings?: JsonObject;
}

const optionsWith = (wording: 'compact' | 'natural') =>
  z.strictObject({
    wording: z
      .enum(['compact', 'natural'])
      .default(wording)
      .describe(
        'How scripted players write calls: in words, for a small model; or as JSON, for models that can read',
      ),
  });

type ToolOptions = ReturnType<typeof optionsWith>;

/**
 * An environment of tools over something outside of it. Its code is asynchronous and may touch the world: each call has a
 * deadline and a signal, what it throws ends its episode and nothing else, and `teardown` is always called.
 *
 * The agent calls one tool a turn; an answer in words ends the episode. Both wordings read calls in words (`<call> find item: figs`)
 * and as JSON (`<tool_call>{"name": "find", …}</tool_call>`), the latter in whatever form a model's own template has.
 *
 * @example
 * export const shelf = defineTools({
 *   name: 'shelf',
 *   description: 'Say how much an item costs.',
 *   maxTurns: 4,
 *   tasks: './items.jsonl',
 *   tools: [price],
 *   setup: (task: Item, signal) => openShop(signal),
 *   prompt: ({ item }) => `What does ${item} cost?`,
 *   score: ({ task, answer }) => ({ reward: answer === task.price ? 1 : 0 }),
 *   teardown: (shop) => shop.close(),
 * });
 *
 * @throws TurnwiseError `tools-invalid`
 */
export function defineTools<Task extends JsonCompatible<Task>, Context>(
  definition: ToolsDefinition<Task, Context>,
): WorldFactory<ToolOptions> {
  check(definition);
  const { name, description, maxTurns, tools, truth, scoreGroup, settings, solve } = definition;
  const answers = !tools.some(({ ends }) => ends);
  const tasks = readTasks(definition.tasks) as World['tasks'];
  return defineWorld({
    name,
    description,
    options: optionsWith(solve ? 'compact' : 'natural'),
    ...(settings && { settings }),
    create: ({ wording }) => ({
      name,
      description,
      roles: [AGENT],
      maxTurns,
      facts: ['calls'],
      protocol: (wording === 'compact' ? wordCallProtocol : toolProtocol)(tools, { answers }),
      tasks,
      open: (task, rng, startRng = rng.fork('start'), signal = new AbortController().signal) =>
        ToolsSession.open(definition, task as Task, { answers, rng: startRng, signal }),
      ...(solve && { script: (session, kind, rng) => moveOf(definition, session, kind, rng) }),
      ...(truth && { truth: (task) => truth(task as Task) }),
      ...(scoreGroup && { scoreGroup }),
    }),
  });
}

/** The action of a scripted player. */
function moveOf<Task, Context>(
  definition: ToolsDefinition<Task, Context>,
  session: Session,
  kind: PlayerKind,
  rng: Rng,
): string | undefined {
  if (!(session instanceof ToolsSession) || session.toMove() === undefined) return undefined;
  const episode = session.episode as ToolEpisode<Task>;
  const context = session.context as Context;
  const { solve, stumble, moves } = definition;
  if (kind === 'random') {
    const all = moves?.(episode, context);
    return all && actionOf(rng.pick(all));
  }
  const move = (kind === 'beginner' ? stumble : undefined) ?? solve;
  return move && actionOf(move(episode, context, rng));
}

function actionOf(move: ToolMove): string {
  return 'answer' in move ? answerAction(move.answer) : toolAction(move.tool, move.arguments ?? {});
}

function check<Task, Context>({ name, maxTurns, tools }: ToolsDefinition<Task, Context>): void {
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name)) {
    throw invalid('its name', JSON.stringify(name), 'lower-case letters, digits and hyphens');
  }
  if (!Number.isInteger(maxTurns) || maxTurns < 1) {
    throw invalid('maxTurns', String(maxTurns), 'a whole number, at least 1');
  }
  const names = tools.map((tool) => tool.name);
  const twice = names.find((tool, index) => names.indexOf(tool) !== index);
  if (twice !== undefined) throw invalid('two tools of one name', `"${twice}"`, 'tools of different names');
}

function invalid(part: string, seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('tools-invalid', {
    what: `An environment of tools cannot be used because of ${part}`,
    seen,
    allowed,
    next: 'See docs/write-an-environment.md',
  });
}
