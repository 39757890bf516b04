/**
 * Conversations of small models made from scratch: one word marks who speaks. Declarations of tools are left out: such a model
 * knows its tools from demonstrations, and a schema in every prompt would only be tokens to read.
 */

import { CALL_WORD, messageText, parseReply, writeReply } from '../../core/word-reply.ts';
import { ACT_ID, END_ID, type WordTokenizer } from '../tokenizer/word-tokenizer.ts';
import type { ConversationRenderer } from './conversation.ts';
import { type Completion, idsOf, isCompletion, type Piece, type Said, withoutEnd } from './renderer.ts';

/** Every word that a vocabulary needs besides those of the demonstrations. */
export const CHAT_WORDS: readonly string[] = ['<system>', '<user>', '<tool>', CALL_WORD];

/** Marks around a completion, as pieces. */
const OPEN = '<act>';
const CLOSE = '<end>';

/** @param maxWords of the longest completion */
export function wordChatRenderer(tokenizer: WordTokenizer, maxWords: number): ConversationRenderer {
  // A completion that was cut short is closed first.
  const closed = ({ ids }: Completion): Piece[] => (ids[ids.length - 1] === END_ID ? [] : [CLOSE]);
  const opened = (said: readonly Said[]): Piece[] => [
    ...said.flatMap((one): Piece[] => (isCompletion(one) ? [OPEN, one, ...closed(one)] : [one])),
    OPEN,
  ];
  return {
    stopIds: [END_ID],
    maxTurnTokens: maxWords + 1,
    pieces: opened,
    more: (completion, fresh) => [...closed(completion), ...opened(fresh)],
    ids: (piece) => {
      if (typeof piece === 'string') return [piece === OPEN ? ACT_ID : END_ID];
      if (!('content' in piece)) return idsOf(piece);
      const ids = tokenizer.encode(messageText(piece));
      return piece.role === 'assistant' ? [ACT_ID, ...ids, END_ID] : ids;
    },
    forcedIds: ({ name }) => tokenizer.encode(name === undefined ? CALL_WORD : `${CALL_WORD} ${name}`),
    textIds: (text) => tokenizer.encode(text),
    completionIds: (text) => [...tokenizer.encode(text), END_ID],
    text: (ids) => tokenizer.decode(withoutEnd(ids)),
    answer: (text) => text,
    read: parseReply,
    // Small models do not think.
    written: ({ content, toolCalls = [] }) => writeReply({ content, toolCalls }),
  };
}
