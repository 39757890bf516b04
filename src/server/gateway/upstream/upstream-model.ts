/**
 * A server elsewhere that speaks OpenAI's API: a black box to evaluate or collect from, or one that tells its token ids
 * (`return_token_ids`, as vLLM has it since 0.10.2), whose completions can then be trained on.
 */

import { z } from 'zod';
import { TurnwiseError } from '../../../core/errors.ts';
import type { JsonObject } from '../../../core/json/json.ts';
import { jsonProblem } from '../../../core/json/json-limits.ts';
import type { Message } from '../../../core/messages.ts';
import { writeReply } from '../../../core/word-reply.ts';
import type { Reply } from '../../../model/chat/conversation.ts';
import { type CallRequest, requestedSampling } from '../call-request.ts';
import type { ChatModel, ModelAnswer, ModelRequest, ToldToken } from '../chat-model.ts';
import { CUT_CALL } from '../policy-model.ts';
import { type PostOptions, post, upstreamFailed } from './upstream-post.ts';

export interface UpstreamOptions extends Omit<PostOptions, 'signal'> {
  /** The name that clients of the gateway ask for. */
  readonly name: string;
  /** Base URL, to which `/chat/completions` is appended. */
  readonly url: string;
  /** The name that the server knows. */
  readonly model: string;
  /** Ask for token ids. Servers that do not know the parameter may refuse it. */
  readonly tokenIds: boolean;
}

const numbers = z.array(z.number());
const wireToken = { token: z.string(), logprob: z.number() };
const wireAnswer = z.object({
  choices: z
    .array(
      z.object({
        message: z
          .object({
            content: z.string().nullish(),
            reasoning_content: z.string().nullish(),
            tool_calls: z
              .array(z.object({ function: z.object({ name: z.string(), arguments: z.string() }) }))
              .nullish(),
          })
          .optional(),
        text: z.string().optional(),
        finish_reason: z.string().nullish(),
        logprobs: z
          .object({
            content: z
              .array(z.object({ ...wireToken, top_logprobs: z.array(z.object(wireToken)).nullish() }))
              .nullish(),
            token_logprobs: numbers.nullish(),
            tokens: z.array(z.string()).nullish(),
          })
          .nullish(),
        token_ids: numbers.nullish(),
        prompt_token_ids: numbers.nullish(),
      }),
    )
    .min(1),
  prompt_token_ids: numbers.nullish(),
  usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number() }).nullish(),
});

export function upstreamModel(options: UpstreamOptions): ChatModel {
  return {
    name: options.name,
    version: 0,
    author: { kind: 'model', name: `${options.model}@${hostOf(options.url)}` },
    answer: async (request) => {
      const path = request.call.kind === 'chat' ? '/chat/completions' : '/completions';
      const body = await post(
        `${options.url.replace(/\/+$/, '')}${path}`,
        requestBody(request.call, options),
        {
          ...options,
          signal: request.signal,
        },
      );
      return readAnswer(body, request, options);
    },
  };
}

function requestBody(call: CallRequest, { model, tokenIds }: UpstreamOptions): object {
  const logprobs = tokenIds || call.logprobs;
  return {
    model,
    ...(call.kind === 'chat'
      ? {
          messages: call.messages.map(wireMessage),
          ...(call.tools.length > 0 && {
            tools: call.tools.map((declared) => ({
              type: 'function',
              function: { ...declared, ...(call.strictTools.includes(declared.name) && { strict: true }) },
            })),
            tool_choice:
              typeof call.toolChoice === 'string'
                ? call.toolChoice
                : { type: 'function', function: { name: call.toolChoice.name } },
            ...(call.parallelToolCalls ? {} : { parallel_tool_calls: false }),
          }),
          ...(call.responseFormat.type === 'text'
            ? {}
            : { response_format: wireFormat(call.responseFormat) }),
          ...(call.templateVariables && { chat_template_kwargs: call.templateVariables }),
          ...(logprobs && { logprobs: true }),
          ...(call.topLogprobs > 0 && { top_logprobs: call.topLogprobs }),
        }
      : { prompt: call.prompt, ...(logprobs && { logprobs: 1 }) }),
    ...(call.stop.length > 0 && { stop: call.stop }),
    ...(call.temperature !== undefined && { temperature: call.temperature }),
    ...(call.topP !== undefined && { top_p: call.topP }),
    ...(call.topK !== undefined && call.topK > 0 && { top_k: call.topK }),
    ...(call.maxTokens !== undefined && { max_tokens: call.maxTokens }),
    ...(call.seed !== undefined && { seed: call.seed }),
    ...(tokenIds && { return_token_ids: true }),
  };
}

