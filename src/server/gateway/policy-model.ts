/** The policy behind a chat API: rendered by extension, sampled by the engine, parsed back, never encoded twice. */

import type { Role, Sampling } from '../../core/episode.ts';
import type { ConversationRenderer, ForcedCall, Reply } from '../../model/chat/conversation.ts';
import type { PromptPolicy } from '../../policy/policy.ts';
import { ApiError, badRequest } from './api-error.ts';
import { type CallRequest, requestedSampling } from './call-request.ts';
import type { ChatModel, ModelAnswer, ModelRequest, ToldToken } from './chat-model.ts';
import { LiveText } from './live-text.ts';
import { constraintOf } from './response-format.ts';

/** What is wrong with an answer with calls that its length limit ended. */
export const CUT_CALL = 'a tool call was cut by the length limit';

/** The name under which clients ask for the policy. */
export const POLICY_NAME = 'policy';

/** The player behind it, as records name it. */
export const LEARNER = 'learner';

export interface PolicyModelOptions {
  readonly policy: PromptPolicy;
  /** A role of several, which clients ask for by its name, and its player. Default: one role, `policy`, of the learner. */
  readonly seat?: { readonly role: Role; readonly player: string };
  readonly renderer: ConversationRenderer;
  /** Longest prompt + completion in tokens. */
  readonly contextLength: number;
  /**
   * Set where a run decides how its policy explores: what requests say of temperature, top_p, top_k and seed is then
   * left aside. A fixed temperature or seed in the agent's code would otherwise make all episodes of a group the same.
   */
  readonly sampling?: Omit<Sampling, 'maxTokens'>;
  /** Whether answers are held to the schemas that requests name, where the model can be. They are then not trained on. */
  readonly constrains?: boolean;
}

export function policyModel(options: PolicyModelOptions): ChatModel {
  const { policy, renderer, seat } = options;
  return {
    name: seat?.role ?? POLICY_NAME,
    ...(seat && { role: seat.role }),
    author: { kind: 'policy', name: seat?.player ?? LEARNER },
    samplesAsConfigured: options.sampling !== undefined,
    get version() {
      return policy.author.version;
    },
    answer: (request) => answer(request, options),
    renderer,
    contextLength: options.contextLength,
    release: (conversations) => {
      for (const conversation of conversations) policy.release?.(conversation);
    },
  };

  async function answer(request: ModelRequest, { contextLength }: PolicyModelOptions): Promise<ModelAnswer> {
    const { call, conversation } = request;
    const forced = forcedIds(call, renderer);
    const promptIds = [...request.promptIds, ...forced];
    const room = contextLength - promptIds.length;
    if (promptIds.length === 0) throw badRequest('empty_prompt', 'The prompt has no tokens.', 'prompt');
    if (room < 1) throw overflow(promptIds.length, contextLength);
    const sampling = {
      ...(options.sampling ?? requestedSampling(call)),
      maxTokens: Math.min(call.maxTokens ?? room, renderer.maxTurnTokens, room),
    };
    const constraint =
      options.constrains && call.kind === 'chat' && renderer.tokenTexts?.()
        ? constraintOf(call, renderer.callForm)
        : undefined;
    const live = liveTextOf(request, Int32Array.from(promptIds), forced.length > 0, renderer);
    const seeded = options.sampling === undefined && call.seed !== undefined;
    const completion = await policy.complete({
      conversation,
      seedKey: seeded ? `request/${call.seed}/${request.contentKey}` : request.seedKey,
      messages: call.kind === 'chat' ? call.messages : [],
      keep: 0,
      append: Int32Array.from(promptIds),
      sampling,
      ...(call.topLogprobs > 0 && { topLogprobs: call.topLogprobs }),
      ...(constraint && { constraint }),
      ...(live && { heard: (id: number) => live.hear(id) }),
      signal: request.signal,
    });
    const sampled = Array.from(completion.ids);
    const cut = cutAtStop(sampled, call.stop, renderer);
    const ids = sampled.slice(0, cut?.tokens);
    const logprobs = Float32Array.from(completion.logprobs).slice(0, ids.length);
    const text = cut?.text ?? renderer.text(ids);
    const whole = `${forcedText(forced, sampled, renderer)}${text}`;
    const finish = cut || completion.finish === 'none' ? 'stop' : completion.finish;
    return {
      reply: replyOf(whole, finish, call, renderer),
      text,
      finish,
      ...(cut && { stoppedBy: cut.by }),
      promptIds: Int32Array.from(promptIds),
      ids: Int32Array.from(ids),
      logprobs,
      ...(completion.entropy !== undefined &&
        ids.length === sampled.length && { entropy: Math.fround(completion.entropy) }),
      ...(forced.length > 0 && { forced }),
      ...(completion.trainable !== true && { untrainable: completion.trainable }),
      tokens: { prompt: promptIds.length, completion: ids.length },
      ...(call.logprobs && {
        told: ids.map((id, index): ToldToken => {
          const top = completion.top?.[index];
          return {
            token: renderer.text([id]),
            logprob: logprobs[index]!,
            ...(top && { top: top.map((one) => ({ token: renderer.text([one.id]), logprob: one.logprob })) }),
          };
        }),
      }),
      sampling,
    };
  }
}

