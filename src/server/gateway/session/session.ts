/** One episode as the gateway sees it: what was asked, what was answered, and how the calls hang together. */

import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Role } from '../../../core/episode.ts';
import { nearest, TurnwiseError } from '../../../core/errors.ts';
import type { Message } from '../../../core/messages.ts';
import type { StopReason } from '../../../core/stop.ts';
import { untilAborted } from '../../guard/until-aborted.ts';
import { ApiError, badRequest, notFound } from '../api-error.ts';
import { type AnsweredChoice, CallRecorder, type Origin } from '../call-recorder.ts';
import type { CallRequest, TextCall } from '../call-request.ts';
import { CallSampler } from '../call-sampler.ts';
import type { ChatModel } from '../chat-model.ts';
import { ChatTurns, isOwn, roleOf, type SessionTurn } from '../context/chat-turns.ts';
import { estimatedTokens, joined, promptOfAll, textPrompt } from '../context/prompt-of-call.ts';
import type { LiveAnswer } from '../dialects/coming.ts';
import type { Reading } from '../dialects/dialect.ts';
import { failed, gone, sessionOver } from '../gateway-errors.ts';
import { Memory } from '../memory.ts';
import { OVERFLOW_CODE } from '../policy-model.ts';
import { ACT } from '../purpose.ts';
import { transitionsOf } from '../transitions.ts';
import { TurnRewards } from '../turn-rewards.ts';
import type { SessionEnd, SessionOptions } from './session-options.ts';
import { countUntrainable, type SessionRecord } from './session-record.ts';

