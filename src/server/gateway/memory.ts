/** What a session was told and said before, as far as later requests may name it; and what it was asked in vain. */

import type { Reply, ToolCall } from '../../core/messages.ts';
import type { ChatModel } from './chat-model.ts';
import type { Kept, Reading } from './dialects/dialect.ts';

/** Names of parameters that are told back; a client may send anything. */
const NAME = /^[\w.-]{1,64}$/;
const MAX_IGNORED = 64;

export class Memory {
  readonly #kept: Map<string, Kept> = new Map();
  readonly #toolCalls: Map<string, ToolCall> = new Map();
  readonly #ignored: Map<string, number> = new Map();

  /** Let later requests name an exchange by what the ids of its answer end in. */
  keep(ref: string, kept: Kept): void {
    this.#kept.set(ref, kept);
  }

  kept(ref: string): Kept | undefined {
    return this.#kept.get(ref);
  }

  /** Let no later request name it. */
  forget(ref: string): void {
    this.#kept.delete(ref);
  }

  /** Tool calls with ids of their own. @param prefix of each id */
  identified(calls: Reply['toolCalls'], prefix: string): ToolCall[] {
    return calls.map((made) => {
      const toolCall = { id: `${prefix}_${this.#toolCalls.size}`, ...made };
      this.#toolCalls.set(toolCall.id, toolCall);
      return toolCall;
    });
  }

  /** How many calls had a parameter that changed nothing, by its name. */
  get ignored(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#ignored);
  }

  /**
   * What reading a body for this model depends on.
   *
   * @param noted called for each parameter that changes nothing
   */
  reading(model: ChatModel | undefined, noted: (key: string) => void): Reading {
    return {
      lenient: model?.samplesAsConfigured ?? false,
      kept: (ref) => this.#kept.get(ref),
      called: (id) => this.#toolCalls.get(id),
      ignore: (key) => {
        const known = this.#ignored.has(key) || (NAME.test(key) && this.#ignored.size < MAX_IGNORED);
        const name = known ? key : 'other';
        this.#ignored.set(name, (this.#ignored.get(name) ?? 0) + 1);
        noted(name);
      },
    };
  }
}