function wireMessage({ role, content, toolCalls, toolCallId }: Message): object {
  return {
    role,
    content,
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    ...(toolCalls && {
      tool_calls: toolCalls.map(({ id, name, arguments: given }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(given) },
      })),
    }),
  };
}

function wireFormat(format: Extract<CallRequest, { kind: 'chat' }>['responseFormat']): object {
  return format.type === 'json_schema'
    ? { type: 'json_schema', json_schema: { name: 'answer', schema: format.schema } }
    : format;
}

function readAnswer(body: unknown, { call }: ModelRequest, options: UpstreamOptions): ModelAnswer {
  const { url, tokenIds } = options;
  const checked = wireAnswer.safeParse(body);
  if (!checked.success) {
    const { path, message } = checked.error.issues[0]!;
    throw upstreamFailed(options, url, `an answer of another shape: ${path.join('.')}: ${message}`);
  }
  const { choices, usage, prompt_token_ids: sharedPrompt } = checked.data;
  const choice = choices[0]!;
  const finish = choice.finish_reason === 'length' ? 'length' : 'stop';
  const reply =
    call.kind === 'chat'
      ? uncut(replyOf(choice.message), finish)
      : { content: choice.text ?? '', toolCalls: [] };
  const promptIds = sharedPrompt ?? choice.prompt_token_ids ?? [];
  const ids = choice.token_ids ?? [];
  const content = choice.logprobs?.content ?? [];
  const logprobs = choice.logprobs?.token_logprobs ?? content.map(({ logprob }) => logprob);
  const complete = tokenIds && promptIds.length > 0 && ids.length > 0 && logprobs.length === ids.length;
  return {
    reply,
    text: writeReply(reply),
    finish,
    // Half of it would be worse than nothing: rows must have one log-probability for each id.
    promptIds: Int32Array.from(complete ? promptIds : []),
    ids: Int32Array.from(complete ? ids : []),
    logprobs: Float32Array.from(complete ? logprobs : []),
    tokens: {
      prompt: usage?.prompt_tokens ?? promptIds.length,
      completion: usage?.completion_tokens ?? ids.length,
    },
    ...(call.logprobs && {
      told: logprobs.map((logprob, index): ToldToken => {
        const top = call.topLogprobs > 0 ? content[index]?.top_logprobs : undefined;
        return {
          token: content[index]?.token ?? choice.logprobs?.tokens?.[index] ?? '',
          logprob,
          ...(top && { top }),
        };
      }),
    }),
    sampling: requestedSampling(call),
    ...(complete ? {} : { untrainable: 'no-token-ids' as const }),
  };
}

function replyOf(message: z.output<typeof wireAnswer>['choices'][number]['message']): Reply {
  const content = message?.content ?? '';
  const reasoning = message?.reasoning_content ? { reasoning: message.reasoning_content } : {};
  const toolCalls = [];
  for (const { function: made } of message?.tool_calls ?? []) {
    try {
      if (jsonProblem(made.arguments) !== undefined) throw new SyntaxError('nested too deep');
      toolCalls.push({ name: made.name, arguments: JSON.parse(made.arguments || '{}') as JsonObject });
    } catch {
      return {
        content: `${content} ${made.name}(${made.arguments})`.trim(),
        ...reasoning,
        toolCalls: [],
        problem: `the arguments of ${made.name} are not JSON`,
      };
    }
  }
  return { content, ...reasoning, toolCalls };
}

/** A call that was cut never leaves as one. */
function uncut(reply: Reply, finish: ModelAnswer['finish']): Reply {
  if (finish === 'stop' || reply.toolCalls.length === 0) return reply;
  const { reasoning } = reply;
  return {
    content: writeReply(reply),
    ...(reasoning !== undefined && { reasoning }),
    toolCalls: [],
    problem: CUT_CALL,
  };
}

/** Without what an address may carry before an @. */
const hostOf = (url: string): string => new URL(url).host;
/**
 * `openai:URL` is a black box, `vllm:URL` a server that tells token ids; `#NAME` after the URL is the model's name there.
 *
 * @param key from the environment, never from the command line
 * @throws TurnwiseError `policy-unknown`
 */
export function parseUpstream(text: string, name: string, key: string | undefined): UpstreamOptions {
  const [, kind, address, model] = /^(openai|vllm):(https?:\/\/[^#\s]+)(?:#(.+))?$/.exec(text) ?? [];
  if (kind === undefined || address === undefined || !URL.canParse(address)) {
    throw new TurnwiseError('policy-unknown', {
      what: 'This does not name a server',
      seen: text,
      allowed: 'openai:URL or vllm:URL, with #MODEL at the end where the server has several',
      next: 'For example: openai:http://localhost:8000/v1#qwen3-8b',
    });
  }
  return { name, url: address, model: model ?? 'default', apiKey: key, tokenIds: kind === 'vllm' };
}
