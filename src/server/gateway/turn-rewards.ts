/** Rewards along the way: what an agent says its turns were worth, before it has come to its end. */

import { TurnwiseError } from '../../core/errors.ts';
import { valueText } from '../../core/safe-text.ts';
import { LARGEST_REWARD } from '../../env/checks.ts';
import type { RecordedCall } from './call-recorder.ts';
import { refOf } from './dialects/dialect.ts';
import { ACT } from './purpose.ts';
import { answeredAt } from './transitions.ts';

/** Ids of answers, in all dialects. Those of tool calls and of items of an answer end in other numbers. */
const ANSWER_ID = /^(chatcmpl-|cmpl-|resp_|msg_)/;

/** A session, as far as rewards ask about it. */
export interface Rewarded {
  readonly open: boolean;
  /** What ids of the session have in common. */
  readonly tag: string;
  /** The names of the models that are trained. */
  readonly models: readonly string[];
  readonly calls: readonly RecordedCall[];
}

export class TurnRewards {
  readonly #session: () => Rewarded;
  readonly #byCall: Map<number, number> = new Map();

  constructor(session: () => Rewarded) {
    this.#session = session;
  }

  /** By the id of the call that was named. */
  get byCall(): ReadonlyMap<number, number> {
    return this.#byCall;
  }

  /**
   * Rewards of one call add up.
   *
   * @param answer the id that the answer carried; absent: the last act that was answered
   * @throws TurnwiseError `agent-reward`
   */
  add(value: number, answer?: string): void {
    const session = this.#session();
    if (!session.open) {
      throw refused('came after the end of its episode', valueText(value), {
        next: 'Call it before run() returns or the session is closed',
      });
    }
    if (typeof value !== 'number' || !(Math.abs(value) <= LARGEST_REWARD)) {
      throw refused('is no number that can be added up', valueText(value), {
        allowed: `a number from -${LARGEST_REWARD} to ${LARGEST_REWARD}`,
      });
    }
    const call = answer === undefined ? lastAct(session) : namedBy(answer, session);
    this.#byCall.set(call, (this.#byCall.get(call) ?? 0) + value);
  }
}

function lastAct({ calls }: Rewarded): number {
  const acts = calls.filter(({ call, hidden }) => call.purpose === ACT && !hidden).map(({ call }) => call);
  const last = acts.reduce<(typeof acts)[number] | undefined>(
    (latest, call) => (latest && answeredAt(latest) > answeredAt(call) ? latest : call),
    undefined,
  );
  if (last) return last.id;
  throw refused('has no turn to go to', 'no call answered yet', {
    next: 'Give it after an answer, or add it to the reward that run() returns',
  });
}

function namedBy(answer: string, { calls, tag, models }: Rewarded): number {
  const isId = typeof answer === 'string' && ANSWER_ID.test(answer);
  const named = isId
    ? calls.find(({ call, hidden }) => !hidden && refOf(answer) === `${tag}_${call.id}`)
    : undefined;
  if (named === undefined) {
    throw refused('names a call that this episode does not have', valueText(answer), {
      allowed: 'the id of an answer of this episode: chatcmpl-…, cmpl-…, resp_… or msg_…',
      next: 'Pass the id of the answer as the client gives it, or leave "call" out to reward the last turn',
    });
  }
  if (!models.includes(named.model)) {
    throw refused('names a call that is not trained', `${answer}, which ${named.model} answered`, {
      allowed: `a call that ${models.join(' or ')} answered`,
    });
  }
  return named.call.id;
}

function refused(
  why: string,
  seen: string,
  more: { readonly allowed?: string; readonly next?: string },
): TurnwiseError {
  return new TurnwiseError('agent-reward', {
    what: `A reward along the way ${why}`,
    seen,
    ...more,
    fields: { origin: 'environment' },
  });
}
