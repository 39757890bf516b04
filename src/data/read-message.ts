/** Messages and tools as datasets have them: OpenAI's shape, with the liberties that other libraries take. */

import type { JsonObject } from '../core/json/json.ts';
import type { ToolCall, ToolDeclaration } from '../core/messages.ts';
import type { RowMessage } from './row.ts';
import { fieldsOf, listOf, numberOf, parsed, parsedList, RowProblem, textOf } from './row-problem.ts';

const ROLES: Readonly<Record<string, RowMessage['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
};

const KNOWN = new Set([
  ...['role', 'content', 'reasoning_content', 'reasoning', 'thinking', 'tool_calls', 'tool_call_id'],
  ...['weight', 'reward', 'name', 'refusal', 'id', 'audio', 'annotations', 'function_call'],
]);

/** @throws RowProblem */
export function readMessage(value: unknown, path: string): RowMessage {
  const fields = fieldsOf(value, path, 'a message: { role, content }');
  const unknown = Object.keys(fields).find((name) => !KNOWN.has(name));
  if (unknown !== undefined)
    throw new RowProblem(`${path}.${unknown}`, fields[unknown], [...KNOWN].join(', '));
  const role = typeof fields.role === 'string' ? ROLES[fields.role] : undefined;
  if (role === undefined) throw new RowProblem(`${path}.role`, fields.role, Object.keys(ROLES).join(', '));
  if (fields.function_call != null)
    throw new RowProblem(`${path}.function_call`, fields.function_call, 'tool_calls');
  const toolCalls = fields.tool_calls == null ? [] : readCalls(fields.tool_calls, `${path}.tool_calls`);
  const content = contentOf(fields.content, `${path}.content`, toolCalls.length > 0);
  const thought = fields.reasoning_content ?? fields.reasoning ?? fields.thinking;
  const own = readOwn(fields, path, role);
  if (role !== 'assistant' && toolCalls.length > 0)
    throw new RowProblem(`${path}.tool_calls`, fields.tool_calls, 'calls on assistant messages only');
  return {
    role,
    content,
    ...(typeof thought === 'string' && thought !== '' && { reasoning: thought }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(fields.tool_call_id != null && {
      toolCallId: textOf(fields.tool_call_id, `${path}.tool_call_id`),
    }),
    ...own,
  };
}

/** Weight and reward, which only answers have. */
function readOwn(
  { weight, reward }: Readonly<Record<string, unknown>>,
  path: string,
  role: RowMessage['role'],
): Pick<RowMessage, 'weight' | 'reward'> {
  if (weight != null && weight !== 0 && weight !== 1)
    throw new RowProblem(`${path}.weight`, weight, '0 or 1');
  if (role !== 'assistant') {
    if (weight === 1) throw new RowProblem(`${path}.weight`, weight, 'weights on assistant messages only');
    if (reward != null) throw new RowProblem(`${path}.reward`, reward, 'rewards on assistant messages only');
    return {};
  }
  return {
    ...(weight === 0 && { weight }),
    ...(reward != null && { reward: numberOf(reward, `${path}.reward`) }),
  };
}

/** Text; parts of text are joined. Nothing is missing beside a call. */
function contentOf(value: unknown, path: string, mayBeMissing: boolean): string {
  if (typeof value === 'string') return value;
  if (value == null && mayBeMissing) return '';
  if (!Array.isArray(value)) throw new RowProblem(path, value, 'text, or a list of { type: "text", text }');
  return value
    .map((part: unknown, index) => {
      if (typeof part === 'string') return part;
      const { type, text } = fieldsOf(part, `${path}[${index}]`);
      if (type === 'text' && typeof text === 'string') return text;
      throw new RowProblem(`${path}[${index}]`, part, 'text: models here read no images and no sound');
    })
    .join('');
}

function readCalls(value: unknown, path: string): ToolCall[] {
  return parsedList(value, path).map((call, index) => {
    const at = `${path}[${index}]`;
    const fields = fieldsOf(call, at, '{ id, type: "function", function: { name, arguments } }');
    const made = fields.function == null ? fields : fieldsOf(fields.function, `${at}.function`);
    return {
      id: typeof fields.id === 'string' ? fields.id : `call_${index}`,
      name: textOf(made.name, `${at}.function.name`),
      arguments: objectOf(made.arguments ?? {}, `${at}.function.arguments`),
    };
  });
}

/** Arguments are text in OpenAI's API, and objects in chat templates. */
function objectOf(value: unknown, path: string): JsonObject {
  const read = value === '' ? {} : parsed(value, path);
  return fieldsOf(read, path, 'an object, or its text as JSON') as JsonObject;
}

/** Declarations, in OpenAI's envelope or without it. @throws RowProblem */
export function readTools(value: unknown, path: string): ToolDeclaration[] {
  return parsedList(value, path).map((tool, index) => {
    const at = `${path}[${index}]`;
    const outer = fieldsOf(tool, at, '{ type: "function", function: { name, description, parameters } }');
    const inner = outer.function == null ? outer : fieldsOf(outer.function, `${at}.function`);
    const { parameters = {} } = inner;
    return {
      name: textOf(inner.name, `${at}.name`),
      description: inner.description == null ? '' : textOf(inner.description, `${at}.description`),
      parameters: fieldsOf(parameters ?? {}, `${at}.parameters`, 'a JSON Schema') as JsonObject,
    };
  });
}

/** Messages of a conversation. @throws RowProblem */
export function readMessages(value: unknown, path: string): RowMessage[] {
  return listOf(value, path, 'a list of messages').map((message, index) =>
    readMessage(message, `${path}[${index}]`),
  );
}
