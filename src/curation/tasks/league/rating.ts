/** Elo ratings, and records of matches between the learner and a member of a league. */

/**
 * The share of points that a player of rating `own` expects against one of rating `other`: 1 for a win, 1/2 for a draw
 * (Elo 1978). 400 points more are ten times the odds.
 *
 * @example
 * expectedScore(1200, 1000); // 0.7597
 */
export function expectedScore(own: number, other: number): number {
  return 1 / (1 + 10 ** ((other - own) / 400));
}

/**
 * Both ratings after a match; what one gains the other loses.
 *
 * @param score points a game of `own`, from 0 to 1
 * @param k the most that a match moves a rating
 *
 * @example
 * rated(1000, 1000, 1, 32); // [1016, 984]
 */
export function rated(
  own: number,
  other: number,
  score: number,
  k: number,
): readonly [own: number, other: number] {
  const gain = k * (score - expectedScore(own, other));
  return [own + gain, other - gain];
}

/** Games against a member and the points from them, older matches weighing less. A type alias: plain JSON. */
export type Played = { readonly games: number; readonly points: number };

/** The record after a match of `games` that won `points`. @param decay what the matches before it still weigh */
export function withMatch(before: Played, match: Played, decay: number): Played {
  return {
    games: decay * before.games + match.games,
    points: decay * before.points + match.points,
  };
}

/** Points a game; 1/2 before the first. */
export const winRate = ({ games, points }: Played): number => (games > 0 ? points / games : 0.5);
