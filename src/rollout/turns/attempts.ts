/** Controls that open a task again: each attempt has the usual turns. */

import type { TurnDecision, TurnView } from './turn-control.ts';
import { turnsTaken } from './turns-taken.ts';

/** The attempt that the latest turn belongs to, from 0. */
export const attemptOf = ({ transitions }: Pick<TurnView, 'transitions'>): number =>
  transitions.at(-1)?.attempt ?? 0;

/** Whether an attempt is over: the environment ended it, or the role used up its share of the episode's turns. */
export function isOver(
  { role, calls, transitions, limit }: Pick<TurnView, 'role' | 'calls' | 'transitions' | 'limit'>,
  done: boolean,
  attempts: number,
): boolean {
  const attempt = attemptOf({ transitions });
  const earlier = transitions.findLast((one) => (one.attempt ?? 0) < attempt)?.call ?? -1;
  const own = {
    calls: calls.filter(({ id }) => id > earlier),
    transitions: transitions.filter((one) => (one.attempt ?? 0) === attempt),
  };
  return done || turnsTaken(role, own) >= Math.ceil(limit / attempts);
}

/** What comes after the last attempt: what others left of the episode's turns is not for it. */
export const afterLast = (done: boolean): TurnDecision => (done ? 'go on' : { stop: 'turn-limit' });
