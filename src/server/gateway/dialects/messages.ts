/** Anthropic's `/messages`, and its threads: a conversation that the server remembers, by its latest answer. */

import { z } from 'zod';
import type { JsonObject } from '../../../core/json/json.ts';
import { type ApiErrorParts, badRequest } from '../api-error.ts';
import type { AnsweredChoice } from '../call-recorder.ts';
import { type ChatCall, type ToolChoice, UNSAMPLED } from '../call-request.ts';
import type { Coming } from './coming.ts';
import {
  type Answer,
  type CountedPrompt,
  type Dialect,
  type Exchange,
  type Reading,
  type StreamEvent,
  toldOf,
} from './dialect.ts';
import { readBlocks, textOf, textOrBlocks } from './messages-blocks.ts';
import { claimThread, threadOf, threadSchema } from './messages-threads.ts';
import {
  checkChoice,
  declared,
  functionName,
  jsonSchema,
  type ParameterRules,
  readParameters,
  sampling,
  strictIn,
  unsupported,
} from './parameters.ts';
import { pieces } from './pieces.ts';
import { Transcript } from './transcript.ts';

const serial = { disable_parallel_tool_use: z.boolean().nullish() };
const toolChoice = z.discriminatedUnion('type', [
  z.object({ type: z.literal('auto'), ...serial }),
  z.object({ type: z.literal('any'), ...serial }),
  z.object({ type: z.literal('none'), ...serial }),
  z.object({ type: z.literal('tool'), name: functionName, ...serial }),
]);
const tool = z.object({
  type: z.string().nullish(),
  name: functionName,
  description: z.string().nullish(),
  input_schema: jsonSchema.optional(),
  strict: z.boolean().nullish(),
});
const format = z.object({ type: z.literal('json_schema'), schema: jsonSchema });

const asked = {
  model: sampling.model,
  messages: z.array(z.object({ role: z.enum(['user', 'assistant', 'system']), content: textOrBlocks })),
  system: textOrBlocks.nullish(),
  tools: z.array(tool).max(128).nullish(),
  tool_choice: toolChoice.nullish(),
  output_config: z.object({ format: format.nullish(), effort: z.unknown().optional() }).nullish(),
  output_format: format.nullish(),
  thread: threadSchema.nullish(),
};
const schema = z.object({
  ...sampling,
  ...asked,
  max_tokens: z.int().min(1),
  stop_sequences: z.array(z.string().min(1)).max(16).nullish(),
});
const rules: ParameterRules<typeof schema> = {
  schema,
  harmless: ['metadata', 'service_tier', 'betas', 'cache_control', 'inference_geo'],
  noted: ['thinking'],
  neutral: {},
  absent: {
    container: 'there is none to run code in; declare a tool',
    mcp_servers: 'this server calls no others; connect the agent to them and declare their tools',
    context_management: 'it would edit the history; send the messages that are to be kept',
  },
};
const countSchema = z.object(asked);
const countRules: ParameterRules<typeof countSchema> = {
  ...rules,
  schema: countSchema,
  harmless: [...rules.harmless, ...Object.keys(schema.shape)],
};

export const messages: Dialect = {
  read,
  error: errorOf,
  errorEvent: (error) => ({ event: 'error', data: errorOf(error) }),
};

function read(body: unknown, reading: Reading): Exchange {
  const given = readParameters(body, rules, reading);
  if (given.output_config?.effort) reading.ignore('output_config.effort');
  const call: ChatCall = {
    ...readPrompt(given, reading),
    stop: given.stop_sequences ?? [],
    temperature: given.temperature ?? undefined,
    topP: given.top_p ?? undefined,
    topK: given.top_k === -1 ? 0 : (given.top_k ?? undefined),
    maxTokens: given.max_tokens,
  };
  const release = claimThread(given.thread, reading);
  return {
    call,
    stream: given.stream ?? false,
    ...(given.thread && { keeps: 'thread' }),
    ...(release && { settled: release }),
    whole: (answer) => whole(answer, call.model),
    events: (coming) => events(coming, call.model),
  };
}

/** What is asked, without how it is sampled. What goes on with a thread says only what is new. */
function readPrompt(given: z.output<typeof countSchema>, reading: Reading): ChatCall {
  const { tool_choice: choice, thread } = given;
  const continued = thread?.type === 'continue' ? threadOf(thread.previous_message_id, reading) : undefined;
  const before = continued?.exchange.call as ChatCall | undefined;
  const transcript = new Transcript(reading);
  if (given.system) transcript.add({ role: 'system', content: textOf(given.system) });
  if (continued && before) {
    const system = before.messages[0]?.role === 'system' ? 1 : 0;
    transcript.addAll(before, given.system ? system : 0);
    const [choice] = continued.answer.choices;
    transcript.addAnswer(choice!.message, choice!.ref);
  }
  for (const message of given.messages) readBlocks(message, transcript);
  if (transcript.messages.length === 0) {
    throw badRequest('invalid_value', 'There is nothing to answer: "messages" is empty.', 'messages');
  }
  const tools = given.tools ? readTools(given.tools) : (before?.tools ?? []);
  const wanted = given.output_config?.format ?? given.output_format;
  return {
    ...UNSAMPLED,
    model: given.model,
    messages: transcript.messages,
    refs: transcript.refs,
    tools,
    toolChoice: checkChoice(readToolChoice(choice), tools),
    strictTools: given.tools ? strictIn(given.tools) : (before?.strictTools ?? []),
    parallelToolCalls: !choice?.disable_parallel_tool_use,
    callIdPrefix: 'toolu',
    responseFormat: wanted ? { type: 'json_schema', schema: wanted.schema as JsonObject } : { type: 'text' },
  };
}

