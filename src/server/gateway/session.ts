/** One episode as the gateway sees it: what was asked, what was answered, and how the calls hang together. */

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { nearest } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import type { Message } from '../../core/messages.ts';
import type { History } from '../../model/renderer.ts';
import { ApiError, badRequest, notFound } from './api-error.ts';
import type { CallRequest, ChatCall } from './call-request.ts';
import { type ChatModel, type ModelAnswer, NO_HISTORY } from './chat-model.ts';
import { type Continuation, Conversations } from './conversations.ts';
import { continues, extendsExactly, promptMessages, textOf } from './exact-continuations.ts';
import { OVERFLOW_CODE } from './policy-model.ts';
import type { RecordedCall, SessionRecord } from './recorded-call.ts';
import { fitsFormat } from './response-format.ts';
import { chainCalls, countUntrainable } from './trajectories.ts';

export interface SessionOptions {
  /** Names all randomness and every conversation of the session. */
  readonly name: string;
  readonly seed: string | number;
  readonly model: ChatModel;
  /** Other models, by the names that clients may ask for. */
  readonly foreign?: readonly ChatModel[];
  /** Calls after which further ones are refused. */
  readonly maxCalls: number;
  readonly task?: Json;
}

/** One answered choice: the record, and what the client is given. */
export interface AnsweredChoice {
  readonly call: RecordedCall;
  readonly answer: ModelAnswer;
  /** As the client reads it, with ids for the calls. */
  readonly message: Message;
}

export interface SessionEnd {
  readonly reward?: number;
  readonly success?: boolean;
  readonly info?: Json;
}

