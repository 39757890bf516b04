/** Answers in OpenAI's shapes: whole, or as the chunks of a stream. Both are made from the same finished record. */

import type { CallRequest } from './call-request.ts';
import type { AnsweredChoice } from './session.ts';

export interface ResponseContext {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly call: CallRequest;
}

/** The body of an answer that is not streamed. */
export function wholeResponse(choices: readonly AnsweredChoice[], context: ResponseContext): object {
  const { call } = context;
  return {
    ...head(choices, context, call.kind === 'chat' ? 'chat.completion' : 'text_completion'),
    ...(call.returnTokenIds &&
      call.kind === 'chat' && {
        prompt_token_ids: [...choices[0]!.answer.promptIds],
      }),
    choices: choices.map((choice, index) => ({
      index,
      ...(call.kind === 'chat' ? { message: wireMessage(choice) } : { text: choice.message.content }),
      logprobs: call.logprobs ? logprobsOf(choice, call.kind) : null,
      finish_reason: finishReason(choice),
      ...(call.returnTokenIds && { token_ids: [...choice.call.ids] }),
      ...(call.returnTokenIds && call.kind === 'text' && { prompt_token_ids: [...choice.answer.promptIds] }),
    })),
    usage: usageOf(choices),
  };
}

/** The chunks of a streamed answer, in order, the last of them the usage where it was asked for. */
export function* streamedResponse(
  choices: readonly AnsweredChoice[],
  context: ResponseContext,
): Generator<object> {
  const { call } = context;
  const chat = call.kind === 'chat';
  const frame = head(choices, context, chat ? 'chat.completion.chunk' : 'text_completion');
  const usage = call.streamUsage ? { usage: null } : {};
  for (const [index, choice] of choices.entries()) {
    const chunk = (part: object, finish: string | null = null, more: object = {}): object => ({
      ...frame,
      ...usage,
      ...more,
      choices: [{ index, ...(chat ? { delta: part } : part), logprobs: null, finish_reason: finish }],
    });
    const ids = call.returnTokenIds ? { prompt_token_ids: [...choice.answer.promptIds] } : {};
    if (chat) yield chunk({ role: 'assistant', content: '' }, null, ids);
    for (const piece of pieces(choice.message.reasoning ?? '')) yield chunk({ reasoning_content: piece });
    for (const piece of pieces(choice.message.content))
      yield chunk(chat ? { content: piece } : { text: piece });
    for (const [position, made] of (choice.message.toolCalls ?? []).entries()) {
      const { id, name } = made;
      yield chunk({
        tool_calls: [{ index: position, id, type: 'function', function: { name, arguments: '' } }],
      });
      for (const piece of pieces(JSON.stringify(made.arguments))) {
        yield chunk({ tool_calls: [{ index: position, function: { arguments: piece } }] });
      }
    }
    const last = {
      ...frame,
      ...usage,
      choices: [
        {
          index,
          ...(chat ? { delta: {} } : { text: '' }),
          logprobs: call.logprobs ? logprobsOf(choice, call.kind) : null,
          finish_reason: finishReason(choice),
          ...(call.returnTokenIds && { token_ids: [...choice.call.ids] }),
        },
      ],
    };
    yield last;
  }
  if (call.streamUsage) yield { ...frame, choices: [], usage: usageOf(choices) };
}

function head(
  choices: readonly AnsweredChoice[],
  { id, created, call }: ResponseContext,
  object: string,
): object {
  const { by, problem, trainable, newPath } = choices[0]!.call;
  return {
    id,
    object,
    created,
    model: call.model,
    system_fingerprint: `version-${by.version}`,
    turnwise: {
      policy_version: by.version,
      valid: problem === undefined,
      ...(newPath !== undefined && { new_path: newPath }),
      ...(trainable !== true && { untrainable: trainable }),
    },
  };
}

function wireMessage({ message }: AnsweredChoice): object {
  const { content, reasoning, toolCalls = [] } = message;
  return {
    role: 'assistant',
    content: content === '' && toolCalls.length > 0 ? null : content,
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

function finishReason({ call, message }: AnsweredChoice): string {
  if (call.finish === 'length') return 'length';
  return message.toolCalls ? 'tool_calls' : 'stop';
}

function usageOf(choices: readonly AnsweredChoice[]): object {
  const prompt = choices[0]!.answer.tokens.prompt;
  const completion = choices.reduce((sum, { answer }) => sum + answer.tokens.completion, 0);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function logprobsOf({ answer: { told = [] } }: AnsweredChoice, kind: CallRequest['kind']): object {
  if (kind === 'text') {
    return {
      tokens: told.map(({ token }) => token),
      token_logprobs: told.map(({ logprob }) => logprob),
      top_logprobs: null,
      text_offset: null,
    };
  }
  const content = told.map(({ token, logprob }) => ({
    token,
    logprob,
    bytes: [...Buffer.from(token)],
    top_logprobs: [],
  }));
  return { content, refusal: null };
}

/** Words with the space before them, as models stream them. */
const pieces = (text: string): string[] => text.match(/\s*\S+|\s+$/g) ?? [];
