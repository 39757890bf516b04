/** What a strategy asks the policy for before one act: one completion after another, each part of the conversation from then on. */

import { badDefinition } from '../../core/definition.ts';
import type { Call } from '../../core/episode.ts';
import type { Message } from '../../core/messages.ts';
import { IdleDeadline } from '../../core/signals/idle-deadline.ts';
import type { StopReason } from '../../core/stop.ts';
import type { Session } from '../../env/session.ts';
import type { Completion } from '../../model/chat/renderer.ts';
import { EpisodeEnd } from '../boundary.ts';
import { plannedAct } from './planned-act.ts';
import type { Conversation } from './strategy.ts';
import { type Rendered, Rendering, type Setting, type Thread, viewOf, withCall } from './thread.ts';

/** Completions that a strategy may ask for before one act. */
const MOST_ASKED = 64;

/** What a strategy asks for. */
export interface Asked {
  readonly purpose: string;
  readonly rendered: Rendered;
  /** What a scripted player writes. */
  readonly script: ((session: Session | undefined, planned: string | undefined) => string) | undefined;
}

/** Samples and records what a strategy asks for. */
export type CompleteAsked = (asked: Asked) => Promise<Call>;

export class Questions {
  /** The conversation with what was asked for so far. */
  thread: Thread;
  /** Renders conversations of that thread. */
  rendering: Rendering;
  /** Ends the episode, whatever the strategy makes of it. */
  ended: { readonly error: unknown } | { readonly stop: StopReason } | undefined;
  /** Bounds the time of the strategy, not of the completions that it waits for. */
  readonly deadline: IdleDeadline;
  readonly #fresh: readonly Message[];
  readonly #setting: Setting;
  readonly #complete: CompleteAsked;
  /** The latest question; it never rejects. */
  #latest: Promise<unknown> | undefined;
  #asked = 0;

  constructor(
    rendering: Rendering,
    fresh: readonly Message[],
    setting: Setting,
    { timeoutMs, place }: { readonly timeoutMs: number; readonly place: string },
    complete: CompleteAsked,
  ) {
    this.thread = rendering.thread;
    this.rendering = rendering;
    this.#fresh = fresh;
    this.#setting = setting;
    this.#complete = complete;
    this.deadline = new IdleDeadline(
      timeoutMs,
      () => new EpisodeEnd('timeout', `building the context of ${place} took longer than ${timeoutMs} ms`),
    );
  }

  ask(purpose: string, conversation: Conversation): Promise<Call> {
    this.deadline.pause();
    const answer = (this.#latest ?? Promise.resolve())
      .then(() => this.#completed(purpose, conversation))
      .finally(() => this.deadline.go());
    this.#latest = answer.catch(() => {});
    return answer;
  }

  /** Waits for what is still being completed. */
  async settled(): Promise<void> {
    await this.#latest;
  }

  async #completed(purpose: string, conversation: Conversation): Promise<Call> {
    const {
      context: { strategy, subject },
      contextLength,
      renderer,
    } = this.#setting;
    requirePurpose(subject, purpose);
    if (this.ended) throw new Error('The episode is over');
    if (++this.#asked > MOST_ASKED)
      throw badDefinition(
        subject,
        'asks without end',
        `${this.#asked} questions before one act`,
        `at most ${MOST_ASKED}`,
      );
    const rendered = this.rendering.of(conversation);
    if (contextLength - rendered.prompt.length < 1) {
      this.ended = { stop: 'context-overflow' };
      throw new Error(`The prompt of "${purpose}" leaves no room for an answer`);
    }
    // What a script draws must not repeat what the window drew.
    const rng: Setting['rng'] = (calls) => this.#setting.rng(calls).fork('script');
    const now = viewOf({ ...this.#setting, rng }, this.thread, this.#fresh, this.rendering);
    const script =
      strategy.script &&
      ((session: Session | undefined, planned: string | undefined) =>
        strategy.script!(purpose, now, session, plannedAct(planned, now, renderer)));
    let call: Call;
    try {
      call = await this.#complete({ purpose, rendered, script });
    } catch (error) {
      this.ended = { error };
      throw error;
    }
    this.thread = withCall(this.thread, rendered.prompt, call, renderer.size ? withoutIds(call) : call);
    this.rendering = new Rendering(this.#setting, this.thread, this.#fresh);
    return call;
  }
}

function requirePurpose(subject: string, purpose: unknown): void {
  if (typeof purpose === 'string' && purpose !== 'act' && /^[a-z][a-z0-9-]{0,31}$/.test(purpose)) return;
  throw badDefinition(
    subject,
    'asks for no known purpose',
    purpose,
    'a few lower-case letters, digits and hyphens, but not "act"',
  );
}

/** Of a model whose tokens are its own affair. */
export const withoutIds = ({ id, text }: Completion): Completion => ({ id, ids: [], text });
