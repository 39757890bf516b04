/** What a sampled text says, in the forms that model families write: reasoning, tool calls, and the answer itself. */

import type { Json, JsonObject } from '../../core/json/json.ts';
import type { Message, ToolCall } from '../../core/messages.ts';

/**
 * How a family writes tool calls. `tags`: `<tool_call>{"name", "arguments"}</tool_call>`, any number, with text around
 * (Qwen, Hermes, SmolLM2). `bare`: the answer is `{"name", "parameters"}`, perhaps after `<|python_tag|>`, or
 * `<|python_tag|>name.call(key="value")` for built-in tools, or code (Llama 3).
 */
export type ToolCallForm = 'tags' | 'bare';

const CALL = /<tool_call>([\s\S]*?)<\/tool_call>/g;
export const OPEN_CALL = '<tool_call>';
export const PYTHON_TAG = '<|python_tag|>';
export const END_OF_THOUGHT = '</think>';
export const THOUGHT = '<think>';

/** The text after the reasoning; nothing where the reasoning was not finished. */
export function splitReasoning(text: string): { readonly reasoning?: string; readonly rest: string } {
  const end = text.lastIndexOf(END_OF_THOUGHT);
  const start = text.indexOf(THOUGHT);
  if (end < 0) {
    return start < 0 ? { rest: text } : { reasoning: text.slice(start + THOUGHT.length).trim(), rest: '' };
  }
  // Some templates write <think> themselves, so that only its end is sampled.
  const from = start >= 0 && start < end ? start + THOUGHT.length : 0;
  return {
    reasoning: text.slice(from, end).trim(),
    rest: text.slice(end + END_OF_THOUGHT.length).trimStart(),
  };
}

/**
 * The message that `text` says: its reasoning, its tool calls, and the remaining content. What looks like a call and cannot
 * be read stays content, so that nothing is lost.
 */
export function readMessage(text: string, form: ToolCallForm): Message {
  const { reasoning, rest } = splitReasoning(text);
  const { content, calls } = form === 'tags' ? readTaggedCalls(rest) : readBareCalls(rest);
  return {
    role: 'assistant',
    content,
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(calls.length === 0
      ? {}
      : { toolCalls: calls.map((call, index): ToolCall => ({ id: `call_${index}`, ...call })) }),
  };
}

type Call = Omit<ToolCall, 'id'>;
interface Calls {
  readonly content: string;
  readonly calls: readonly Call[];
}

function readTaggedCalls(text: string): Calls {
  const calls: Call[] = [];
  const content = text.replace(CALL, (whole, body: string) => {
    const call = readCall(body);
    if (call === undefined) return whole;
    calls.push(call);
    return '';
  });
  return { content: calls.length === 0 ? text : content.trim(), calls };
}

function readBareCalls(text: string): Calls {
  const trimmed = text.trim();
  const tagged = trimmed.startsWith(PYTHON_TAG);
  const body = tagged ? trimmed.slice(PYTHON_TAG.length).trim() : trimmed;
  const call = readCall(body) ?? (tagged ? readBuiltIn(body) : undefined);
  if (call !== undefined) return { content: '', calls: [call] };
  return tagged
    ? { content: '', calls: [{ name: 'ipython', arguments: { code: body } }] }
    : { content: text, calls: [] };
}

/** Both names of the arguments are read: families use either. Arguments may be JSON inside a string. */
function readCall(body: string): Call | undefined {
  const value = parseJson(body);
  if (!isObject(value) || typeof value.name !== 'string') return undefined;
  const given = value.arguments ?? value.parameters ?? {};
  const input = typeof given === 'string' ? parseJson(given) : given;
  return isObject(input) ? { name: value.name, arguments: input } : undefined;
}

/** `brave_search.call(query="…")`. */
function readBuiltIn(body: string): Call | undefined {
  const [, name, list] = /^([A-Za-z_]\w*)\.call\(([\s\S]*)\)$/.exec(body) ?? [];
  if (name === undefined || list === undefined) return undefined;
  const input: Record<string, Json> = {};
  const pair = /\s*([A-Za-z_]\w*)\s*=\s*("(?:[^"\\]|\\.)*"|-?[\d.]+|true|false|null)\s*(?:,|$)/y;
  while (pair.lastIndex < list.length) {
    const [, key, text] = pair.exec(list) ?? [];
    const value = text === undefined ? undefined : parseJson(text);
    if (key === undefined || value === undefined) return undefined;
    input[key] = value;
  }
  return { name, arguments: input };
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