function readTools(given: readonly z.output<typeof tool>[]): ChatCall['tools'] {
  return given.map(({ type, name, description, input_schema: parameters }, index) => {
    if (type && type !== 'custom') {
      throw unsupported(
        `tools.${index}`,
        `tools of type "${type}" run on the vendor’s servers; declare one of your own`,
      );
    }
    return declared(name, description, parameters);
  });
}

function readToolChoice(choice: z.output<typeof toolChoice> | null | undefined): ToolChoice {
  if (!choice) return 'auto';
  if (choice.type === 'tool') return { name: choice.name };
  return choice.type === 'any' ? 'required' : choice.type;
}

function blocksOf({ message, ref }: AnsweredChoice): Block[] {
  const { content, reasoning, toolCalls = [] } = message;
  return [
    ...(reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning, signature: ref } as const]),
    ...(content === '' ? [] : [{ type: 'text', text: content } as const]),
    ...toolCalls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input }) as const),
  ];
}

type Block =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: JsonObject };

function whole({ choices }: Answer, model: string): object {
  const choice = choices[0]!;
  const { prompt, completion } = choice.answer.tokens;
  return {
    ...headOf(choice.ref, model),
    content: blocksOf(choice),
    ...ending(choice),
    usage: usageOf(prompt, completion),
    turnwise: toldOf(choice),
  };
}

const headOf = (ref: string, model: string): object => ({
  id: `msg_${ref}`,
  type: 'message',
  role: 'assistant',
  model,
});

function ending({ call, answer, message }: AnsweredChoice): object {
  const { stoppedBy } = answer;
  const stop_sequence = message.toolCalls ? null : (stoppedBy ?? null);
  if (call.finish === 'length') return { stop_reason: 'max_tokens', stop_sequence: null };
  if (message.toolCalls) return { stop_reason: 'tool_use', stop_sequence };
  return { stop_reason: stop_sequence === null ? 'end_turn' : 'stop_sequence', stop_sequence };
}

const usageOf = (input: number, output: number): object => ({
  input_tokens: input,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: output,
});

type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

async function* events(coming: Coming, model: string): AsyncGenerator<StreamEvent> {
  for await (const data of eventsOf(coming, model)) yield { event: data.type, data };
}

async function* eventsOf(coming: Coming, model: string): AsyncGenerator<Event> {
  const opening = await coming.opening;
  const { ref } = opening;
  const begun = {
    content: [],
    ...{ stop_reason: null, stop_sequence: null },
    usage: usageOf(opening.promptTokens, 0),
    turnwise: opening.told,
  };
  yield { type: 'message_start', message: { ...headOf(ref, model), ...begun } };
  yield { type: 'ping' };
  let index = 0;
  const block = { type: 'thinking', thinking: '', signature: '' };
  const signed = { type: 'signature_delta', signature: ref };
  const thought = (thinking: string): Event => ({ type: 'thinking_delta', thinking });
  if (yield* blockEvents(index, block, coming.reasoning, thought, signed)) index++;
  const said = (text: string): Event => ({ type: 'text_delta', text });
  if (yield* blockEvents(index, { type: 'text', text: '' }, coming.content, said)) index++;
  const answer = await coming.answer;
  const choice = answer.choices[0]!;
  for (const { id, name, arguments: input } of choice.message.toolCalls ?? []) {
    const json = async function* (): AsyncGenerator<string> {
      yield* ['', ...pieces(JSON.stringify(input))];
    };
    const called = (partial: string): Event => ({ type: 'input_json_delta', partial_json: partial });
    yield* blockEvents(index++, { type: 'tool_use', id, name, input: {} }, json(), called);
  }
  // Some clients add the counts up, some take the last: both are right where these are whole.
  const usage = usageOf(choice.answer.tokens.prompt, choice.answer.tokens.completion);
  yield { type: 'message_delta', delta: ending(choice), usage, turnwise: toldOf(choice) };
  yield { type: 'message_stop' };
}

/** A block, where it has anything in it. Returns whether it has. */
async function* blockEvents(
  index: number,
  begun: object,
  parts: AsyncIterable<string>,
  deltaOf: (part: string) => Event,
  last?: Event,
): AsyncGenerator<Event, boolean> {
  let isOpen = false;
  for await (const part of parts) {
    if (!isOpen) yield { type: 'content_block_start', index, content_block: begun };
    isOpen = true;
    yield { type: 'content_block_delta', index, delta: deltaOf(part) };
  }
  if (!isOpen) return false;
  if (last) yield { type: 'content_block_delta', index, delta: last };
  yield { type: 'content_block_stop', index };
  return true;
}

const errorTypes: Partial<Record<ApiErrorParts['status'], string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

function errorOf({ status, message, code, details }: ApiErrorParts): object {
  const type = errorTypes[status] ?? 'invalid_request_error';
  return {
    type: 'error',
    error: { type, message, details: details ?? { error_code: code } },
    request_id: null,
  };
}

/** `/messages/count_tokens`: the call whose prompt is counted, and what its client is told. */
export function readCountedTokens(body: unknown, reading: Reading): CountedPrompt {
  const call = readPrompt(readParameters(body, countRules, reading), reading);
  return { call, told: (tokens) => ({ input_tokens: tokens }) };
}
