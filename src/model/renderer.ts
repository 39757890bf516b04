/** Renderers turn messages into token ids by extending what came before, and sampled ids back into text. */

import type { Message } from '../core/messages.ts';
import { ACT_ID, END_ID, type WordTokenizer } from './word-tokenizer.ts';

export interface Renderer {
  /** Ids that end a turn when sampled. */
  readonly stopIds: readonly number[];
  /** Longest completion of a turn, in tokens. */
  readonly maxTurnTokens: number;
  /** Ids to append for messages not shown before, up to where the policy's next token goes. */
  contextIds(messages: readonly Message[]): number[];
  /** The ids a policy would have sampled to write `text`. */
  completionIds(text: string): number[];
  /** The text of sampled ids, without the token that ends the turn. */
  text(ids: readonly number[]): string;
}

/**
 * The renderer of small from-scratch models. Where every action is one word (`maxWords` 1) a turn is exactly one token and
 * needs no marks, which halves the work of sampling; otherwise `<act>` opens a completion and `<end>` closes it.
 */
export function wordRenderer(tokenizer: WordTokenizer, maxWords: number): Renderer {
  const marked = maxWords > 1;
  return {
    stopIds: marked ? [END_ID] : [],
    maxTurnTokens: marked ? maxWords + 1 : 1,
    contextIds: (messages) => {
      const ids = messages.flatMap((message) => tokenizer.encode(message.content));
      return marked ? [...ids, ACT_ID] : ids;
    },
    completionIds: (text) => (marked ? [...tokenizer.encode(text), END_ID] : tokenizer.encode(text)),
    text: (ids) => tokenizer.decode(ids.at(-1) === END_ID ? ids.slice(0, -1) : ids),
  };
}
