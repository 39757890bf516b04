/**
 * One conversation of one role, as its context strategy knows it: completions, what the environment did, the strategy's state,
 * and the paths of tokens so far. Threads are values: a place that is kept holds one, and branches go on from it.
 */

import type { Call, Part, Role, Split, Transition } from '../../core/episode.ts';
import type { Json } from '../../core/json/json.ts';
import type { Message, ToolDeclaration } from '../../core/messages.ts';
import type { Rng } from '../../core/rng.ts';
import { GrowingList, type Sequence } from '../../model/chat/growing-list.ts';
import {
  type Completion,
  isCompletion,
  type Offered,
  type Renderer,
  type Said,
} from '../../model/chat/renderer.ts';
import {
  idsOfPrompt,
  type Prompt,
  pathAfter,
  promptAfter,
  type TokenPath,
  withPath,
} from '../../model/chat/token-path.ts';
import { callStrategy, plainState, resolved } from './checks.ts';
import type { Context, Conversation, View } from './strategy.ts';
import { ThreadView } from './thread-view.ts';

export interface Thread {
  readonly calls: GrowingList<Call>;
  readonly transitions: GrowingList<Transition>;
  /** What the calls showed and completed, one after another. */
  readonly said: GrowingList<Said>;
  /** Turns taken. */
  readonly turns: number;
  readonly state: Json;
  readonly paths: readonly TokenPath[];
  /** What the strategy answered to its own tools: the next act reads it in place of the environment's words. */
  readonly answered?: readonly Message[];
}

/** What stays the same in a conversation. */
export interface Setting {
  readonly context: Context;
  readonly renderer: Renderer;
  readonly role: Role;
  readonly task: Json;
  readonly split?: Split;
  /** What the session offers. */
  readonly tools?: readonly ToolDeclaration[];
  /** What a request says to the template, where conversations say nothing else. */
  readonly offered?: Offered;
  /** Longest prompt + completion in tokens. */
  readonly contextLength: number;
  /** Longest act in tokens. Default: that of a completion. */
  readonly longestAct?: number;
  /** Turns that there may be. */
  readonly limit: number;
  /** The stream of the strategy, by the number of calls so far. */
  readonly rng: (calls: number) => Rng;
}

/** The prompt of a conversation, and what it is the prompt of. */
export interface Rendered {
  readonly prompt: Prompt;
  readonly said: Sequence<Said>;
  readonly tools?: readonly ToolDeclaration[];
  /** The calls that come before `parts`, all of them read. */
  readonly after?: GrowingList<Call>;
  /** What comes before `parts` where the conversation goes on from the latest call. */
  readonly onFrom?: GrowingList<Said>;
  readonly parts: readonly Part[];
}

/** Names everything that a prompt reads. */
export const partsOf = ({ after, onFrom, parts }: Rendered): readonly Part[] => {
  if (after) return [...namesOf(after), ...parts];
  return onFrom ? [...Array.from(onFrom, partOf), ...parts] : parts;
};

const partOf = (said: Said): Part => (isCompletion(said) ? { call: said.id } : said);

/** @throws TurnwiseError `definition-invalid`, `definition-failed` */
export function newThread({ strategy, options, subject }: Context): Thread {
  const state = callStrategy(subject, () => strategy.start(options));
  const none = { calls: GrowingList.of<Call>(), transitions: GrowingList.of<Transition>() };
  return { ...none, said: GrowingList.of(), turns: 0, state: plainState(subject, state), paths: [] };
}

/** Renders conversations of a thread; the latest one once. */
export class Rendering {
  readonly thread: Thread;
  readonly #setting: Setting;
  readonly #fresh: readonly Message[];
  #latest: { readonly conversation: Conversation; readonly rendered: Rendered } | undefined;

  constructor(setting: Setting, thread: Thread, fresh: readonly Message[]) {
    this.thread = thread;
    this.#setting = setting;
    this.#fresh = fresh;
  }

  of(conversation: Conversation): Rendered {
    if (this.#latest?.conversation === conversation) return this.#latest.rendered;
    const rendered = this.#rendered(conversation);
    this.#latest = { conversation, rendered };
    return rendered;
  }

  #rendered(conversation: Conversation): Rendered {
    const { context, renderer, offered } = this.#setting;
    const { calls, paths, said: everything } = this.thread;
    const { parts, said, all, goesOn, tools } = resolved(context.subject, conversation, calls, this.#fresh);
    const own = tools ? { ...offered, tools } : offered;
    // A renderer that makes every prompt anew reads the calls as the record has them.
    const earlier = renderer.more ? everything : GrowingList.of(turnsOf(calls));
    const onFrom = goesOn ? paths.find(({ call }) => call === calls.at(-1)!.id)!.said : undefined;
    const before = all ? earlier : onFrom;
    const prompt = promptAfter(paths, before ? before.with(...said) : said, renderer, own);
    return {
      ...{ prompt, said: prompt.said, parts },
      ...(tools && { tools }),
      ...(all && { after: calls }),
      ...(onFrom && { onFrom }),
    };
  }
}

/** What calls showed and completed, as the record has it. */
export const turnsOf = (calls: Iterable<Call>): Said[] =>
  Array.from(calls).flatMap((call): Said[] => [...call.messages, call]);

const namesOf = (calls: Iterable<Call>): Part[] =>
  Array.from(calls).flatMap(({ id }): Part[] => [{ shown: id }, { call: id }]);

export function viewOf(
  setting: Setting,
  thread: Thread,
  fresh: readonly Message[],
  rendering: Rendering,
): View {
  return new ThreadView(setting, thread, fresh, rendering);
}

/**
 * The thread after a completion of `prompt`.
 *
 * @param call as the strategy knows it
 * @param completion its tokens, with those that its prompt forced upon it
 * @param shown what the call showed, as its prompt has it: a record makes its messages anew as they are read
 */
export function withCall(
  thread: Thread,
  prompt: Prompt,
  call: Call,
  completion: Completion = call,
  shown: readonly Message[] = call.messages,
): Thread {
  const { calls, transitions, said, turns, state, paths } = thread;
  return {
    calls: calls.with(call),
    transitions,
    said: said.with(...shown, completion),
    turns,
    state,
    paths: withPath(paths, pathAfter(prompt, completion)),
  };
}

/** The parts of a conversation as a record keeps them: messages that the call itself showed are named. */
export function recordedParts(
  parts: readonly Part[],
  fresh: readonly Message[],
  call: number,
): readonly Part[] {
  const at = fresh.length === 0 ? -1 : parts.indexOf(fresh[0]!);
  const isShown = at >= 0 && fresh.every((message, index) => parts[at + index] === message);
  return isShown ? [...parts.slice(0, at), { shown: call }, ...parts.slice(at + fresh.length)] : parts;
}

/** Whether a prompt is what came before it in its conversation, and `fresh`: then a record needs no parts. */
export function isPlain({ prompt, tools, said }: Rendered, fresh: readonly Message[]): boolean {
  if (tools !== undefined) return false;
  const before = prompt.path?.said.length ?? 0;
  const goesOn = prompt.path === undefined ? prompt.first : prompt.extends;
  return (
    goesOn &&
    said.length === before + fresh.length &&
    fresh.every((message, index) => said.at(before + index) === message)
  );
}

export const promptIdsOf = ({ prompt }: Rendered): Int32Array => idsOfPrompt(prompt);
