/**
 * AEPO: as ARPO, but a first episode shows how many others start afresh, and branches are spread over episodes.
 *
 *   of N episodes ⌊N·σ(balance·(H_1 - mean of later H))⌋ + 1 start afresh, at most N
 *   each branch lowers the score of further ones on its episode by the factor 1 - min(1, penalty·branches)
 *
 * Source: arXiv 2510.14545; its repository, whose balance is 0.5 and whose penalty 0.05. Deviations: those of `unsure-places.ts`, and
 * 1. The first episode is one of the N that start afresh or branch; the code plays it beside them.
 * 2. The penalty counts branches of an episode; the paper counts those in a row on it, the code the rounds in a row in which any
 *    episode of the task branched.
 * 3. Scores are compared with `threshold`; in the code they are the chance of a branch, and α is 1 less its branch probability.
 */

import type { Trajectory } from '../../core/trajectory.ts';
import type { Explorer } from './tree.ts';
import { actEntropy, branchesOf, isWhole, trajectoriesOf, type UnsurenessOptions } from './unsure-places.ts';

export interface AepoExplorerOptions extends UnsurenessOptions {
  /** How strongly entropy decides the share that starts afresh; 0 is half. */
  readonly balance: number;
}

/**
 * High entropy at the question asks for fresh episodes, at what comes back for branches.
 *
 * @example
 * defineRecipe({
 *   name: 'mine',
 *   act: () => aepoExplorer({ alpha: 0.5, beta: 0.2, threshold: 0.3, width: 2, balance: 0.5, penalty: 0.05 }),
 * });
 */
export function aepoExplorer({ balance, ...options }: AepoExplorerOptions): Explorer {
  return {
    keeps: isWhole,
    next(tree, rng) {
      const { episodes, members, rounds } = tree;
      if (rounds.length === 0) return [{ from: 'start', members: 1 }];
      const share = balancedShare(balance, trajectoriesOf(episodes.slice(0, 1)));
      const more = Math.min(members, Math.floor(share * members) + 1) - 1;
      if (rounds.length === 1 && more > 0) return [{ from: 'start', members: more }];
      const first = more > 0 ? 2 : 1;
      return rounds.length === first ? branchesOf(tree, options, rng) : 'done';
    },
  };
}

/** σ(balance · (H_1 - mean of later H)). */
export function balancedShare(balance: number, trajectories: readonly Trajectory[]): number {
  const turns = trajectories.flatMap((trajectory) => trajectory.turns);
  const later = trajectories.flatMap((trajectory) => trajectory.turns.slice(1)).map(actEntropy);
  const first = turns[0] ? actEntropy(turns[0]) : 0;
  const mean = later.length === 0 ? first : later.reduce((sum, value) => sum + value, 0) / later.length;
  return 1 / (1 + Math.exp(-balance * (first - mean)));
}
