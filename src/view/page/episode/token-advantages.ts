/** The advantage of each token of a call: that of its turn, unless the method tells tokens apart. */

import type { CreditAnswer, ShownCall, ShownEpisode } from '../../shapes.ts';

export function tokenAdvantages(
  { turns, calls }: Pick<ShownEpisode, 'turns' | 'calls'>,
  call: Pick<ShownCall, 'id' | 'role' | 'tokens' | 'trainable'>,
  turn: number,
  credit: CreditAnswer | undefined,
  member: number,
): (number | undefined)[] {
  if (call.trainable !== true) return new Array<undefined>(call.tokens).fill(undefined);
  const its = turns[turn]!;
  const order = turns.slice(0, turn).filter(({ role }) => role === its.role).length;
  const computed = credit?.members.find((one) => one.member === member && one.role === its.role)?.turns[
    order
  ];
  const ofTurn = credit ? computed?.advantage : (its.advantage ?? undefined);
  const ofTokens = credit ? computed?.tokens : its.advantages;
  const before = its.calls
    .slice(0, its.calls.indexOf(call.id))
    .map((id) => calls.find((one) => one.id === id))
    .reduce((sum, one) => sum + (one?.trainable === true ? one.tokens : 0), 0);
  return Array.from({ length: call.tokens }, (_, index) => (ofTokens ? ofTokens[before + index] : ofTurn));
}
