/** The tokens of conversations, as an engine keeps them: requests name how many they keep, and hand over only what is new. */

import { TurnwiseError } from '../core/errors.ts';
import type { SampleRequest } from './sampler.ts';

/** Tokens of a block. */
const BLOCK = 4096;
/** Ids of two bytes, until a larger one comes: many vocabularies have none. */
type Block = Uint16Array | Int32Array;

/** Token ids that grow at the end: blocks of them, so that nothing is copied, and no larger copy leaves a hole behind. */
export class TokenList {
  readonly #blocks: Block[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(ids: ArrayLike<number>): void {
    for (let from = 0; from < ids.length; ) {
      const at = this.#length % BLOCK;
      let block = this.#blockFor(ids.length - from);
      const count = Math.min(ids.length - from, block.length - at);
      for (let index = 0; index < count; index++) {
        const id = ids[from + index]!;
        if (id >>> 16 > 0 && block instanceof Uint16Array) block = this.#widened();
        block[at + index] = id;
      }
      from += count;
      this.#length += count;
    }
  }

  /** Forgets all but the first `length`. */
  truncate(length: number): void {
    this.#length = Math.min(this.#length, length);
    this.#blocks.length = Math.min(this.#blocks.length, Math.ceil(this.#length / BLOCK));
  }

  /** A copy of some of them. */
  slice(start: number, end: number = this.#length): Int32Array {
    const ids = new Int32Array(Math.max(0, Math.min(end, this.#length) - start));
    for (let done = 0; done < ids.length; ) {
      const at = (start + done) % BLOCK;
      const block = this.#blocks[(start + done - at) / BLOCK]!;
      const some = block.subarray(at, at + ids.length - done);
      ids.set(some, done);
      done += some.length;
    }
    return ids;
  }

  /** How many of `ids` stand in the list from `start` on. */
  agrees(start: number, ids: ArrayLike<number>): number {
    const limit = Math.min(this.#length - start, ids.length);
    let count = 0;
    while (count < limit && this.#at(start + count) === ids[count]) count++;
    return count;
  }

  #at(index: number): number {
    const at = index % BLOCK;
    return this.#blocks[(index - at) / BLOCK]![at]!;
  }

  /** The block that the next ids go into. The first grows to its size, since most conversations are short. */
  #blockFor(more: number): Block {
    const at = this.#length % BLOCK;
    const number = (this.#length - at) / BLOCK;
    const block = this.#blocks[number];
    if (block && (block.length > at || block.length === BLOCK)) return block;
    const size = number > 0 ? BLOCK : Math.min(BLOCK, Math.max(64, 2 * at, at + more));
    const larger = block instanceof Int32Array ? new Int32Array(size) : new Uint16Array(size);
    if (block) larger.set(block);
    this.#blocks[number] = larger;
    return larger;
  }

  /** The block that ids go into, with room for larger ones. */
  #widened(): Int32Array {
    const number = Math.floor(this.#length / BLOCK);
    const wide = Int32Array.from(this.#blocks[number]!);
    this.#blocks[number] = wide;
    return wide;
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
