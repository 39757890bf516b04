/** The tokens of conversations, as an engine keeps them: requests name how many they keep, and hand over only what is new. */

import { TurnwiseError } from '../core/errors.ts';
import type { SampleRequest } from './sampler.ts';

/** Token ids that grow at the end, without being copied at every turn. */
export class TokenList {
  #ids: Int32Array = new Int32Array(64);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(ids: ArrayLike<number>): void {
    const length = this.#length + ids.length;
    if (length > this.#ids.length) {
      const longer = new Int32Array(Math.max(length, 2 * this.#ids.length));
      longer.set(this.slice(0, this.#length));
      this.#ids = longer;
    }
    this.#ids.set(ids, this.#length);
    this.#length = length;
  }

  /** Forgets all but the first `length`. */
  truncate(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  /** A view that is valid until the list changes. */
  slice(start: number, end: number = this.#length): Int32Array {
    return this.#ids.subarray(start, Math.min(end, this.#length));
  }

  /** How many of `ids` stand in the list from `start` on. */
  agrees(start: number, ids: ArrayLike<number>): number {
    const limit = Math.min(this.#length - start, ids.length);
    let count = 0;
    while (count < limit && this.#ids[start + count] === ids[count]) count++;
    return count;
  }
}

/**
 * The conversations that an engine knows. After a request its conversation holds the prompt; the engine adds what it samples.
 *
 * @example
 * const prompt = conversations.open(request, contextLength).slice(0); // all of its tokens
 * conversations.add(request.conversation, sampled);
 */
export class Conversations {
  readonly #tokens = new Map<string, TokenList>();

  /** The tokens so far; none of a conversation that is not known. */
  of(conversation: string): TokenList {
    let tokens = this.#tokens.get(conversation);
    if (tokens === undefined) {
      tokens = new TokenList();
      this.#tokens.set(conversation, tokens);
    }
    return tokens;
  }

  /**
   * The conversation with the prompt of a request in place of what it held.
   *
   * @throws TurnwiseError `sample-invalid` for a request that keeps more tokens than there are, or leaves no room for another
   */
  open({ conversation, keep, append, choices }: SampleRequest, contextLength: number): TokenList {
    const tokens = this.of(conversation);
    const invalid = (what: string, seen: number, allowed: string): TurnwiseError =>
      new TurnwiseError('sample-invalid', {
        what: `The sampling request of conversation ${conversation} ${what}`,
        seen: `${seen} tokens`,
        allowed,
        fields: { conversation },
      });
    if (keep > tokens.length)
      throw invalid('keeps more than the conversation has', keep, `0 to ${tokens.length} tokens`);
    const length = keep + append.length;
    const most = contextLength - (choices?.reduce((longest, ids) => Math.max(longest, ids.length), 1) ?? 1);
    if (length === 0 || length > most)
      throw invalid('has a prompt of unusable length', length, `1 to ${most} tokens`);
    tokens.truncate(keep);
    tokens.push(append);
    return tokens;
  }

  /** Tokens that were sampled after the prompt; none of a conversation that was released meanwhile. */
  add(conversation: string, sampled: ArrayLike<number>): void {
    this.#tokens.get(conversation)?.push(sampled);
  }

  release(conversation: string): void {
    this.#tokens.delete(conversation);
  }
}
