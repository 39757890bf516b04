/** A turn is an act, whether the environment took it or the context of the role answered it, as a call of its own tool. */

import type { Call, Role } from '../../core/episode.ts';
import type { Chain } from '../../core/trajectory.ts';
import type { TurnView } from './turn-control.ts';

/** The limit of an episode counts the same turns. */
export function turnsTaken(role: Role, chain: Chain): number {
  return chain.transitions.filter((one) => one.role === role).length + answeredActs(role, chain).length;
}

/** Turns that had been taken when a control was asked before this. It is not asked after acts that the context answers. */
export function turnsBefore(view: TurnView): number {
  return turnsAt(view, -2) - 1;
}

/** The same where a script is asked for the next act. */
export function turnsSoFar(view: TurnView): number {
  return turnsAt(view, -1);
}

function turnsAt({ role, calls, transitions, turn }: TurnView, index: number): number {
  const act = transitions.filter((one) => one.role === role).at(index)?.call ?? -1;
  return turn - answeredActs(role, { calls, transitions }).filter(({ id }) => id > act).length;
}

function answeredActs(role: Role, { calls, transitions }: Chain): readonly Call[] {
  const taken = new Set(transitions.map(({ call }) => call));
  return calls.filter((call) => call.role === role && call.purpose === 'act' && !taken.has(call.id));
}
