/** Samples the choices of a session's calls, and makes records of them. */

import type { Message } from '../../core/messages.ts';
import type { AnsweredChoice, Asked, CallRecorder, CallTimes, Origin } from './call-recorder.ts';
import type { CallRequest } from './call-request.ts';
import type { ChatModel, Live, ModelAnswer } from './chat-model.ts';
import { type ChatOptions, isOwn, roleOf, type SessionTurn, type ToSample } from './context/chat-turns.ts';
import type { LiveAnswer } from './dialects/coming.ts';
import type { Memory } from './memory.ts';
import { ACT, CONSULT } from './purpose.ts';
import { formatProblem } from './response-format.ts';

/** What it shares with its session. */
interface OfSession {
  readonly recorder: CallRecorder;
  readonly memory: Memory;
  /** What ids of the session have in common. */
  readonly tag: string;
  /** By `performance.now()`. */
  readonly openedMs: number;
}

export class CallSampler {
  readonly #options: ChatOptions;
  readonly #session: OfSession;
  readonly #asked: Map<string, number> = new Map();

  constructor(options: ChatOptions, session: OfSession) {
    this.#options = options;
    this.#session = session;
  }

  /** Sample the choices of a call. */
  async sample(
    call: CallRequest,
    { promptIds, origin, script, plans, key, live }: ToSample,
    { model, conversations, signal, askedMs }: SessionTurn,
  ): Promise<AnsweredChoice[]> {
    const { recorder, openedMs } = this.#session;
    const asked = conversations.slice(0, call.choices).map((one) => recorder.ask(one));
    const began = performance.now();
    const { version } = model;
    const answers = await Promise.all(
      asked.map(({ conversation }, choice) =>
        model.answer({
          call,
          promptIds,
          conversation,
          seedKey: this.#seedKey(key, choice),
          contentKey: choiceKey(key, choice),
          signal,
          ...(script && { script }),
          ...(plans && { plans }),
          ...(live && choice === 0 && { live: this.#opening(asked[0]!, version, live) }),
        }),
      ),
    );
    const times = {
      at: askedMs - openedMs,
      waitMs: began - askedMs,
      policyMs: performance.now() - began,
      version,
    };
    return answers.map((answer, choice) => this.#record(call, model, origin, asked[choice]!, answer, times));
  }

  /** What hears the first words begins with what is known of the call. */
  #opening({ id }: Asked, version: number, live: LiveAnswer): Live {
    return {
      begin: (promptIds) =>
        live.begin({
          ref: `${this.#session.tag}_${id}`,
          version,
          promptIds,
          promptTokens: promptIds.length,
          told: { policy_version: version },
        }),
      say: (said) => live.say(said),
    };
  }

  /** Named by what was asked, not by when: calls at the same time draw the same numbers in whatever order they come. */
  #seedKey(key: string, choice: number): string {
    const times = this.#asked.get(key) ?? 0;
    this.#asked.set(key, times + 1);
    return `${this.#options.seed}/${choiceKey(`${key}/${times}`, choice)}`;
  }

  #record(
    call: CallRequest,
    model: ChatModel,
    origin: Origin,
    asked: Asked,
    answer: ModelAnswer,
    { version, ...times }: CallTimes & { readonly version: number },
  ): AnsweredChoice {
    const { recorder, memory, tag } = this.#session;
    const reply =
      call.kind === 'chat' && !call.parallelToolCalls
        ? { ...answer.reply, toolCalls: answer.reply.toolCalls.slice(0, 1) }
        : answer.reply;
    const prefix = call.kind === 'chat' ? call.callIdPrefix : 'call';
    const toolCalls = memory.identified(reply.toolCalls, `${prefix}_${tag}`);
    const message: Message = {
      role: 'assistant',
      content: reply.content,
      ...(reply.reasoning !== undefined && { reasoning: reply.reasoning }),
      ...(toolCalls.length > 0 && { toolCalls }),
    };
    const problem =
      reply.problem ?? (call.kind === 'chat' ? formatProblem(reply, call.responseFormat) : undefined);
    const own = isOwn(model, this.#options);
    const made = recorder.callOf(
      origin,
      asked,
      answer,
      { reply, problem },
      {
        ...times,
        role: roleOf(model, this.#options),
        by: { ...model.author, version },
        purpose: call.purpose ?? (own ? ACT : CONSULT),
        trainable: own ? (answer.untrainable ?? true) : 'other-model',
      },
    );
    return { call: made, answer, message, ref: `${tag}_${asked.id}` };
  }
}

const choiceKey = (key: string, choice: number): string => (choice === 0 ? key : `${key}/${choice}`);
