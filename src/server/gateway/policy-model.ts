/** The policy behind a chat API: rendered by extension, sampled by the engine, parsed back, never encoded twice. */

import type { Sampling } from '../../core/episode.ts';
import type { ConversationRenderer, ForcedCall } from '../../model/conversation.ts';
import { continued, type Prompt } from '../../model/renderer.ts';
import type { PromptPolicy } from '../../policy/policy.ts';
import { ApiError, badRequest } from './api-error.ts';
import { type CallRequest, requestedSampling } from './call-request.ts';
import type { ChatModel, ModelAnswer, ModelRequest } from './chat-model.ts';

/** The name under which clients ask for the policy. */
export const POLICY_NAME = 'policy';

/** The player behind it, as records name it. */
export const LEARNER = 'learner';

export interface PolicyModelOptions {
  readonly policy: PromptPolicy;
  readonly renderer: ConversationRenderer;
  /** Longest prompt + completion in tokens. */
  readonly contextLength: number;
  /**
   * Set where a run decides how its policy explores: what requests say of temperature, top_p, top_k and seed is then
   * left aside. A fixed temperature or seed in the agent's code would otherwise make all episodes of a group the same.
   */
  readonly sampling?: Omit<Sampling, 'maxTokens'>;
}

export function policyModel(options: PolicyModelOptions): ChatModel {
  const { policy, renderer } = options;
  return {
    name: POLICY_NAME,
    author: { kind: 'policy', name: LEARNER },
    get version() {
      return policy.author.version;
    },
    answer: (request) => answer(request, options),
    release: (conversations) => {
      for (const conversation of conversations) policy.release?.(conversation);
    },
  };

  async function answer(request: ModelRequest, { contextLength }: PolicyModelOptions): Promise<ModelAnswer> {
    const { call, conversation, history, fresh } = request;
    const forced = forcedIds(call, renderer);
    const prompt = promptOf(request, renderer);
    const promptIds = forced.length === 0 ? prompt.promptIds : [...prompt.promptIds, ...forced];
    const room = contextLength - promptIds.length;
    if (promptIds.length === 0) throw badRequest('empty_prompt', 'The prompt has no tokens.', 'prompt');
    if (room < 1) throw overflow(promptIds.length, contextLength);
    const sampling = {
      ...(options.sampling ?? requestedSampling(call)),
      maxTokens: Math.min(call.maxTokens ?? room, renderer.maxTurnTokens, room),
    };
    const seeded = options.sampling === undefined && call.seed !== undefined;
    const completion = await policy.complete({
      conversation,
      seedKey: seeded ? `request/${call.seed}/${request.contentKey}` : request.seedKey,
      messages: call.kind === 'chat' ? call.messages : [],
      promptIds,
      sampling,
      signal: request.signal,
    });
    const sampled = Array.from(completion.ids);
    const cut = cutAtStop(sampled, call.stop, renderer);
    const ids = sampled.slice(0, cut?.tokens);
    const logprobs = Float32Array.from(completion.logprobs).slice(0, ids.length);
    const text = cut?.text ?? renderer.text(ids);
    const whole = `${forcedText(forced, sampled, renderer)}${text}`;
    return {
      reply:
        call.kind === 'chat'
          ? renderer.read(whole, call.toolChoice === 'none' ? [] : call.tools)
          : { content: whole, toolCalls: [] },
      text,
      finish: cut || completion.finish === 'none' ? 'stop' : completion.finish,
      promptIds: Int32Array.from(promptIds),
      ids: Int32Array.from(ids),
      logprobs,
      history: continued({ ...prompt, promptIds }, [...history.messages, ...fresh], { ids, text: whole }),
      tokens: { prompt: promptIds.length, completion: ids.length },
      ...(call.logprobs && {
        told: ids.map((id, index) => ({ token: renderer.text([id]), logprob: logprobs[index]! })),
      }),
      sampling,
    };
  }
}

function promptOf({ call, history, fresh, freshText }: ModelRequest, renderer: ConversationRenderer): Prompt {
  if (call.kind === 'chat') return renderer.next(history, fresh, call.tools);
  const contextIds =
    typeof call.prompt === 'string' ? renderer.textIds(freshText) : call.prompt.slice(history.ids.length);
  const extendsPrevious = history.ids.length > 0;
  return { promptIds: [...history.ids, ...contextIds], contextIds, extendsPrevious };
}

function forcedIds(call: CallRequest, renderer: ConversationRenderer): readonly number[] {
  if (call.kind === 'text' || call.toolChoice === 'auto' || call.toolChoice === 'none') return [];
  const forced: ForcedCall = call.toolChoice === 'required' ? {} : call.toolChoice;
  if (renderer.forcedIds) return renderer.forcedIds(forced);
  throw badRequest(
    'unsupported_parameter',
    'This model cannot be made to call a tool; use "auto" or "none".',
    'tool_choice',
  );
}

/** A forced beginning is context to the policy, and part of what the client reads; with whatever joins it to `ids`. */
function forcedText(
  forced: readonly number[],
  ids: readonly number[],
  renderer: ConversationRenderer,
): string {
  if (forced.length === 0) return '';
  const whole = renderer.text([...forced, ...ids]);
  return whole.slice(0, whole.length - renderer.text(ids).length);
}

/**
 * Where the first stop string is complete. Cutting there is the same as having stopped there: tokens are sampled from
 * left to right, so those before do not depend on those after.
 */
function cutAtStop(
  ids: readonly number[],
  stops: readonly string[],
  renderer: ConversationRenderer,
): { readonly tokens: number; readonly text: string } | undefined {
  if (stops.length === 0) return undefined;
  const contains = (text: string): boolean => stops.some((stop) => text.includes(stop));
  if (!contains(renderer.text(ids))) return undefined;
  for (let tokens = 1; tokens <= ids.length; tokens++) {
    const text = renderer.text(ids.slice(0, tokens));
    if (!contains(text)) continue;
    const ends = stops.map((stop) => text.indexOf(stop)).filter((index) => index >= 0);
    return { tokens, text: text.slice(0, Math.min(...ends)).trimEnd() };
  }
  return undefined;
}

export const OVERFLOW_CODE = 'context_length_exceeded';

function overflow(tokens: number, contextLength: number): ApiError {
  return new ApiError({
    status: 400,
    type: 'invalid_request_error',
    code: OVERFLOW_CODE,
    message: `The prompt has ${tokens} tokens; the model reads ${contextLength} with its answer.`,
    param: 'messages',
  });
}