export class GatewaySession {
  readonly id: string = `session-${randomBytes(9).toString('base64url')}`;
  readonly key: string = `tw-${randomBytes(24).toString('base64url')}`;
  /** The first failure of a model: not the agent's fault. */
  fault: unknown;
  /** A call was refused because the context was full. */
  overflowed = false;
  /** A call was refused because there had been too many. */
  limited = false;
  /** When something last happened, by `performance.now()`. */
  lastActiveMs: number = performance.now();
  /** Calls under way, those that are held back included. */
  running = 0;
  readonly #options: SessionOptions;
  readonly #calls: RecordedCall[] = [];
  readonly #conversations = new Conversations<RecordedCall>();
  readonly #histories: Map<string, History> = new Map();
  readonly #continued: Set<string> = new Set();
  readonly #names: Set<string> = new Set();
  readonly #asked: Map<string, number> = new Map();
  readonly #ended = new AbortController();
  #status: SessionRecord['status'] = 'open';
  #end: SessionEnd = {};
  #accepted = 0;
  #toolCallIds = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get status(): SessionRecord['status'] {
    return this.#status;
  }

  get models(): readonly ChatModel[] {
    return [this.#options.model, ...(this.#options.foreign ?? [])];
  }

  opens(key: string): boolean {
    const [given, own] = [Buffer.from(key), Buffer.from(this.key)];
    return given.length === own.length && timingSafeEqual(given, own);
  }

  /** Answer a call and record it. The signal is the client's: it hung up. @throws ApiError */
  async answer(call: CallRequest, hungUp: AbortSignal): Promise<AnsweredChoice[]> {
    if (this.#status !== 'open') throw sessionOver(this.id);
    const model = this.#modelOf(call.model);
    if (this.#accepted >= this.#options.maxCalls) {
      this.limited = true;
      throw badRequest(
        'call_limit_reached',
        `An episode has ${this.#options.maxCalls} calls, and this would be one more.`,
      );
    }
    this.#accepted++;
    const waitedMs = performance.now() - this.lastActiveMs;
    try {
      const signal = AbortSignal.any([hungUp, this.#ended.signal]);
      const placed = this.#place(call, model);
      const conversations = Array.from({ length: call.choices }, () =>
        this.#conversationFor(placed.previous),
      );
      const history = (placed.previous && this.#histories.get(placed.previous.id)) ?? NO_HISTORY;
      const began = performance.now();
      const answers = await untilAborted(
        Promise.all(
          conversations.map((conversation, choice) =>
            model.answer({
              call,
              conversation,
              seedKey: this.#seedKey(placed.key, choice),
              contentKey: choiceKey(placed.key, choice),
              history,
              fresh: placed.fresh,
              freshText: placed.freshText,
              signal,
            }),
          ),
        ),
        signal,
      );
      const policyMs = performance.now() - began;
      return answers.map((answer, choice) =>
        this.#record(call, model, placed, conversations[choice]!, answer, {
          policyMs,
          environmentMs: waitedMs,
        }),
      );
    } catch (error) {
      if (error instanceof ApiError) {
        this.overflowed ||= error.parts.code === OVERFLOW_CODE;
        throw error;
      }
      this.fault ??= error;
      throw failed(error);
    }
  }

  /** No more calls; those under way are dropped. Does nothing the second time. */
  close(end: SessionEnd = {}, status: 'closed' | 'expired' = 'closed'): void {
    if (this.#status !== 'open') return;
    this.#status = status;
    this.#end = end;
    this.#ended.abort(sessionOver(this.id));
    for (const model of this.models) model.release?.([...this.#names]);
  }

  record(): SessionRecord {
    const { task } = this.#options;
    return {
      id: this.id,
      status: this.#status,
      ...(task === undefined ? {} : { task }),
      ...this.#end,
      calls: [...this.#calls],
      trajectories: chainCalls(this.#calls).map((chain) => chain.map(({ id }) => id)),
      untrainable: countUntrainable(this.#calls),
    };
  }

  #modelOf(name: string): ChatModel {
    const found = this.models.find((model) => model.name === name);
    if (found) return found;
    const names = this.models.map((model) => model.name);
    const near = nearest(name, names);
    throw notFound(
      'model_not_found',
      `There is no model "${name}" here; there is ${names.map((known) => `"${known}"`).join(', ')}.${near === undefined ? '' : ` Did you mean "${near}"?`}`,
    );
  }

  /** What the call continues. Other models than the policy have no tokens to continue. */
  #place(call: CallRequest, model: ChatModel): Placed {
    if (call.kind === 'chat') {
      const found = this.#conversations.find(call.messages, call.tools);
      const own = found.previous?.model === model.name ? found.previous : undefined;
      return { ...found, previous: own, fresh: own ? found.fresh : call.messages, freshText: '' };
    }
    const { prompt } = call;
    const key = typeof prompt === 'string' ? prompt : prompt.join(' ');
    const before = this.#calls.findLast(
      (earlier) => earlier.model === model.name && continues(prompt, earlier),
    );
    const freshText = typeof prompt === 'string' ? prompt.slice(before ? textOf(before).length : 0) : '';
    const fresh: Message[] = typeof prompt === 'string' ? [{ role: 'user', content: freshText }] : [];
    return { previous: before, fresh, freshText, edited: false, key };
  }

  /** The first call that continues another shares its conversation, and so its cache; others have their own. */
  #conversationFor(previous: RecordedCall | undefined): string {
    if (previous && !this.#continued.has(previous.id)) {
      this.#continued.add(previous.id);
      return previous.conversation;
    }
    const name = `${this.#options.name}/${this.#names.size}`;
    this.#names.add(name);
    return name;
  }

  /** Named by what was asked, not by when: calls at the same time draw the same numbers in whatever order they come. */
  #seedKey(key: string, choice: number): string {
    const times = this.#asked.get(key) ?? 0;
    this.#asked.set(key, times + 1);
    return `${this.#options.seed}/${this.#options.name}/${choiceKey(`${key}/${times}`, choice)}`;
  }

  #record(
    call: CallRequest,
    model: ChatModel,
    placed: Placed,
    conversation: string,
    answer: ModelAnswer,
    times: Pick<RecordedCall, 'policyMs' | 'environmentMs'>,
  ): AnsweredChoice {
    const reply =
      call.kind === 'chat' && !call.parallelToolCalls
        ? { ...answer.reply, toolCalls: answer.reply.toolCalls.slice(0, 1) }
        : answer.reply;
    const toolCalls = reply.toolCalls.map((made) => ({
      id: `call_${this.id.slice(8)}_${this.#toolCallIds++}`,
      ...made,
    }));
    const message: Message = {
      role: 'assistant',
      content: reply.content,
      ...(reply.reasoning !== undefined && { reasoning: reply.reasoning }),
      ...(toolCalls.length > 0 && { toolCalls }),
    };
    const untrainable =
      model !== this.#options.model ? 'foreign-model' : placed.edited ? 'edited-history' : answer.untrainable;
    const { previous } = placed;
    const record: RecordedCall = {
      id: `call-${this.#calls.length}`,
      kind: call.kind,
      conversation,
      ...(previous && extendsExactly(answer.promptIds, previous) && { previous: previous.id }),
      model: model.name,
      policyVersion: model.version,
      messages: call.kind === 'chat' ? call.messages : promptMessages(call.prompt),
      fresh: placed.fresh,
      tools: call.kind === 'chat' ? call.tools.map(({ name }) => name) : [],
      anchor: placed.key.slice(0, 16),
      promptIds: answer.promptIds,
      ids: answer.ids,
      logprobs: answer.logprobs,
      text: answer.text,
      reply,
      finish: answer.finish,
      temperature: answer.temperature,
      valid: reply.problem === undefined && (call.kind === 'text' || fitsFormat(reply, call.responseFormat)),
      ...(untrainable && { untrainable }),
      ...times,
    };
    this.#calls.push(record);
    this.#histories.set(record.id, answer.history);
    if (call.kind === 'chat') this.#remember(call, message, record);
    return { call: record, answer, message };
  }

  #remember({ messages, tools }: ChatCall, message: Message, record: RecordedCall): void {
    this.#conversations.add(messages, tools, message, record);
  }
}

const choiceKey = (key: string, choice: number): string => (choice === 0 ? key : `${key}/${choice}`);

type Placed = Continuation<RecordedCall> & { readonly freshText: string };

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    work.catch(() => {});
    throw gone(signal);
  }
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(gone(signal));
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function gone(signal: AbortSignal): ApiError {
  if (signal.reason instanceof ApiError) return signal.reason;
  return new ApiError({
    status: 499,
    type: 'invalid_request_error',
    code: 'client_gone',
    message: 'The client hung up.',
  });
}

export function sessionOver(id: string): ApiError {
  return notFound('session_not_found', `The session ${id} was closed, has expired, or never existed.`);
}

function failed(error: unknown): ApiError {
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError({
    status: 500,
    type: 'server_error',
    code: 'model_failed',
    message: `The model failed: ${message}`,
  });
}
