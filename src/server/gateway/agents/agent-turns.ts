/**
 * Turns of an agent's episode. Its own code runs from beginning to end, so its control speaks between two calls: a message joins
 * the prompt of the next act, and a stop refuses every further call. A retry is not in its hands.
 */

import type { Call, EpisodeKey, Transition } from '../../../core/episode.ts';
import { TurnwiseError } from '../../../core/errors.ts';
import type { Json } from '../../../core/json/json.ts';
import type { Message } from '../../../core/messages.ts';
import type { StopReason } from '../../../core/stop.ts';
import { EpisodeEnd } from '../../../rollout/boundary.ts';
import type { TurnDecision, TurnRules } from '../../../rollout/turns/turn-control.ts';
import { badRequest } from '../api-error.ts';
import type { SessionControl } from '../session/session-options.ts';
import type { SessionRecord } from '../session/session-record.ts';
import { answeredAt } from '../transitions.ts';

export interface AgentTurnsOptions {
  readonly key: EpisodeKey;
  readonly task: Json;
  readonly limit: number;
  readonly rules?: TurnRules;
  /** What the first act reads besides. */
  readonly say?: readonly Message[];
}

/** What the control is asked about: a transition that closes an act. */
type Act = Transition & { readonly call: number };

export class AgentTurns implements SessionControl {
  readonly #options: AgentTurnsOptions;
  #unsaid: readonly Message[];
  #stopped: StopReason | undefined;
  /** Turns that the control was asked about. */
  #decided = 0;

  constructor(options: AgentTurnsOptions) {
    this.#options = options;
    this.#unsaid = options.say ?? [];
  }

  get stopped(): StopReason | undefined {
    return this.#stopped;
  }

  admit(soFar: () => SessionRecord): void {
    if (this.#stopped === undefined) this.#decide(soFar, undefined);
    if (this.#stopped === undefined) return;
    throw badRequest('episode_stopped', `The turn control ended the episode (${this.#stopped}).`);
  }

  take(): readonly Message[] {
    const said = this.#unsaid;
    this.#unsaid = [];
    return said;
  }

  giveBack(said: readonly Message[]): void {
    this.#unsaid = [...said, ...this.#unsaid];
  }

  /** Why the episode ended whose agent came to its end by itself. */
  end(record: SessionRecord, success: boolean): { readonly stop: StopReason; readonly failure?: string } {
    try {
      if (this.#stopped === undefined) this.#decide(() => record, success);
      return { stop: this.#stopped ?? 'done' };
    } catch (error) {
      if (!(error instanceof EpisodeEnd)) throw error;
      return { stop: error.stop, failure: error.message };
    }
  }

  /** @param success of the episode that is over; undefined where it goes on */
  #decide(record: () => SessionRecord, success: boolean | undefined): void {
    const { rules } = this.#options;
    if (!rules?.after) return;
    const { calls, transitions } = record();
    const acts = transitions.filter((transition): transition is Act => transition.call !== undefined);
    while (this.#decided < acts.length && this.#stopped === undefined) {
      const turn = ++this.#decided;
      const done = success !== undefined && turn === acts.length;
      this.#follow(
        this.#decision(rules, callsAt(calls, acts[turn - 1]!), acts.slice(0, turn), done, success),
      );
    }
  }

  #decision(
    { after }: TurnRules,
    calls: readonly Call[],
    transitions: readonly Act[],
    done: boolean,
    success = false,
  ): TurnDecision {
    const { key, task, limit } = this.#options;
    const { role } = transitions.at(-1)!;
    const view = { role, task, calls, transitions, turn: transitions.length, limit };
    try {
      return after?.(key, view, { done, success: done && success }) ?? 'go on';
    } catch (error) {
      if (!TurnwiseError.isInstance(error)) throw error;
      throw new EpisodeEnd('failed:policy', error.message, error);
    }
  }

  #follow(decision: TurnDecision): void {
    if (decision === 'go on') return;
    if ('say' in decision) this.#unsaid = [...this.#unsaid, decision.say];
    else if ('stop' in decision) this.#stopped = decision.stop;
    else
      throw new EpisodeEnd(
        'failed:policy',
        'the turn control opens the task again, and how an agent begins is up to its own code',
      );
  }
}

/** What was answered by the time of an act, the act last. */
function callsAt(calls: readonly Call[], { call: act, at }: Act): readonly Call[] {
  const before = calls.filter((call) => call.id !== act && answeredAt(call) <= at);
  return [...before, ...calls.filter(({ id }) => id === act)];
}
