/** One equilibrium of Kuhn poker in closed form: the member a = 1/3 of the family of Kuhn (1950). */

import type { Action, Card } from './game.ts';

/** How often the first seat bets with J. Equilibria exist for every value from 0 to 1/3. */
const BLUFF = 1 / 3;

/** Probability of putting a chip in (bet, or call after a bet); no bet by the first seat with Q, three bluffs' worth with K. */
const OPEN: Readonly<Record<Card, number>> = { J: BLUFF, Q: 0, K: 3 * BLUFF };
const ANSWER_CHECK: Readonly<Record<Card, number>> = { J: 1 / 3, Q: 0, K: 1 };
const ANSWER_BET: Readonly<Record<Card, number>> = { J: 0, Q: 1 / 3, K: 1 };
const ANSWER_BET_AFTER_CHECK: Readonly<Record<Card, number>> = { J: 0, Q: BLUFF + 1 / 3, K: 1 };

/** The action that puts a chip in, and the probability with which the equilibrium takes it. */
export function equilibriumPolicy(
  card: Card,
  history: readonly Action[],
): { readonly action: Action; readonly probability: number } {
  if (history.length === 0) return { action: 'bet', probability: OPEN[card] };
  if (history.length === 2) return { action: 'call', probability: ANSWER_BET_AFTER_CHECK[card] };
  return history[0] === 'bet'
    ? { action: 'call', probability: ANSWER_BET[card] }
    : { action: 'bet', probability: ANSWER_CHECK[card] };
}
