/** Context strategies: the conversation that the policy reads before each of its acts. They may ask it for more first. */

import type { z } from 'zod';
import { subjectOf } from '../../core/definition.ts';
import type { Call, Part, Role, Split, Transition } from '../../core/episode.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import { parseStrict } from '../../core/json/parse-strict.ts';
import type { Message, Reply, ToolDeclaration } from '../../core/messages.ts';
import type { Rng } from '../../core/rng.ts';
import type { Session } from '../../env/session.ts';

/** What the policy reads, and the tools that it is offered. */
export interface Conversation {
  /**
   * True: all turns of the conversation so far come before `parts`. It says the same as naming all of them, and costs no more
   * in the thousandth turn than in the first.
   */
  readonly all?: boolean;
  /**
   * True: what the latest call of the conversation read, and its completion, come before `parts`, whatever was left out then. It
   * says the same as naming them, and costs no more in a long conversation than in a short one.
   */
  readonly goesOn?: boolean;
  readonly parts: readonly Part[];
  /** Default: those that the session offers. */
  readonly tools?: readonly ToolDeclaration[];
}

/** One conversation of one role, before an act. */
export interface View<Options = object, State extends Json = Json> {
  readonly role: Role;
  readonly task: Json;
  /**
   * The split of the task: what is done to explore is done in training alone. Absent where no task is played: in sessions of a
   * gateway, and in episodes that others recorded.
   */
  readonly split?: Split;
  /** Completions of the conversation so far, those that were asked for included. */
  readonly calls: readonly Call[];
  /** What the environment did after them. */
  readonly transitions: readonly Transition[];
  /** Messages that the role has not read yet: those of the act that comes next. */
  readonly fresh: readonly Message[];
  /** What the session offers now. */
  readonly tools?: readonly ToolDeclaration[];
  /** Whether a prompt describes the tools of its conversation by itself, as chat templates do; small models only read words. */
  readonly showsTools: boolean;
  /** Longest prompt, in tokens. */
  readonly budget: number;
  /** Longest completion, in tokens; Infinity where nothing but the room limits it. */
  readonly longest: number;
  /** Longest act, in tokens: of the legal ones, where acts are restricted to these. */
  readonly longestAct: number;
  /** Turns taken, and how many there may be. */
  readonly turn: number;
  readonly limit: number;
  readonly options: Options;
  /** What the last window or answer gave. */
  readonly state: State;
  /** A stream of its own. */
  readonly rng: Rng;
  /** The length of a conversation in tokens; an estimate before there is a tokenizer. */
  tokens(conversation: Conversation): number;
}

/** The policy's completion of a conversation, recorded as a call of this purpose and trained like any other. */
export type Ask = (purpose: string, conversation: Conversation) => Promise<Call>;

/** The conversation for the next act, and the state from then on. */
export type Window<State extends Json = Json> =
  | { readonly conversation: Conversation; readonly state: State }
  | { readonly stop: 'context-overflow' };

/** The act that a scripted player is about to do. */
export interface PlannedAct {
  readonly text: string;
  /** As the tools of the session read it. */
  readonly reply: Reply;
  /** A call of another tool, in the form of this act. */
  call(name: string, given: JsonObject): string;
}

export interface StrategyParts<Options extends object, State extends Json> {
  readonly name: string;
  /** One line for people. */
  readonly summary: string;
  /** Strict, with a default and a description for every option. */
  readonly options: z.ZodType<Options>;
  /** Whether it is of no use where a session offers no tools: runs there are refused. */
  readonly needsTools?: true;
  /** Names of the tools that it adds: environments that have one of the same name are refused. */
  adds?(options: Options): readonly string[];
  /**
   * What it may say, so that a small model knows the words, whether a demonstration comes to them or not.
   *
   * @param limit the most turns that an episode may have
   */
  says?(options: Options, limit: number): readonly string[];
  /** Fields of the rollout file that `facts` gives. */
  readonly gives?: readonly string[];
  /** The state in which a conversation begins: plain JSON, like every later one. */
  start(options: Options): State;
  /** `ask` one at a time, and wait for the answer. It rejects where the prompt leaves no room, which ends the episode. */
  window(view: View<Options, State>, ask: Ask): Window<State> | Promise<Window<State>>;
  /**
   * Answer a call of the strategy's own tools, without a step of the environment: it counts as a turn, and the next act reads
   * these messages. Undefined leaves the call to the environment.
   */
  answer?(
    call: Call,
    view: View<Options, State>,
  ): { readonly messages: readonly Message[]; readonly state: State } | undefined;
  /**
   * A text of an act as the environment, or the agent's own code, is to read it: an argument of a call, or an act in words. The
   * record keeps the tokens as they were sampled.
   */
  deliver?(text: string, view: View<Options, State>): string;
  /** What credit may know of the turn, such as `mode`: facts of `info.credit`, beside those of the environment. */
  facts?(view: View<Options, State>): JsonObject;
  /** Whether `script` is told the act that comes next, and asked for acts, too: to call the strategy's own tools before. */
  readonly plans?: true;
  /**
   * What a scripted player writes when it is asked: demonstrations of contexts that ask need it.
   *
   * @param purpose of the question; `act` with `plans`: then `planned.text` leaves the act as it is
   * @param session the live episode; absent for agents
   * @param planned with `plans`, where it is known
   */
  script?(
    purpose: string,
    view: View<Options, State>,
    session: Session | undefined,
    planned?: PlannedAct,
  ): string;
}

/** A strategy with the options of one run. */
export interface Context {
  readonly strategy: ContextStrategy;
  readonly options: object;
  /** Whether completions that the strategy asks for, and calls that it answers, are trained. */
  readonly trained: boolean;
  /** Whose code it is, for messages. */
  readonly subject: string;
}

export interface ContextStrategy extends StrategyParts<object, Json> {
  readonly kind: 'context';
  /** @throws TurnwiseError `config-unknown-key`, `config-invalid` for options that its schema refuses */
  create(options?: unknown, more?: { readonly trained?: boolean; readonly subject?: string }): Context;
}

/**
 * Define a context: what the policy reads before each of its acts. A part of a conversation is a message, `{ call }` for a
 * completion, whose sampled tokens are repeated one for one, or `{ shown }` for the messages that were new before a call.
 *
 * State belongs to one conversation of one role and goes with it into snapshots and branches. Which tokens are trained follows
 * from the calls: each sampled token once, wherever it is read again. Strategies neither set nor see masks.
 *
 * @example
 * export const opening = defineContext({
 *   name: 'opening',
 *   summary: 'the first messages and the latest',
 *   options: z.strictObject({}),
 *   start: () => null,
 *   window: ({ calls, fresh, state }) => ({
 *     conversation: { parts: [...calls.slice(0, 1).map(({ id }) => ({ shown: id })), ...fresh] },
 *     state,
 *   }),
 * });
 *
 * Use it with `--set context=./opening.ts`, or in code with `settings: { context: opening }`.
 *
 * @throws TurnwiseError when it is used: `definition-invalid`, `definition-failed`; they end the episode, `failed:policy`
 */
export function defineContext<Options extends object, State extends Json>(
  parts: StrategyParts<Options, State>,
): ContextStrategy {
  const strategy: ContextStrategy = {
    ...(parts as unknown as StrategyParts<object, Json>),
    kind: 'context',
    create: (given = {}, { trained = true, subject = subjectOf('context', parts.name) } = {}) => ({
      strategy,
      options: parseStrict(parts.options, given, subject),
      trained,
      subject,
    }),
  };
  return strategy;
}
