/** OpenAI's `/chat/completions`. */

import { z } from 'zod';
import type { JsonObject } from '../../../core/json/json.ts';
import { openaiError } from '../api-error.ts';
import type { AnsweredChoice } from '../call-recorder.ts';
import type { ChatCall, ToolChoice } from '../call-request.ts';
import { type Coming, openingOf } from './coming.ts';
import { completionHead, completionsBase, finishReason, harmless, readBase, usageOf } from './completions.ts';
import {
  type Answer,
  type Dialect,
  type Exchange,
  FIRST_READING,
  type Reading,
  type StreamEvent,
} from './dialect.ts';
import {
  checkChoice,
  declared,
  functionName,
  jsonSchema,
  type ParameterRules,
  penalties,
  readParameters,
  strictIn,
  topLogprobs,
} from './parameters.ts';
import { pieces } from './pieces.ts';
import { tokenLogprobs } from './token-logprobs.ts';
import { Transcript } from './transcript.ts';

const textPart = z.object({ type: z.literal('text'), text: z.string() });
const refusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() });
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
  z.object({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(z.union([textPart, refusalPart]))]).nullish(),
    reasoning_content: z.string().nullish(),
    tool_calls: z.array(toolCall).nullish(),
  }),
  z.object({ role: z.literal('tool'), content, tool_call_id: z.string().min(1) }),
]);
const tool = z.object({
  type: z.literal('function'),
  function: z.object({
    name: functionName,
    description: z.string().nullish(),
    parameters: jsonSchema.nullish(),
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
      schema: jsonSchema,
      strict: z.boolean().nullish(),
    }),
  }),
]);

const schema = z.object({
  ...completionsBase,
  messages: z.array(message).min(1),
  tools: z.array(tool).max(128).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: responseFormat.nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: topLogprobs,
  modalities: z.array(z.literal('text')).nullish(),
  chat_template_kwargs: z.strictObject({ enable_thinking: z.boolean().optional() }).nullish(),
});
const rules: ParameterRules<typeof schema> = {
  schema,
  harmless,
  noted: ['reasoning_effort', 'verbosity'],
  neutral: penalties,
  absent: {
    audio: 'this server reads and writes text',
    functions: 'it was replaced by "tools"',
    function_call: 'it was replaced by "tool_choice"',
    web_search_options: 'this server has no tools; declare one in "tools"',
  },
};
type Given = z.output<typeof schema>;

export const chatCompletions: Dialect = {
  read,
  error: openaiError,
  errorEvent: (error) => ({ data: openaiError(error) }),
};

/** The inner form of a body that stands alone. @throws ApiError 400 */
export const readChatCall = (body: unknown): ChatCall => read(body, FIRST_READING).call as ChatCall;

function read(body: unknown, reading: Reading): Exchange {
  const given = readParameters(body, rules, reading);
  const tools = (given.tools ?? []).map(({ function: { name, description, parameters } }) =>
    declared(name, description, parameters),
  );
  const { messages, refs } = transcriptOf(given.messages, reading);
  const { chat_template_kwargs: kwargs } = given;
  const call: ChatCall = {
    kind: 'chat',
    ...readBase(given),
    maxTokens: given.max_completion_tokens ?? given.max_tokens ?? undefined,
    logprobs: given.logprobs ?? false,
    topLogprobs: given.top_logprobs ?? 0,
    messages,
    refs,
    tools,
    toolChoice: checkChoice(readToolChoice(given.tool_choice), tools),
    strictTools: strictIn((given.tools ?? []).map(({ function: declaration }) => declaration)),
    parallelToolCalls: given.parallel_tool_calls ?? true,
    callIdPrefix: 'call',
    ...(kwargs && {
      templateVariables: {
        ...(kwargs.enable_thinking !== undefined && { enable_thinking: kwargs.enable_thinking }),
      },
    }),
    responseFormat:
      given.response_format?.type === 'json_schema'
        ? { type: 'json_schema', schema: given.response_format.json_schema.schema as JsonObject }
        : (given.response_format ?? { type: 'text' }),
  };
  return {
    call,
    stream: given.stream ?? false,
    whole: (answer) => whole(answer, call, given),
    events: (coming) => events(coming, call, given),
  };
}

function readToolChoice(choice: Given['tool_choice']): ToolChoice {
  if (choice === null || choice === undefined) return 'auto';
  return typeof choice === 'string' ? choice : { name: choice.function.name };
}

