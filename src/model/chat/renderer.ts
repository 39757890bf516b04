/**
 * Renderers turn conversations into token ids, piece by piece, and sampled ids back into text. A completion that stands in a
 * conversation is a piece of its own, whose ids are those that were sampled.
 */

import type { TokenTexts } from '../../core/constraint.ts';
import type { Message, Reply, ToolDeclaration } from '../../core/messages.ts';
import { parseReply } from '../../core/word-reply.ts';
import { ACT_ID, END_ID, type WordTokenizer } from '../tokenizer/word-tokenizer.ts';
import type { Settled } from './settled-text.ts';

/** A completion that stands in a conversation. Every `Call` is one. */
export interface Completion {
  readonly id: number;
  /** As they were sampled. */
  readonly ids: ArrayLike<number>;
  readonly text: string;
}

/** Something that was shown, or a completion. */
export type Said = Message | Completion;

export const isCompletion = (said: object): said is Completion => 'ids' in said;

/** Some of the tokens of a completion: those that a template keeps. */
export interface Excerpt {
  readonly of: Completion;
  readonly from: number;
  readonly to: number;
}

/** What is turned into ids by itself: text, a message, a completion or a part of one. */
export type Piece = string | Message | Completion | Excerpt;

/** What a conversation offers and asks of the template, where that is not what the renderer was made with. */
export interface Offered {
  readonly tools?: readonly ToolDeclaration[];
  readonly variables?: TemplateVariables;
}

/** What a request may say of the template: whether the model is to think. */
export interface TemplateVariables {
  readonly enable_thinking?: boolean;
}

export interface Renderer {
  /** Ids that end a turn when sampled. */
  readonly stopIds: readonly number[];
  /** Longest completion of a turn, in tokens. */
  readonly maxTurnTokens: number;
  /** Whether prompts describe the tools that are offered. */
  readonly declares?: true;
  /**
   * A conversation up to where the policy's next token goes. Its ids are those of the pieces, one after another.
   *
   * @param seen the pieces of the prompt that the last completion in it answered, and of that completion
   */
  pieces(said: readonly Said[], offered?: Offered, seen?: readonly Piece[]): readonly Piece[];
  /**
   * The pieces that follow those of a prompt and of its `completion`, where more was said. Absent where what comes later
   * changes what stood before, or what is offered changes anything: then `pieces` makes all of them anew.
   */
  more?(completion: Completion, fresh: readonly Said[]): readonly Piece[];
  /** The ids of a piece, whatever stands around it. */
  ids(piece: Piece): ArrayLike<number>;
  /** About how many tokens a piece has, where its ids are not known here. */
  size?(piece: Piece): number;
  /** The ids a policy would have sampled to write `text`. */
  completionIds(text: string): number[];
  /** The text of sampled ids, without the token that ends the turn. */
  text(ids: ArrayLike<number>): string;
  /** The part of a completion's text that action protocols read: without reasoning, tool calls in the protocol's form. */
  answer(text: string): string;
  /** What a completion says; calls are read only where there are tools. */
  read(text: string, tools: readonly ToolDeclaration[]): Reply;
  /** What `read` will find in a text that begins so, whatever comes; absent where nobody can tell before its end. */
  settled?(text: string, readsCalls: boolean): Settled;
  /** The text that a policy would have written to say this, thoughts and calls in its own form. Default: `taggedText`. */
  written?(message: Message): string;
  /** What its tokens write, so that completions can be held to a form; undefined or absent where they cannot. */
  tokenTexts?(): TokenTexts | undefined;
}

/** A message as text: thoughts and calls as the tags that most model families write. */
export function taggedText({ content, reasoning, toolCalls = [] }: Message): string {
  const thought = reasoning === undefined ? '' : `<think>\n${reasoning}\n</think>\n\n`;
  const calls = toolCalls.map(
    ({ name, arguments: given }) =>
      `<tool_call>\n${JSON.stringify({ name, arguments: given })}\n</tool_call>`,
  );
  return thought + [content, ...calls].filter((part) => part !== '').join('\n');
}

/** A message as the policy of this renderer would have written it. */
export const writtenBy = (renderer: Pick<Renderer, 'written'>, message: Message): string =>
  renderer.written?.(message) ?? taggedText(message);

/** The ids without the mark that closes a completion. */
export function withoutEnd(ids: ArrayLike<number>): number[] {
  const list = Array.from(ids);
  if (list.at(-1) === END_ID) list.pop();
  return list;
}

/** The mark before a completion, as a piece. */
const OPEN = '<act>';

/**
 * The renderer of small from-scratch models. Where every action is one word (`maxWords` 1) a turn is exactly one token and
 * needs no marks, which halves the work of sampling; otherwise `<act>` opens a completion and `<end>` closes it.
 */
export function wordRenderer(tokenizer: WordTokenizer, maxWords: number): Renderer {
  const marked = maxWords > 1;
  const opened = (said: readonly Said[]): readonly Piece[] => [
    ...said.flatMap((one): Piece[] => (isCompletion(one) ? [OPEN, one] : [one])),
    OPEN,
  ];
  return {
    stopIds: marked ? [END_ID] : [],
    maxTurnTokens: marked ? maxWords + 1 : 1,
    pieces: (said) => (marked ? opened(said) : said),
    more: (_completion, fresh) => (marked ? opened(fresh) : fresh),
    ids: (piece) => {
      if (typeof piece === 'string') return [ACT_ID];
      return 'content' in piece ? tokenizer.encode(piece.content) : idsOf(piece);
    },
    completionIds: (text) => (marked ? [...tokenizer.encode(text), END_ID] : tokenizer.encode(text)),
    text: (ids) => tokenizer.decode(withoutEnd(ids)),
    answer: (text) => text,
    read: parseReply,
  };
}

/** The ids of a completion, or of a part of one. */
export function idsOf(piece: Completion | Excerpt): ArrayLike<number> {
  return isCompletion(piece) ? piece.ids : Array.from(piece.of.ids).slice(piece.from, piece.to);
}

/** A conversation of messages alone, for models whose tokens are their own affair: about four characters make a token. */
export const noIds: Renderer = {
  stopIds: [],
  maxTurnTokens: Number.POSITIVE_INFINITY,
  declares: true,
  pieces: (said) => said,
  more: (_completion, fresh) => fresh,
  ids: () => [],
  size: (piece) => {
    if (typeof piece === 'string') return piece.length / 4;
    return ('content' in piece ? piece.content : 'text' in piece ? piece.text : '').length / 4;
  },
  completionIds: () => [],
  text: () => '',
  answer: (text) => text,
  read: (text) => ({ content: text, toolCalls: [] }),
};
