/**
 * Conversations of small models made from scratch: one word marks who speaks, and a tool call is a few words,
 * `<call> relative person: ada relation: mother`. Declarations of tools are left out: such a model knows its tools from
 * demonstrations, and a schema in every prompt would only be tokens to read.
 */

import type { Message, Reply } from '../../core/messages.ts';
import { CALL_WORD, parseReply, writeReply } from '../../core/word-reply.ts';
import { ACT_ID, END_ID, type WordTokenizer } from '../tokenizer/word-tokenizer.ts';
import type { ConversationRenderer } from './conversation.ts';
import { type History, type Prompt, withoutEnd } from './renderer.ts';

/** Every word that a vocabulary needs besides those of the demonstrations. */
export const CHAT_WORDS: readonly string[] = ['<system>', '<user>', '<tool>', CALL_WORD];

/** @param maxWords of the longest completion */
export function wordChatRenderer(tokenizer: WordTokenizer, maxWords: number): ConversationRenderer {
  const idsOf = (message: Message): number[] =>
    message.role === 'assistant'
      ? [ACT_ID, ...tokenizer.encode(writeReply(replyOf(message))), END_ID]
      : tokenizer.encode(messageText(message));
  /** A completion that was cut short is closed first. */
  const prompt = (history: History, fresh: readonly Message[]): Prompt => {
    const extendsPrevious = history.ids.length > 0;
    const open = extendsPrevious && history.ids.at(-1) !== END_ID;
    const contextIds = [...(open ? [END_ID] : []), ...fresh.flatMap(idsOf), ACT_ID];
    return { promptIds: [...history.ids, ...contextIds], contextIds, extendsPrevious };
  };
  return {
    stopIds: [END_ID],
    maxTurnTokens: maxWords + 1,
    prompt,
    next: prompt,
    forcedIds: ({ name }) => tokenizer.encode(name === undefined ? CALL_WORD : `${CALL_WORD} ${name}`),
    textIds: (text) => tokenizer.encode(text),
    completionIds: (text) => [...tokenizer.encode(text), END_ID],
    text: (ids) => tokenizer.decode(withoutEnd(ids)),
    answer: (text) => text,
    read: parseReply,
  };
}

/** A message as the model reads it: the words of a vocabulary come from here. */
export function messageText(message: Message): string {
  return message.role === 'assistant' ? writeReply(replyOf(message)) : `<${message.role}> ${message.content}`;
}

function replyOf({ content, toolCalls = [] }: Message): Reply {
  return { content, toolCalls };
}