function transcriptOf(given: Given['messages'], reading: Reading): Transcript {
  const transcript = new Transcript(reading);
  for (const one of given) {
    if (one.role === 'assistant') {
      transcript.say({
        content: textOf(one.content),
        reasoning: one.reasoning_content ?? '',
        calls: (one.tool_calls ?? []).map(({ id, function: made }) => ({ id, ...made })),
      });
    } else if (one.role === 'tool') {
      transcript.add({ role: 'tool', content: textOf(one.content), toolCallId: one.tool_call_id });
    } else {
      transcript.add({ role: one.role === 'user' ? 'user' : 'system', content: textOf(one.content) });
    }
  }
  return transcript;
}

function textOf(
  given: z.output<typeof content> | { type: string; text?: string; refusal?: string }[],
): string {
  if (typeof given === 'string') return given;
  const parts: readonly { readonly text?: string; readonly refusal?: string }[] = given ?? [];
  return parts.map(({ text, refusal }) => text ?? refusal ?? '').join('');
}

function whole(answer: Answer, call: ChatCall, { return_token_ids: tellIds }: Given): object {
  const { choices } = answer;
  return {
    ...completionHead(openingOf(answer), call.model, 'chatcmpl', 'chat.completion'),
    ...(tellIds && { prompt_token_ids: [...choices[0]!.answer.promptIds] }),
    choices: choices.map((choice, index) => ({
      index,
      message: wireMessage(choice),
      logprobs: call.logprobs ? logprobsOf(choice) : null,
      finish_reason: finishReason(choice),
      ...(tellIds && { token_ids: [...choice.call.ids] }),
    })),
    usage: usageOf(choices),
  };
}

/** The chunks, the last of them the usage where it was asked for. */
async function* events(coming: Coming, call: ChatCall, given: Given): AsyncGenerator<StreamEvent> {
  const { return_token_ids: tellIds, stream_options: options } = given;
  const opening = await coming.opening;
  let frame = completionHead(opening, call.model, 'chatcmpl', 'chat.completion.chunk');
  const usage = options?.include_usage ? { usage: null } : {};
  const chunk = (index: number, delta: object, more: object = {}): StreamEvent => ({
    data: { ...frame, ...usage, ...more, choices: [{ index, delta, logprobs: null, finish_reason: null }] },
  });
  const begun = (index: number, promptIds: Int32Array): StreamEvent =>
    chunk(index, { role: 'assistant', content: '' }, tellIds ? { prompt_token_ids: [...promptIds] } : {});
  yield begun(0, opening.promptIds);
  for await (const piece of coming.reasoning) yield chunk(0, { reasoning_content: piece });
  for await (const piece of coming.content) yield chunk(0, { content: piece });
  const answer = await coming.answer;
  frame = completionHead(openingOf(answer), call.model, 'chatcmpl', 'chat.completion.chunk');
  for (const [index, choice] of answer.choices.entries()) {
    const { reasoning = '', content: words, toolCalls = [] } = choice.message;
    if (index > 0) {
      yield begun(index, choice.answer.promptIds);
      for (const piece of pieces(reasoning)) yield chunk(index, { reasoning_content: piece });
      for (const piece of pieces(words)) yield chunk(index, { content: piece });
    }
    for (const [position, { id, name, arguments: made }] of toolCalls.entries()) {
      const named = { index: position, id, type: 'function', function: { name, arguments: '' } };
      yield chunk(index, { tool_calls: [named] });
      for (const piece of pieces(JSON.stringify(made))) {
        yield chunk(index, { tool_calls: [{ index: position, function: { arguments: piece } }] });
      }
    }
    const last = {
      index,
      delta: {},
      logprobs: call.logprobs ? logprobsOf(choice) : null,
      finish_reason: finishReason(choice),
      ...(tellIds && { token_ids: [...choice.call.ids] }),
    };
    yield { data: { ...frame, ...usage, choices: [last] } };
  }
  if (options?.include_usage) yield { data: { ...frame, choices: [], usage: usageOf(answer.choices) } };
  yield { data: '[DONE]' };
}

function wireMessage({ message: { content: words, reasoning, toolCalls = [] } }: AnsweredChoice): object {
  return {
    role: 'assistant',
    content: words === '' && toolCalls.length > 0 ? null : words,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    refusal: null,
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, name, arguments: given }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(given) },
      })),
    }),
  };
}

const logprobsOf = ({ answer }: AnsweredChoice): object => ({
  content: tokenLogprobs(answer.told ?? []),
  refusal: null,
});
