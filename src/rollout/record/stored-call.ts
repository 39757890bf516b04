/** A call whose fields lie in a page, and are made as they are read. */

import type { Author, Call, Finish, Role, Sampling, Untrainable } from '../../core/episode.ts';
import type { Message } from '../../core/messages.ts';
import { gettersOf, listGetter } from './listed-getters.ts';
import type { Kept, Page } from './page.ts';

/** What a call has in common with most others of its episode. */
export type CommonOfCalls = Pick<
  Call,
  'conversation' | 'role' | 'by' | 'purpose' | 'sampling' | 'finish' | 'trainable'
>;

/** The words of a call, one after another; its log-probabilities stand right behind them, and then its entropy. */
export const CALL = {
  id: 0,
  at: 1,
  wait: 2,
  policy: 3,
  /** Where its context begins, and its completion right behind. */
  tokens: 4,
  context: 5,
  ids: 6,
  logprobs: 7,
  common: 8,
  text: 9,
  /** A text that is the only message, a user's; or the list. */
  messages: 10,
  /** Below 0: none, or a field of its own. */
  parent: 11,
  words: 12,
} as const;

export class StoredCall implements Call {
  readonly #page: Page;
  readonly #at: number;

  /** @param more fields that only some calls have */
  constructor(page: Page, at: number, more: Partial<Call> | undefined) {
    this.#page = page;
    this.#at = at;
    for (const [name, getter] of FIELDS) listGetter.call(this, name, getter);
    if (StoredCall.entropyOf(this) >= 0) listGetter.call(this, 'entropy', entropyOf);
    if (page.words[at + CALL.parent]! >= 0) listGetter.call(this, 'parent', parentOf);
    if (more) Object.assign(this, more);
  }

  get id(): number {
    return StoredCall.#word(this, CALL.id);
  }

  get conversation(): string {
    return StoredCall.#common(this).conversation;
  }

  get role(): Role {
    return StoredCall.#common(this).role;
  }

  get by(): Author {
    return StoredCall.#common(this).by;
  }

  get purpose(): string {
    return StoredCall.#common(this).purpose;
  }

  get sampling(): Sampling {
    return StoredCall.#common(this).sampling;
  }

  get context(): Int32Array {
    return this.#page.ids(StoredCall.#word(this, CALL.tokens), StoredCall.#word(this, CALL.context));
  }

  get ids(): Int32Array {
    return this.#page.ids(
      StoredCall.#word(this, CALL.tokens) + StoredCall.#word(this, CALL.context),
      StoredCall.#word(this, CALL.ids),
    );
  }

  get logprobs(): Float32Array {
    return this.#page.numbers(this.#at + CALL.words, StoredCall.#word(this, CALL.logprobs));
  }

  get messages(): readonly Message[] {
    const at: Kept = StoredCall.#word(this, CALL.messages);
    const kept = this.#page.kept<string | readonly Message[]>(at);
    return typeof kept === 'string' ? [{ role: 'user', content: kept }] : kept;
  }

  get text(): string {
    return this.#page.kept(StoredCall.#word(this, CALL.text));
  }

  get finish(): Finish {
    return StoredCall.#common(this).finish;
  }

  get trainable(): true | Untrainable {
    return StoredCall.#common(this).trainable;
  }

  get at(): number {
    return StoredCall.#word(this, CALL.at) / 10;
  }

  get waitMs(): number {
    return StoredCall.#word(this, CALL.wait) / 10;
  }

  get policyMs(): number {
    return StoredCall.#word(this, CALL.policy) / 10;
  }

  /** Listed only where there is one. */
  static parentOf(call: StoredCall): number {
    return StoredCall.#word(call, CALL.parent);
  }

  /** Below 0: none. */
  static entropyOf(call: StoredCall): number {
    const logprobs = StoredCall.#word(call, CALL.logprobs);
    return call.#page.numbers(call.#at + CALL.words + logprobs, 1)[0]!;
  }

  static #common(call: StoredCall): CommonOfCalls {
    return call.#page.kept(call.#page.words[call.#at + CALL.common]!);
  }

  static #word(call: StoredCall, name: number): number {
    return call.#page.words[call.#at + name]!;
  }
}

const FIELDS = gettersOf(StoredCall);

function entropyOf(this: StoredCall): number {
  return StoredCall.entropyOf(this);
}

function parentOf(this: StoredCall): number {
  return StoredCall.parentOf(this);
}
