/** Rewards of pairs on a common scale, for losses that regress log-ratios on differences of rewards. */

import type { Example, Side } from './preferences.ts';

/** Below this all differences are taken for none. */
const SMALLEST = 1e-6;

/**
 * The same pairs with rewards divided by the root mean square of the differences within pairs: a typical difference is 1,
 * whether returns are of 0 to 1 or of tens. Where no pair differs they are left as they are.
 */
export function scaledPairs(pairs: readonly Example[]): readonly Example[] {
  const differences = pairs.map(([first, second]) => first.reward - (second?.reward ?? first.reward));
  const squares = differences.reduce((sum, difference) => sum + difference ** 2, 0);
  const typical = Math.sqrt(squares / Math.max(1, pairs.length));
  if (!(typical > SMALLEST)) return pairs;
  const scaled = ({ rows, reward }: Side): Side => ({ rows, reward: reward / typical });
  return pairs.map((pair) => pair.map(scaled) as unknown as Example);
}
