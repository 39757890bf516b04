/**
 * `response_format`, and tools that are `strict`: a model that can be is held to them. Every answer is checked besides, which is
 * recorded with the call and told to the client; the answer itself is given as it was sampled.
 */

import { z } from 'zod';
import type { Constraint, Form } from '../../core/constraint.ts';
import type { JsonObject } from '../../core/json/json.ts';
import type { ToolDeclaration } from '../../core/messages.ts';
import type { CallForm, Reply } from '../../model/chat/conversation.ts';
import { badRequest } from './api-error.ts';
import type { ChatCall, ResponseFormat } from './call-request.ts';

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

const ANY_OBJECT: JsonObject = { type: 'object' };

/**
 * What a call asks its answer to be held to; undefined where that is nothing, or where calls of tools may come that have no form.
 * What is forced upon the model stands before it. A model that is held to an answer writes no thoughts before it.
 */
export function constraintOf(call: ChatCall, callForm: CallForm | undefined): Constraint | undefined {
  const { responseFormat, toolChoice, tools, callable, strictTools, parallelToolCalls } = call;
  const offered = callable ? tools.filter(({ name }) => callable.includes(name)) : tools;
  const isStrict = offered.some(({ name }) => strictTools.includes(name));
  const formOf = ({ name, parameters }: ToolDeclaration, begin: string): Form => ({
    begin,
    schema: strictTools.includes(name) ? parameters : ANY_OBJECT,
    end: callForm?.after ?? '',
  });
  if (typeof toolChoice === 'object') {
    const tool = offered.find(({ name }) => name === toolChoice.name);
    return tool && callForm && isStrict ? { forms: [formOf(tool, '')] } : undefined;
  }
  if (toolChoice === 'required') {
    if (callForm === undefined || !isStrict) return undefined;
    return { forms: offered.map((tool) => formOf(tool, `${tool.name}${callForm.between}`)) };
  }
  const answer = answerForm(responseFormat);
  if (toolChoice === 'none' || offered.length === 0) return answer && { forms: [answer] };
  if (callForm === undefined) return undefined;
  const start = callForm.before.replace(/^[\s\S]*<\/think>\s*/, '');
  const calls = offered.map((tool) => formOf(tool, `${start}${tool.name}${callForm.between}`));
  if (answer) return { forms: [answer, ...calls] };
  if (!isStrict) return undefined;
  return { forms: calls, trigger: /^<[^<>]+>/.exec(start)?.[0] ?? start, once: !parallelToolCalls };
}

function answerForm(format: ResponseFormat): Form | undefined {
  if (format.type === 'text') return undefined;
  return { begin: '', schema: format.type === 'json_schema' ? format.schema : ANY_OBJECT, end: '' };
}