export class GatewaySession {
  readonly id: string = `session-${randomBytes(9).toString('base64url')}`;
  readonly key: string = `tw-${randomBytes(24).toString('base64url')}`;
  /** The first failure of a model: not the agent's fault. */
  fault: unknown;
  /** The policy was refused a call because its context was full, and no call came after that. */
  overflowed = false;
  /** A call was refused because there had been too many. */
  limited = false;
  /** When a call last came, on the clock of the calls, whatever became of it. */
  askedAt = 0;
  /** When something last happened, by `performance.now()`. */
  lastActiveMs: number = performance.now();
  /** Calls under way, those that are held back included. */
  running = 0;
  readonly #options: SessionOptions;
  readonly #recorder: CallRecorder;
  readonly memory: Memory = new Memory();
  /** What its turns earned before the end. */
  readonly rewards: TurnRewards = new TurnRewards(() => ({
    open: this.#status === 'open',
    tag: this.tag,
    models: this.#own.map(({ name }) => name),
    calls: this.#recorder.calls,
  }));
  readonly #ended = new AbortController();
  readonly #chats: ChatTurns;
  readonly #sampler: CallSampler;
  readonly #openedMs = performance.now();
  /** Who watches is being told of these calls. */
  readonly #telling: Promise<void>[] = [];
  #closedMs: number | undefined;
  #status: SessionRecord['status'] = 'open';
  #end: SessionEnd = {};
  #accepted = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#recorder = new CallRecorder(options.name, (call) => {
      const told = options.onCall?.(call);
      if (told) this.#telling.push(told);
    });
    this.#sampler = new CallSampler(options, {
      recorder: this.#recorder,
      memory: this.memory,
      tag: this.tag,
      openedMs: this.#openedMs,
    });
    this.#chats = new ChatTurns(options, {
      recorder: this.#recorder,
      ended: this.#ended.signal,
      accept: () => this.#accept(),
      sample: (...given) => this.#sampler.sample(...given),
    });
  }

  get status(): SessionRecord['status'] {
    return this.#status;
  }

  /** Why its control ended the episode, where it did. */
  get stopped(): StopReason | undefined {
    return this.#options.control?.stopped;
  }

  /** What ids of this session have in common. */
  get tag(): string {
    return this.id.slice('session-'.length);
  }

  get models(): readonly ChatModel[] {
    return [...this.#own, ...(this.#options.foreign ?? [])];
  }

  /** Those that play its roles. */
  get #own(): readonly ChatModel[] {
    return [this.#options.model, ...(this.#options.seats ?? [])];
  }

  get roles(): readonly Role[] {
    return this.#own.map((model) => roleOf(model, this.#options));
  }

  opens(key: string): boolean {
    const [given, own] = [Buffer.from(key), Buffer.from(this.key)];
    return given.length === own.length && timingSafeEqual(given, own);
  }

  /**
   * What reading a body depends on.
   *
   * @param noted called for each parameter that changes nothing
   * @throws ApiError 404 where the body names a model that is not here
   */
  reading(body: unknown, noted: (key: string) => void): Reading {
    const name = (body as { readonly model?: unknown } | null)?.model;
    const model = typeof name === 'string' ? this.#modelOf(name) : undefined;
    const reading = this.memory.reading(model, noted);
    if (model !== undefined && model.name !== name) reading.ignore('model');
    return reading;
  }

  /** Tokens of the prompt of a call that is not made. Where the model does not tell, four characters are taken for one. */
  promptTokens(call: CallRequest): number {
    const model = this.#modelOf(call.model);
    const { renderer } = model;
    if (renderer === undefined) return estimatedTokens(call);
    const placed = this.#recorder.place(call, model);
    if (call.kind === 'text') return textPrompt(call, placed, renderer).length;
    return promptOfAll(placed, call, renderer);
  }

  /** A call comes. Whoever makes one goes on from what became of those before it. */
  came(): void {
    this.askedAt = performance.now() - this.#openedMs;
    this.overflowed = false;
  }

  /**
   * Answer a call and record it. The signal is the client's: it hung up.
   *
   * @param askedMs when it came, by `performance.now()`
   * @param live hears the answer while it is sampled
   * @throws ApiError
   */
  async answer(
    call: CallRequest,
    hungUp: AbortSignal,
    askedMs: number = performance.now(),
    live?: LiveAnswer,
  ): Promise<AnsweredChoice[]> {
    if (this.#status !== 'open') throw sessionOver(this.id);
    const model = this.#modelOf(call.model);
    const { control } = this.#options;
    let said: readonly Message[] = [];
    try {
      control?.admit(() => this.record());
      this.#accept();
      const signal = AbortSignal.any([hungUp, this.#ended.signal]);
      if (control && this.#isAct(call, model)) said = control.take();
      const placed = this.#recorder.place(call, model, said);
      const conversations = this.#recorder.conversationsFor(placed, call.choices);
      const turn: SessionTurn = { model, placed, conversations, signal, askedMs, ...(live && { live }) };
      const answered = call.kind === 'chat' ? this.#chats.answer(call, turn) : this.#answerText(call, turn);
      return await untilAborted(this.#told(answered), signal, gone);
    } catch (error) {
      control?.giveBack(said);
      if (error instanceof ApiError) {
        this.overflowed ||= error.parts.code === OVERFLOW_CODE && isOwn(model, this.#options);
        throw error;
      }
      // The client's schema is to blame, not the model.
      if (TurnwiseError.isInstance(error) && error.code === 'schema-unsupported')
        throw badRequest('invalid_schema', error.message);
      this.fault ??= error;
      throw failed(error);
    }
  }

  async #told(answered: Promise<AnsweredChoice[]>): Promise<AnsweredChoice[]> {
    const choices = await answered;
    await Promise.all(this.#telling.splice(0));
    return choices;
  }

  /** Whether a call asks the policy for an action, and reads messages. */
  #isAct(call: CallRequest, model: ChatModel): boolean {
    return call.kind === 'chat' && isOwn(model, this.#options) && (call.purpose ?? ACT) === ACT;
  }

  /** One more call. @throws ApiError where there were as many as there may be */
  #accept(): void {
    if (this.#accepted >= this.#options.maxCalls) {
      this.limited = true;
      throw badRequest(
        'call_limit_reached',
        `An episode has ${this.#options.maxCalls} calls, and this would be one more.`,
      );
    }
    this.#accepted++;
  }

  async #answerText(call: TextCall, turn: SessionTurn): Promise<AnsweredChoice[]> {
    const { model, placed, live } = turn;
    const { parent, anchor, fresh } = placed;
    const promptIds = model.renderer ? textPrompt(call, placed, model.renderer) : new Int32Array();
    const origin: Origin = {
      ...(parent && { parent: parent.call.id, path: parent.path }),
      change: undefined,
      messages: fresh,
    };
    const asked = { promptIds, origin, key: placed.key, ...(live && { live }) };
    const sampled = await this.#sampler.sample(call, asked, turn);
    return sampled.map(({ call: made, answer, message, ref }) => {
      this.#recorder.keep({
        call: made,
        anchor,
        model: model.name,
        path: joined(answer),
        ...(typeof call.prompt === 'string' && answer.text !== ''
          ? { written: call.prompt + answer.text }
          : {}),
      });
      return { call: made, answer, message, ref };
    });
  }

  /** No more calls; those under way are dropped. Does nothing the second time. */
  close(end: SessionEnd = {}, status: 'closed' | 'expired' = 'closed'): void {
    if (this.#status !== 'open') return;
    this.#status = status;
    this.#end = end;
    this.#closedMs = performance.now();
    this.#ended.abort(sessionOver(this.id));
    this.#chats.close();
    for (const model of this.models) model.release?.([...this.#recorder.conversations]);
  }

  record(): SessionRecord {
    const { task } = this.#options;
    const recorded = this.#recorder.calls;
    const calls = recorded.map(({ call }) => call);
    const at = (this.#closedMs ?? performance.now()) - this.#openedMs;
    return {
      id: this.id,
      status: this.#status,
      ...(task === undefined ? {} : { task }),
      ...this.#end,
      calls,
      transitions: transitionsOf(recorded, { ...this.#end, at }, this.rewards.byCall, this.roles),
      tools: { ...this.#recorder.tools },
      untrainable: countUntrainable(calls),
      ignored: this.memory.ignored,
    };
  }

  /** Where there is only one it is meant, whatever it is called: clients name models of their vendor by default. */
  #modelOf(name: string): ChatModel {
    const found = this.models.find((model) => model.name === name);
    if (found) return found;
    if (this.models.length === 1) return this.#options.model;
    const names = this.models.map((model) => model.name);
    const near = nearest(name, names);
    throw notFound(
      'model_not_found',
      `There is no model "${name}" here; there is ${names.map((known) => `"${known}"`).join(', ')}.${near === undefined ? '' : ` Did you mean "${near}"?`}`,
    );
  }
}
