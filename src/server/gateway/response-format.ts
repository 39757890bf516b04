/**
 * `response_format`: a small model cannot be held to a form, so its answer is checked instead. Whether it fits is
 * recorded with the call and told to the client; the answer itself is given as it was sampled.
 */

import { z } from 'zod';
import type { JsonObject } from '../../core/json/json.ts';
import type { Reply } from '../../model/chat/conversation.ts';
import { badRequest } from './api-error.ts';
import type { ResponseFormat } from './call-request.ts';

/**
 * What is wrong with the answer's form. Calls of tools are no answer yet, so nothing is wrong with theirs; but words beside them
 * are read as the answer by half of the clients, which then throw.
 */
export function formatProblem({ content, toolCalls }: Reply, format: ResponseFormat): string | undefined {
  if (format.type === 'text' || (toolCalls.length > 0 && content.trim() === '')) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    return 'the answer is not JSON';
  }
  if (format.type === 'json_schema') {
    return schemaOf(format.schema).safeParse(value).success
      ? undefined
      : 'the answer does not fit the schema';
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? undefined : 'the answer is not a JSON object';
}

/** @throws ApiError 400 for a schema that cannot be checked */
export function checkFormat(format: ResponseFormat): void {
  if (format.type === 'json_schema') schemaOf(format.schema);
}

function schemaOf(schema: JsonObject): z.ZodType {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw badRequest('invalid_schema', `The JSON Schema cannot be checked: ${reason}`, 'response_format');
  }
}
