/** The best pull in two-armed Bernoulli bandits whose chances were drawn uniformly, by dynamic programming over what was seen. */

export interface Seen {
  readonly wins: readonly number[];
  readonly losses: readonly number[];
}

const values = new Map<string, number>();

/** The expected wins of all pulls that are left, where the next one is of this arm and all later ones are best. */
export function bestPull({ wins, losses }: Seen, pulls: number): readonly number[] {
  return wins.map((won, arm) => {
    const chance = (won + 1) / (won + losses[arm]! + 2);
    const one = (counts: readonly number[]) => counts.map((count, index) => count + (index === arm ? 1 : 0));
    const afterWin = valueOfBest({ wins: one(wins), losses }, pulls);
    const afterLoss = valueOfBest({ wins, losses: one(losses) }, pulls);
    return chance * (1 + afterWin) + (1 - chance) * afterLoss;
  });
}

/** The expected wins of all pulls that are left. */
export function valueOfBest(seen: Seen, pulls: number): number {
  const used = [...seen.wins, ...seen.losses].reduce((sum, count) => sum + count, 0);
  if (used >= pulls) return 0;
  const key = `${pulls - used} ${seen.wins.join()} ${seen.losses.join()}`;
  let value = values.get(key);
  if (value === undefined) {
    value = Math.max(...bestPull(seen, pulls));
    values.set(key, value);
  }
  return value;
}