/** What hears a completion while it is sampled; undefined where nobody asks, and where nothing may be said before its end. */
function liveTextOf(
  { call, live }: ModelRequest,
  promptIds: Int32Array,
  isForced: boolean,
  renderer: ConversationRenderer,
): LiveText | undefined {
  const { settled } = renderer;
  const isText = call.kind === 'text';
  // A thought that the prompt begins is known to be one when it ends.
  const isThinking = /<think>\s*$/.test(isText ? '' : renderer.text(Array.from(promptIds.slice(-8))));
  const tells = live !== undefined && !isForced && (isText || settled !== undefined);
  if (!tells && call.stop.length === 0) return undefined;
  let begun = false;
  return new LiveText({
    textOf: (ids) => renderer.text(ids),
    stops: call.stop,
    settled: (text) => {
      if (isText) return { reasoning: '', content: text.trimEnd() };
      if (isThinking && !text.includes('</think>')) return { reasoning: '', content: '' };
      return settled!(
        isThinking ? `<think>${text}` : text,
        call.toolChoice !== 'none' && call.tools.length > 0,
      );
    },
    ...(tells && {
      say: (said) => {
        if (!begun) live.begin(promptIds);
        begun = true;
        live.say(said);
      },
    }),
  });
}

/** A call that the length limit may have cut never leaves as a call: clients would run what was not said. */
function replyOf(
  text: string,
  finish: ModelAnswer['finish'],
  call: CallRequest,
  renderer: ConversationRenderer,
): Reply {
  if (call.kind === 'text') return { content: text, toolCalls: [] };
  const { tools, callable, toolChoice } = call;
  const readable = callable ? tools.filter(({ name }) => callable.includes(name)) : tools;
  const reply = renderer.read(text, toolChoice === 'none' ? [] : readable);
  if (finish === 'stop' || reply.toolCalls.length === 0) return reply;
  return { ...renderer.read(text, []), problem: CUT_CALL };
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
): { readonly tokens: number; readonly text: string; readonly by: string } | undefined {
  if (stops.length === 0) return undefined;
  const contains = (text: string): boolean => stops.some((stop) => text.includes(stop));
  if (!contains(renderer.text(ids))) return undefined;
  for (let tokens = 1; tokens <= ids.length; tokens++) {
    const text = renderer.text(ids.slice(0, tokens));
    if (!contains(text)) continue;
    const found = stops.filter((stop) => text.includes(stop));
    const by = found.reduce((first, stop) => (text.indexOf(stop) < text.indexOf(first) ? stop : first));
    return { tokens, text: text.slice(0, text.indexOf(by)).trimEnd(), by };
  }
  return undefined;
}

export const OVERFLOW_CODE = 'context_length_exceeded';

export function overflow(tokens: number, contextLength: number): ApiError {
  return new ApiError({
    status: 400,
    type: 'invalid_request_error',
    code: OVERFLOW_CODE,
    message: `The prompt has ${tokens} tokens; the model reads ${contextLength} with its answer.`,
    param: 'messages',
  });
}
