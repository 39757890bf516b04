/**
 * Where the calls and transitions of one episode keep what they hold. A turn of five tokens is smaller than a single array:
 * numbers and short texts of many turns lie in one buffer, and equal ones are kept once.
 */

import type { Call, Transition } from '../../core/episode.ts';
import type { Message } from '../../core/messages.ts';
import { tenthsOf } from './listed-getters.ts';
import { type Kept, MOST_WORDS, Page, wordsOfText } from './page.ts';
import { CALL, type CommonOfCalls, StoredCall } from './stored-call.ts';
import { type CommonOfTransitions, StoredTransition, TRANSITION } from './stored-transition.ts';

/** In words of four bytes. Buffers double from the first to the last of these, so that an episode of few turns wastes little. */
const FIRST = 64;
const LARGEST = 4096;

/** Named by its call. */
export type CalledTransition = Transition & { readonly call: number };

export class RecordStore {
  #page = new Page(0);
  #front = 0;
  #end = 0;
  /** Where texts and objects are in the page. */
  readonly #places: Map<unknown, Kept> = new Map();
  readonly #latest: Map<string, object> = new Map();

  /** The same call in less room: it shares no array with the one that was given. Its times are tenths of milliseconds. */
  call(call: Call): Call {
    const { id, context, ids, logprobs, messages, text, at, waitMs, policyMs } = call;
    const { conversation, role, purpose, finish, trainable } = call;
    const [by, sampling] = [this.shared('by', call.by), this.shared('sampling', call.sampling)];
    const common: CommonOfCalls = { conversation, role, purpose, finish, trainable, by, sampling };
    const tokens = context.length + ids.length;
    const numbers = logprobs.length + 1;
    const shown = textShown(messages);
    const texts = wordsFor(text) + (shown === undefined ? 0 : wordsFor(shown));
    this.#makeRoom(tokens + CALL.words + numbers + texts);
    const page = this.#page;
    page.words.set(context, this.#front);
    page.words.set(ids, this.#front + context.length);
    const [textAt, messagesAt] = [
      this.#text(text),
      shown === undefined ? this.#place(messages) : this.#text(shown),
    ];
    this.#end -= CALL.words + numbers;
    const start = this.#end;
    const { entropy, parent } = call;
    let optional = optionalOf(call, FIELDS_OF_CALLS);
    const hasEntropy = entropy !== undefined && entropy >= 0 && optional[0] === 'entropy';
    if (hasEntropy) optional = optional.slice(1);
    const hasParent = parent !== undefined && optional[0] === 'parent';
    if (hasParent) optional = optional.slice(1);
    const numbersAt = page.numbers(start + CALL.words, numbers);
    numbersAt.set(logprobs);
    numbersAt[logprobs.length] = hasEntropy ? entropy : -1;
    const { words } = page;
    words[start + CALL.id] = id;
    words[start + CALL.at] = tenthsOf(at);
    words[start + CALL.wait] = tenthsOf(waitMs);
    words[start + CALL.policy] = tenthsOf(policyMs);
    words[start + CALL.tokens] = this.#front;
    words[start + CALL.context] = context.length;
    words[start + CALL.ids] = ids.length;
    words[start + CALL.logprobs] = logprobs.length;
    words[start + CALL.common] = this.#place(this.shared('call', common));
    words[start + CALL.text] = textAt;
    words[start + CALL.messages] = messagesAt;
    words[start + CALL.parent] = hasParent ? parent : -1;
    this.#front += tokens;
    return new StoredCall(page, start, picked(call, optional));
  }

  /** The same transition in less room. */
  transition(transition: CalledTransition): Transition {
    const { call, role, anchor, action, valid, rewards, at, environmentMs } = transition;
    this.#makeRoom(TRANSITION.words + wordsFor(anchor) + wordsFor(action));
    const [anchorAt, actionAt] = [this.#text(anchor), this.#text(action)];
    const own = { role, valid, rewards: this.shared('rewards', rewards) };
    const common: CommonOfTransitions = this.shared(valid ? 'transition' : 'invalid transition', own);
    this.#end -= TRANSITION.words;
    const start = this.#end;
    const { words } = this.#page;
    words[start + TRANSITION.call] = call;
    words[start + TRANSITION.at] = tenthsOf(at);
    words[start + TRANSITION.environment] = tenthsOf(environmentMs);
    words[start + TRANSITION.anchor] = anchorAt;
    words[start + TRANSITION.action] = actionAt;
    words[start + TRANSITION.common] = this.#place(common);
    const optional = optionalOf(transition, FIELDS_OF_TRANSITIONS);
    return new StoredTransition(this.#page, start, picked(transition, optional));
  }

  /** The latest object of a kind in place of another that has the same fields. */
  shared<T extends object>(kind: string, value: T): T {
    const latest = this.#latest.get(kind) as T | undefined;
    if (latest !== undefined && (latest === value || haveSameFields(latest, value))) return latest;
    this.#latest.set(kind, value);
    return value;
  }

  /** Where the page has a text. There is room for it. */
  #text(text: string): Kept {
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    const words = wordsOfText(text);
    if (words === undefined || this.#end > MOST_WORDS) return this.#place(text);
    this.#end -= words;
    const at = this.#page.write(text, this.#end);
    this.#places.set(text, at);
    return at;
  }

  /** Where the page has an object. */
  #place(value: unknown): Kept {
    const known = this.#places.get(value);
    if (known !== undefined) return known;
    const at = this.#page.keep(value);
    this.#places.set(value, at);
    return at;
  }

  #makeRoom(words: number): void {
    if (this.#front + words <= this.#end) return;
    const usual = Math.min(LARGEST, Math.max(FIRST, 2 * this.#page.words.length));
    // Room for whole turns of this size: the next ones are mostly alike.
    const size = words * Math.max(1, Math.round(usual / words));
    this.#page = new Page(size);
    this.#front = 0;
    this.#end = size;
    this.#places.clear();
  }
}

/** The words of a text that is not in the page yet. */
const wordsFor = (text: string): number => wordsOfText(text) ?? 0;

/** What a user's only message says: it is made anew as it is read. */
function textShown(messages: readonly Message[]): string | undefined {
  const [message] = messages;
  if (message === undefined || messages.length > 1 || message.role !== 'user') return undefined;
  const [first, second, ...others] = Object.keys(message);
  return first === 'role' && second === 'content' && others.length === 0 ? message.content : undefined;
}

/** In the same order too, since records are written in it. */
function haveSameFields<T extends object>(a: T, b: T): boolean {
  const names = Object.keys(a) as (keyof T)[];
  const others = Object.keys(b);
  if (names.length !== others.length) return false;
  for (let index = 0; index < names.length; index++) {
    const name = names[index]!;
    if (name !== others[index] || !Object.is(a[name], b[name])) return false;
  }
  return true;
}

const FIELDS_OF_CALLS: ReadonlySet<string> = new Set<keyof Call>([
  ...(['id', 'context', 'ids', 'logprobs', 'messages', 'text', 'at', 'waitMs', 'policyMs'] as const),
  ...(['conversation', 'role', 'purpose', 'finish', 'trainable', 'by', 'sampling'] as const),
]);

const FIELDS_OF_TRANSITIONS: ReadonlySet<string> = new Set<keyof Transition>([
  ...(['call', 'role', 'anchor', 'action', 'valid', 'rewards', 'at', 'environmentMs'] as const),
]);

/** The names of the other fields, in their order. */
function optionalOf<T extends object>(from: T, fields: ReadonlySet<string>): readonly (keyof T & string)[] {
  const names = Object.keys(from) as (keyof T & string)[];
  return names.length === fields.size ? [] : names.filter((name) => !fields.has(name));
}

/** Some of the fields. A pattern with a rest takes ten times as long. */
function picked<T extends object>(from: T, names: readonly (keyof T & string)[]): Partial<T> | undefined {
  if (names.length === 0) return undefined;
  const some: Partial<T> = {};
  for (const name of names) some[name] = from[name];
  return some;
}
