/** What a client asked for, read from the bodies of /chat/completions and /completions. Nothing is ignored in silence. */

import { z } from 'zod';
import type { Sampling } from '../../core/episode.ts';
import { nearest } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Message, ToolDeclaration } from '../../core/messages.ts';
import { type ApiError, badRequest } from './api-error.ts';

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | { readonly type: 'json_schema'; readonly schema: JsonObject };

/** What both kinds of calls have in common. */
interface CallBase {
  readonly model: string;
  /** What the client declares the call to be for. */
  readonly purpose?: string;
  /** Completions wanted (n). */
  readonly choices: number;
  readonly stop: readonly string[];
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly topK: number | undefined;
  readonly maxTokens: number | undefined;
  readonly seed: number | undefined;
  readonly logprobs: boolean;
  readonly stream: boolean;
  readonly streamUsage: boolean;
  /** Ids of prompt and completion in the answer, as vLLM gives them. */
  readonly returnTokenIds: boolean;
}

export interface ChatCall extends CallBase {
  readonly kind: 'chat';
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDeclaration[];
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls: boolean;
  readonly responseFormat: ResponseFormat;
}

export interface TextCall extends CallBase {
  readonly kind: 'text';
  readonly prompt: string | readonly number[];
}

export type CallRequest = ChatCall | TextCall;

const MAX_CHOICES = 64;

const textPart = z.object({ type: z.literal('text'), text: z.string() });
const content = z.union([z.string(), z.array(textPart)]).nullish();
const toolCall = z.object({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.object({ name: z.string().min(1), arguments: z.string() }),
});
const message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content }),
  z.object({ role: z.literal('developer'), content }),
  z.object({ role: z.literal('user'), content }),
  z.object({ role: z.literal('assistant'), content, tool_calls: z.array(toolCall).nullish() }),
  z.object({ role: z.literal('tool'), content, tool_call_id: z.string().min(1) }),
]);
const functionName = z.string().regex(/^[a-zA-Z0-9_.-]{1,128}$/);
const tool = z.object({
  type: z.literal('function'),
  function: z.object({
    name: functionName,
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
    strict: z.boolean().nullish(),
  }),
});
const toolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.object({ type: z.literal('function'), function: z.object({ name: functionName }) }),
]);
const responseFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.object({
      name: z.string(),
      description: z.string().nullish(),
      schema: z.record(z.string(), z.unknown()),
      strict: z.boolean().nullish(),
    }),
  }),
]);

/** Changes nothing here: identifies, stores or bills elsewhere. */
const harmless = {
  user: z.unknown().optional(),
  metadata: z.unknown().optional(),
  store: z.unknown().optional(),
  service_tier: z.unknown().optional(),
  safety_identifier: z.unknown().optional(),
  prompt_cache_key: z.unknown().optional(),
};
/** Would change what is sampled, and is not done here: only the value that changes nothing is accepted. */
const neutral = {
  frequency_penalty: z.literal(0).nullish(),
  presence_penalty: z.literal(0).nullish(),
  logit_bias: z.strictObject({}).nullish(),
  min_p: z.literal(0).nullish(),
  repetition_penalty: z.literal(1).nullish(),
};
const base = {
  model: z.string().min(1),
  n: z.int().min(1).max(MAX_CHOICES).nullish(),
  stop: z.union([z.string().min(1), z.array(z.string().min(1)).max(16)]).nullish(),
  temperature: z.number().min(0).max(100).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z.int().min(-1).nullish(),
  max_tokens: z.int().min(1).nullish(),
  seed: z.int().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  return_token_ids: z.boolean().nullish(),
  ...harmless,
  ...neutral,
};
const chatSchema = z.strictObject({
  ...base,
  messages: z.array(message).min(1),
  tools: z.array(tool).max(128).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: responseFormat.nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.literal(0).nullish(),
  modalities: z.array(z.literal('text')).nullish(),
});
const textSchema = z.strictObject({
  ...base,
  prompt: z.union([z.string(), z.array(z.int().min(0)).min(1)]),
  logprobs: z.int().min(0).max(1).nullish(),
  echo: z.literal(false).nullish(),
  suffix: z.literal('').nullish(),
  best_of: z.literal(1).nullish(),
});

