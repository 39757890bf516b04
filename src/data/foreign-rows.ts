/**
 * Rows of other libraries: TRL's columns (`prompt`, `completion`, `chosen`, `rejected`, `label`), ShareGPT's `conversations`, and
 * Hermes' function calls, which write calls and their results as tags within it.
 */

import type { JsonObject } from '../core/json/json.ts';
import type { ToolCall } from '../core/messages.ts';
import { readMessages } from './read-message.ts';
import type { RowMessage } from './row.ts';
import { fieldsOf, listOf, RowProblem, textOf } from './row-problem.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface Body {
  readonly messages: readonly RowMessage[];
  readonly chosen?: readonly RowMessage[];
  readonly rejected?: readonly RowMessage[];
  readonly reward?: number;
  readonly success?: boolean;
}

/** Text is what one side says; a list is messages. */
function said(value: unknown, path: string, role: 'user' | 'assistant'): RowMessage[] {
  return typeof value === 'string' ? [{ role, content: value }] : readMessages(value, path);
}

/** What stands before an answer is not learned. */
const shown = (messages: readonly RowMessage[]): RowMessage[] =>
  messages.map((message) => (message.role === 'assistant' ? { ...message, weight: 0 } : message));

/** `prompt` with `completion`, and with `label` where it was judged. */
export function promptAndCompletion({ prompt, completion, label }: Fields): Body {
  const before = said(prompt, 'prompt', 'user');
  const messages = [...shown(before), ...said(completion, 'completion', 'assistant')];
  if (label == null) return { messages };
  if (typeof label !== 'boolean') throw new RowProblem('label', label, 'true or false');
  return { messages, reward: label ? 1 : 0, success: label };
}

/** `chosen` and `rejected`, after `prompt`; or after what they have in common, where they are whole conversations. */
export function pairOf({ prompt, messages, chosen, rejected }: Fields): Body {
  const [better, worse] = [
    said(chosen, 'chosen', 'assistant'),
    said(rejected, 'rejected', 'assistant'),
  ] as const;
  const before = messages ?? prompt;
  const asked = before == null ? [] : said(before, messages == null ? 'prompt' : 'messages', 'user');
  const repeats = [better, worse].every((way) => sameMessage(firstSaid(way), firstSaid(asked)));
  if (before != null && !repeats) return { messages: shown(asked), chosen: better, rejected: worse };
  const parts = apart(better, worse);
  // The ways may leave out who they were told to be.
  const told = parts.messages[0]?.role === 'system' ? [] : asked.filter(({ role }) => role === 'system');
  return { ...parts, messages: [...told, ...parts.messages] };
}

const firstSaid = (messages: readonly RowMessage[]): RowMessage | undefined =>
  messages.find(({ role }) => role !== 'system');

/** What two conversations have in common, and how each goes on. */
function apart(
  better: readonly RowMessage[],
  worse: readonly RowMessage[],
): Required<Pick<Body, 'messages' | 'chosen' | 'rejected'>> {
  let same = 0;
  while (same < better.length && sameMessage(better[same], worse[same])) same++;
  // Where one begins with all of the other, its last message is what is compared.
  if (same > 0 && (same === better.length || same === worse.length)) same--;
  return { messages: shown(better.slice(0, same)), chosen: better.slice(same), rejected: worse.slice(same) };
}

const sameMessage = (a: RowMessage | undefined, b: RowMessage | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

const SPEAKERS: Readonly<Record<string, RowMessage['role']>> = {
  system: 'system',
  human: 'user',
  user: 'user',
  gpt: 'assistant',
  assistant: 'assistant',
  model: 'assistant',
  tool: 'tool',
  observation: 'tool',
  function_response: 'tool',
};

/** ShareGPT: `[{ from, value }]`. */
export function shareGpt(value: unknown): Body {
  const messages = listOf(value, 'conversations', 'a list of { from, value }').flatMap(
    (turn, index): RowMessage[] => {
      const path = `conversations[${index}]`;
      const { from, value: text, weight } = fieldsOf(turn, path, '{ from, value }');
      const role = typeof from === 'string' ? SPEAKERS[from] : undefined;
      if (role === undefined) throw new RowProblem(`${path}.from`, from, Object.keys(SPEAKERS).join(', '));
      const content = textOf(text, `${path}.value`);
      if (role === 'tool') return resultsIn(content);
      if (role !== 'assistant') return [{ role, content }];
      const answer = hermesAnswer(content, `${path}.value`, index);
      return [weight === 0 ? { ...answer, weight } : answer];
    },
  );
  return { messages };
}

const CALL = /<tool_call>([\s\S]*?)<\/tool_call>/g;
const RESULT = /<tool_response>([\s\S]*?)<\/tool_response>/g;
const THOUGHT = /^\s*<think>([\s\S]*?)<\/think>/;

/** Thoughts and calls, as Hermes writes them, taken out of the text. */
function hermesAnswer(text: string, path: string, turn: number): RowMessage {
  const [, thought] = THOUGHT.exec(text) ?? [];
  const rest = text.replace(THOUGHT, '');
  const toolCalls = [...rest.matchAll(CALL)].map(([, body = ''], index): ToolCall => {
    const call = callIn(body.trim(), path);
    return { id: `call_${turn}_${index}`, ...call };
  });
  return {
    role: 'assistant',
    content: toolCalls.length > 0 || thought !== undefined ? rest.replace(CALL, '').trim() : text,
    ...(thought !== undefined && { reasoning: thought.trim() }),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}

/** JSON; the first editions of Hermes have Python's quotes. */
function callIn(body: string, path: string): Omit<ToolCall, 'id'> {
  for (const text of [body, pythonAsJson(body)]) {
    try {
      const { name, arguments: given } = JSON.parse(text) as { name?: unknown; arguments?: unknown };
      if (typeof name === 'string') return { name, arguments: (given ?? {}) as JsonObject };
    } catch {
      // The next form.
    }
  }
  throw new RowProblem(path, body, '<tool_call>{"name": …, "arguments": {…}}</tool_call>');
}

const pythonAsJson = (text: string): string =>
  text
    .replace(/'/g, '"')
    .replace(/\bTrue\b/g, 'true')
    .replace(/\bFalse\b/g, 'false')
    .replace(/\bNone\b/g, 'null');

/** Each result is a message of its own. */
function resultsIn(text: string): RowMessage[] {
  const results = [...text.matchAll(RESULT)].map(([, body = '']) => body.trim());
  return (results.length > 0 ? results : [text]).map((content) => ({ role: 'tool', content }));
}
