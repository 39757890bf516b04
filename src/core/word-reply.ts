/**
 * Replies in words, for models made from scratch: a tool call is `<call> relative person: ada relation: mother`. Values of
 * text stand as they are, others as JSON.
 */

import type { Json, JsonObject } from './json/json.ts';
import type { Message, Reply, ToolDeclaration } from './messages.ts';

/** The word before a call. */
export const CALL_WORD = '<call>';

export function writeReply({ content, toolCalls }: Reply): string {
  const calls = toolCalls.map(({ name, arguments: given }) => {
    const values = Object.entries(given).map(([key, value]) => `${key}: ${valueText(value)}`);
    return [CALL_WORD, name, ...values].join(' ');
  });
  return [content, ...calls].filter((part) => part !== '').join(' ');
}

const valueText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Everything before the first call is content. A call of an unknown tool, or with unreadable arguments, stays content. */
export function parseReply(text: string, tools: readonly ToolDeclaration[]): Reply {
  if (tools.length === 0) return { content: text, toolCalls: [] };
  const words = text.split(/\s+/).filter((word) => word !== '');
  const starts = words.flatMap((word, index) => (word === CALL_WORD ? [index] : []));
  if (starts.length === 0) return { content: text, toolCalls: [] };
  const toolCalls = [];
  for (const [position, start] of starts.entries()) {
    const [name, ...body] = words.slice(start + 1, starts[position + 1]);
    const tool = tools.find((known) => known.name === name);
    if (!tool) return { content: text, toolCalls: [], problem: `there is no tool "${name ?? ''}"` };
    const given = parseArguments(body, tool);
    if (typeof given === 'string') return { content: text, toolCalls: [], problem: given };
    toolCalls.push({ name: tool.name, arguments: given });
  }
  return { content: words.slice(0, starts[0]).join(' '), toolCalls };
}

/** `key: words key: words`, with the keys and types of the tool's schema; or what is wrong with it. */
function parseArguments(
  words: readonly string[],
  { name, parameters }: ToolDeclaration,
): JsonObject | string {
  const properties = (parameters.properties ?? {}) as Readonly<Record<string, JsonObject>>;
  const keyOf = (word: string): string | undefined => {
    const key = word.endsWith(':') ? word.slice(0, -1) : undefined;
    return key !== undefined && Object.hasOwn(properties, key) ? key : undefined;
  };
  const parts = new Map<string, string[]>();
  let open: string[] | undefined;
  for (const word of words) {
    const key = keyOf(word);
    if (key !== undefined) {
      if (parts.has(key)) return `${name}: "${key}" is given twice`;
      open = [];
      parts.set(key, open);
    } else if (open === undefined) {
      return `${name}: "${word}" belongs to no argument`;
    } else {
      open.push(word);
    }
  }
  const given: Record<string, Json> = {};
  for (const [key, value] of parts) {
    const text = value.join(' ');
    if (isText(properties[key]!)) {
      given[key] = text;
      continue;
    }
    try {
      given[key] = JSON.parse(text) as Json;
    } catch {
      return `${name}: "${key}" is not JSON`;
    }
  }
  return given;
}

/** Whether a value of this schema is written as it is, rather than as JSON. */
function isText({ type, enum: allowed, const: only }: JsonObject): boolean {
  if (type !== undefined) return type === 'string';
  const examples = Array.isArray(allowed) ? (allowed as readonly Json[]) : only === undefined ? [] : [only];
  return examples.every((value) => typeof value === 'string');
}

/** A message as a small model reads it: the words of a vocabulary come from here. */
export function messageText(message: Message): string {
  return message.role === 'assistant' ? writeReply(replyOf(message)) : `<${message.role}> ${message.content}`;
}

function replyOf({ content, toolCalls = [] }: Message): Reply {
  return { content, toolCalls };
}