/** @throws ApiError 400 that names the parameter */
export function readChatCall(body: unknown): ChatCall {
  const given = parse(chatSchema, body);
  const tools = (given.tools ?? []).map(({ function: { name, description, parameters } }) => ({
    name,
    description: description ?? '',
    parameters: (parameters ?? { type: 'object', properties: {} }) as JsonObject,
  }));
  return {
    kind: 'chat',
    ...common(given),
    maxTokens: given.max_completion_tokens ?? given.max_tokens ?? undefined,
    logprobs: given.logprobs ?? false,
    messages: given.messages.map(toMessage),
    tools,
    toolChoice: readToolChoice(given.tool_choice ?? undefined, tools),
    parallelToolCalls: given.parallel_tool_calls ?? true,
    responseFormat:
      given.response_format?.type === 'json_schema'
        ? { type: 'json_schema', schema: given.response_format.json_schema.schema as JsonObject }
        : (given.response_format ?? { type: 'text' }),
  };
}

/** @throws ApiError 400 that names the parameter */
export function readTextCall(body: unknown): TextCall {
  const given = parse(textSchema, body);
  return {
    kind: 'text',
    ...common(given),
    // The API's own default.
    maxTokens: given.max_tokens ?? 16,
    logprobs: given.logprobs !== null && given.logprobs !== undefined,
    prompt: given.prompt,
  };
}

/** As it was asked for, with the API's defaults. */
export function requestedSampling({ temperature, topP, topK, maxTokens }: CallRequest): Sampling {
  return {
    temperature: temperature ?? 1,
    topP: topP ?? 1,
    topK: topK ?? 0,
    maxTokens: maxTokens ?? Number.POSITIVE_INFINITY,
  };
}

function common(
  given: Omit<z.output<typeof chatSchema>, 'messages' | 'logprobs'> | z.output<typeof textSchema>,
) {
  const topK = given.top_k ?? undefined;
  return {
    model: given.model,
    choices: given.n ?? 1,
    stop: given.stop === null || given.stop === undefined ? [] : [given.stop].flat(),
    temperature: given.temperature ?? undefined,
    topP: given.top_p ?? undefined,
    topK: topK === -1 ? 0 : topK,
    seed: given.seed ?? undefined,
    stream: given.stream ?? false,
    streamUsage: given.stream_options?.include_usage ?? false,
    returnTokenIds: given.return_token_ids ?? false,
  };
}

function readToolChoice(
  choice: z.output<typeof toolChoice> | undefined,
  tools: readonly ToolDeclaration[],
): ToolChoice {
  if (choice === undefined) return 'auto';
  if (choice === 'auto' || choice === 'none') return choice;
  if (tools.length === 0) {
    throw badRequest('invalid_tool_choice', 'A tool is to be called, but "tools" is empty.', 'tool_choice');
  }
  if (choice === 'required') return choice;
  const { name } = choice.function;
  if (!tools.some((known) => known.name === name)) {
    throw badRequest(
      'invalid_tool_choice',
      `There is no tool "${name}" among: ${tools.map((known) => known.name).join(', ')}.`,
      'tool_choice',
    );
  }
  return { name };
}

function toMessage(given: z.output<typeof message>, index: number): Message {
  const text =
    typeof given.content === 'string'
      ? given.content
      : (given.content ?? []).map((part) => part.text).join('');
  if (given.role === 'tool') return { role: 'tool', content: text, toolCallId: given.tool_call_id };
  if (given.role !== 'assistant') return { role: given.role === 'user' ? 'user' : 'system', content: text };
  const toolCalls = (given.tool_calls ?? []).map(({ id, function: { name, arguments: text } }) => ({
    id,
    name,
    arguments: readArguments(text, `messages[${index}].tool_calls`),
  }));
  return { role: 'assistant', content: text, ...(toolCalls.length > 0 && { toolCalls }) };
}

function readArguments(text: string, param: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch {
    // Told below.
  }
  throw badRequest(
    'invalid_arguments',
    'The arguments of a tool call must be a JSON object, as text.',
    param,
  );
}

function parse<Schema extends z.ZodObject>(schema: Schema, body: unknown): z.output<Schema> {
  const checked = schema.safeParse(body);
  if (checked.success) return checked.data;
  throw describe(checked.error.issues[0]!, Object.keys(schema.shape));
}

function describe(issue: z.core.$ZodIssue, known: readonly string[]): ApiError {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!;
    const near = path === '' ? nearest(key, known) : undefined;
    return badRequest(
      'unknown_parameter',
      `There is no parameter "${key}".${near === undefined ? '' : ` Did you mean "${near}"?`}`,
      path === '' ? key : `${path}.${key}`,
    );
  }
  if (path === '') return badRequest('invalid_body', 'The body must be a JSON object.');
  const unsupported = path in neutral || ['top_logprobs', 'echo', 'suffix', 'best_of'].includes(path);
  return unsupported
    ? badRequest(
        'unsupported_parameter',
        `"${path}" would change what is sampled, which this server does not do.`,
        path,
      )
    : badRequest('invalid_value', `${path}: ${issue.message}.`, path);
}
