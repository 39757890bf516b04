/** Prioritised fictitious self-play: how often each member of a league is met, by how often it is beaten. */

/** From win rates of the learner to weights, each at least 0. */
export type Weighting = (winRates: readonly number[]) => readonly number[];

/** Names of the built-in weightings. */
export const WEIGHTINGS = ['hard', 'even', 'uniform'] as const;

/**
 * The shares of games that members get (Vinyals et al. 2019, "Grandmaster level in StarCraft II", eq. of prioritised fictitious
 * self-play): `hard` weighs (1 − x)^power, so that nobody is met who is always beaten; `even` weighs x(1 − x), so that the
 * most is met who is as strong; `uniform` is fictitious self-play. Where all weights are 0, every member is as likely.
 *
 * @param winRates the learner's against each member, from 0 to 1
 *
 * @example
 * fictitiousShares([0.5, 0.75, 1], 'hard', 2); // [0.8, 0.2, 0]
 * fictitiousShares([0.5, 0.75, 1], 'even', 2); // [0.5714, 0.4286, 0]
 */
export function fictitiousShares(
  winRates: readonly number[],
  weighting: (typeof WEIGHTINGS)[number],
  power: number,
): readonly number[] {
  return sharesOf(
    winRates.map((rate) => {
      if (weighting === 'hard') return (1 - rate) ** power;
      return weighting === 'even' ? rate * (1 - rate) : 1;
    }),
  );
}

/** Weights as shares of their sum; equal ones where nothing is weighed. */
export function sharesOf(weights: readonly number[]): readonly number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => (total > 1e-10 ? weight / total : 1 / weights.length));
}

/**
 * The place whose share of the whole contains `at`.
 *
 * @param at from 0 to 1, 1 excluded
 */
export function placeAt(shares: readonly number[], at: number): number {
  let sum = 0;
  for (const [place, share] of shares.entries()) {
    sum += share;
    if (at < sum) return place;
  }
  // Shares may add up to a little less than 1. Whoever has none is not drawn for that.
  return shares.findLastIndex((share) => share > 0);
}
