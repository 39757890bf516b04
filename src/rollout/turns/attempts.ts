/** Controls that open a task again: each attempt has the usual turns. */

import type { Transition } from '../../core/episode.ts';
import type { TurnView } from './turn-control.ts';

/** The attempt that the latest turn belongs to, from 0. */
export const attemptOf = ({ transitions }: Pick<TurnView, 'transitions'>): number =>
  transitions.at(-1)?.attempt ?? 0;

/** Whether an attempt is over: the environment ended it, or the role used up its share of the episode's turns. */
export function isOver(
  { role, transitions, limit }: Pick<TurnView, 'role' | 'transitions' | 'limit'>,
  done: boolean,
  attempts: number,
): boolean {
  const attempt = attemptOf({ transitions });
  const isOwn = (own: Transition): boolean => own.role === role && (own.attempt ?? 0) === attempt;
  return done || transitions.filter(isOwn).length >= Math.ceil(limit / attempts);
}
