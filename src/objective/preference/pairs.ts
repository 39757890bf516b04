/** How preference pairs are chosen: by reward against an expert (ETO), and by mixed values of search nodes (Agent Q). */

/**
 * ETO: the trajectory with the lower reward loses, ties make no pair. Source: arXiv 2403.02502, construct_preference.py.
 * @returns which of the two is preferred
 */
export function etoPair(agentReward: number, expertReward: number): 'agent' | 'expert' | undefined {
  if (agentReward === expertReward) return undefined;
  return agentReward > expertReward ? 'agent' : 'expert';
}

/** An action tried at a node of a search tree. */
export interface SearchAction {
  /** Mean outcome of the search below it; absent where it was never visited. */
  readonly searched?: number;
  /** The critic's opinion, in (0, 1]. */
  readonly ranked: number;
}

export interface AgentQOptions {
  /** Share of the searched value in the mixed one. */
  readonly mixing: number;
  /** Least difference of two values that makes a pair. */
  readonly threshold: number;
}

/** Agent Q, arXiv 2408.07199: Q = α·searched + (1 - α)·ranked; an action that was not visited has only its rank. */
export function mixedValue({ searched, ranked }: SearchAction, mixing = 0.5): number {
  return searched === undefined ? ranked : mixing * searched + (1 - mixing) * ranked;
}

/** All pairs of siblings whose values differ by more than the threshold, as indices, the better first. */
export function agentQPairs(
  actions: readonly SearchAction[],
  { mixing, threshold }: AgentQOptions,
): (readonly [number, number])[] {
  const values = actions.map((action) => mixedValue(action, mixing));
  return values.flatMap((a, i) =>
    values.flatMap((b, j) =>
      j > i && Math.abs(a - b) > threshold ? [a > b ? ([i, j] as const) : ([j, i] as const)] : [],
    ),
  );
}
