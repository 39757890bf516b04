/** Prompts that begin alike are read once: a row copies what another row holds, or waits until that one has read it. */

import type { Conversations } from '../../../policy/conversations.ts';
import type { Slot } from './slot.ts';
import type { RowDecoder, Slots } from './slots.ts';

export class SharedPrefixes {
  readonly #decoder: RowDecoder;
  readonly #slots: Slots;
  readonly #conversations: Conversations;
  readonly #least: number;

  /** @param least tokens that are copied at least: fewer are read sooner than they are waited for */
  constructor(decoder: RowDecoder, slots: Slots, conversations: Conversations, least: number) {
    this.#least = least;
    this.#decoder = decoder;
    this.#slots = slots;
    this.#conversations = conversations;
  }

  /**
   * For a slot whose job begins: copies what another row holds of its prompt, or names the row that is reading it. Jobs wait only for
   * jobs that began before them, so that no two wait for one another.
   */
  begin(slot: Slot): void {
    slot.copiesFrom = undefined;
    const prompt = promptOf(slot);
    let longest = slot.cached + this.#least - 1;
    if (prompt.length <= longest) return;
    let source: Slot | undefined;
    for (const other of this.#slots.all()) {
      if (other === slot || (other.job && other.job.began > slot.job!.began)) continue;
      const agreed = this.#agreed(other, prompt);
      const length = other.job === undefined ? Math.min(agreed, other.cached) : agreed;
      if (length <= longest) continue;
      longest = length;
      source = other;
    }
    if (source === undefined) return;
    if (source.job && source.cached < longest) slot.copiesFrom = { slot: source, job: source.job };
    else this.#copy(source, slot, longest);
  }

  /** Whether the row can be fed: it waits for none, or has just copied what it waited for. */
  ready(slot: Slot): boolean {
    if (slot.copiesFrom === undefined) return true;
    const { slot: source, job } = slot.copiesFrom;
    const isThere = this.#slots.get(source.conversation) === source;
    const agreed = isThere ? this.#agreed(source, promptOf(slot)) : 0;
    if (source.job === job && source.cached < agreed) return false;
    slot.copiesFrom = undefined;
    if (agreed > 0) this.#copy(source, slot, Math.min(agreed, source.cached));
    // Its conversation was released, or has begun another prompt: then another row may do.
    else this.begin(slot);
    return slot.copiesFrom === undefined;
  }

  #agreed({ conversation }: Slot, prompt: Int32Array): number {
    return this.#conversations.of(conversation).agrees(0, prompt);
  }

  #copy(from: Slot, to: Slot, length: number): void {
    if (length <= to.cached) return;
    this.#decoder.copy(from.row, to.row, length);
    to.cached = length;
  }
}

/** All tokens of the job but the last, which is fed in any case: its logits are needed. */
function promptOf({ job }: Slot): Int32Array {
  return job!.tokens.slice(0, job!.tokens.length - 1);
}
