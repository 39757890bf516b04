/** Acts that call a context's own tools: no call is lost. Own calls are answered in order, others are said not to be carried out. */

import type { Call } from '../../core/episode.ts';
import type { JsonObject } from '../../core/json/json.ts';
import type { Message } from '../../core/messages.ts';
import { CALL_WORD } from '../../core/word-reply.ts';
import { readMessage } from '../../model/chat/tool-call-text.ts';

export interface OwnCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

type IsOwn = (name: string) => boolean;
type Written = Pick<Call, 'reply' | 'text'>;

/** Names of the tools that a text calls, readable by the tools that were offered or not. */
export function namesCalled(text: string): readonly string[] {
  const inWords = text
    .split(CALL_WORD)
    .slice(1)
    .map((words) => words.trim().split(/\s+/)[0] ?? '');
  return [...(readMessage(text, 'tags').toolCalls ?? []).map(({ name }) => name), ...inWords];
}

/** Whether a context answers an act in the place of the environment. */
export const hasOwnCall = (call: Written, isOwn: IsOwn): boolean =>
  call.reply?.problem === undefined
    ? (call.reply?.toolCalls ?? []).some(({ name }) => isOwn(name))
    : namesCalled(call.text).some(isOwn);

/**
 * What is answered to an act that calls own tools: a message for each of its calls, in order. Each own call finds the state that the
 * ones before it left. Undefined where none is the context's own: the act is the environment's.
 */
export function answerOwn<S>(
  call: Written,
  isOwn: IsOwn,
  state: S,
  answer: (use: OwnCall, state: S) => { readonly text: string; readonly state: S },
): { readonly messages: readonly Message[]; readonly state: S } | undefined {
  if (!hasOwnCall(call, isOwn)) return undefined;
  const { problem, toolCalls = [] } = call.reply ?? {};
  if (problem !== undefined) return { messages: [told(`Nothing was carried out: ${problem}`)], state };
  let now = state;
  const messages = toolCalls.map((use) => {
    if (!isOwn(use.name)) return told(notCarriedOut(use.name));
    const { text, state: after } = answer(use, now);
    now = after;
    return told(text);
  });
  return { messages, state: now };
}

export const notCarriedOut = (name: string): string =>
  `${name} was not carried out. Call it again, in a turn of its own.`;

const told = (content: string): Message => ({ role: 'tool', content });
