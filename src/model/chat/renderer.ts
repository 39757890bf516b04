/** Renderers turn messages into token ids by extending what came before, and sampled ids back into text. */

import { assistant, type Message } from '../../core/messages.ts';
import { ACT_ID, END_ID, type WordTokenizer } from '../tokenizer/word-tokenizer.ts';

/** What one role was shown and wrote. */
export interface History {
  /** The previous prompt and completion, as the policy saw and sampled them: what a cache holds. */
  readonly ids: readonly number[];
  /** Messages of the opening and of every turn, in order; what the policy wrote is the content of assistant messages. */
  readonly messages: readonly Message[];
  /** `Prompt.text` of the previous prompt. */
  readonly promptText?: string;
}

export interface Prompt {
  readonly promptIds: readonly number[];
  /** Ids that are new since the previous prompt + completion, or the whole prompt where that is no longer its prefix. */
  readonly contextIds: readonly number[];
  readonly extendsPrevious: boolean;
  /** The prompt as text, from renderers that go by text; they want it back with the next history. */
  readonly text?: string;
}

/** The history after a completion of `prompt`, which showed `messages`. */
export function continued(
  prompt: Prompt,
  messages: readonly Message[],
  completion: { readonly ids: ArrayLike<number>; readonly text: string },
): History {
  return {
    ids: [...prompt.promptIds, ...Array.from(completion.ids)],
    messages: [...messages, assistant(completion.text)],
    ...(prompt.text === undefined ? {} : { promptText: prompt.text }),
  };
}

export interface Renderer {
  /** Ids that end a turn when sampled. */
  readonly stopIds: readonly number[];
  /** Longest completion of a turn, in tokens. */
  readonly maxTurnTokens: number;
  /** The prompt of the next turn: `history`, then messages not shown before, up to where the policy's next token goes. */
  prompt(history: History, fresh: readonly Message[]): Prompt;
  /** The ids a policy would have sampled to write `text`. */
  completionIds(text: string): number[];
  /** The text of sampled ids, without the token that ends the turn. */
  text(ids: ArrayLike<number>): string;
  /** The part of a completion's text that action protocols read: without reasoning, tool calls in the protocol's form. */
  answer(text: string): string;
}

/** The ids without the mark that closes a completion. */
export function withoutEnd(ids: ArrayLike<number>): number[] {
  const list = Array.from(ids);
  if (list.at(-1) === END_ID) list.pop();
  return list;
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
    prompt: (history, fresh) => {
      const ids = fresh.flatMap((message) => tokenizer.encode(message.content));
      const contextIds = marked ? [...ids, ACT_ID] : ids;
      return {
        promptIds: [...history.ids, ...contextIds],
        contextIds,
        extendsPrevious: history.ids.length > 0,
      };
    },
    completionIds: (text) => (marked ? [...tokenizer.encode(text), END_ID] : tokenizer.encode(text)),
    text: (ids) => tokenizer.decode(withoutEnd(ids)),
    answer: (text) => text,
  };
}
