/**
 * ARPO: a share of the episodes starts afresh, the others branch off these where the policy was unsure.
 *
 * Source: arXiv 2507.19849. Deviations: see `unsure-places.ts`.
 */

import type { Explorer } from './tree.ts';
import { branchesOf, freshMembers, isWhole, type UnsurenessOptions } from './unsure-places.ts';

export interface ArpoExplorerOptions extends Omit<UnsurenessOptions, 'penalty'> {
  /** Share of a group's episodes that start afresh. */
  readonly initial: number;
}

/**
 * Half of a group, or another share, branches off the others.
 *
 * @example
 * defineRecipe({ name: 'mine', act: () => arpoExplorer({ initial: 0.5, alpha: 0.5, beta: 0.2, threshold: 0.5, width: 2 }) });
 */
export function arpoExplorer(options: ArpoExplorerOptions): Explorer {
  const { initial, alpha, beta, threshold, width } = options;
  return {
    keeps: isWhole,
    next(tree, rng) {
      if (tree.rounds.length === 0) return [{ from: 'start', members: freshMembers(initial, tree.members) }];
      return tree.rounds.length === 1 ? branchesOf(tree, { alpha, beta, threshold, width }, rng) : 'done';
    },
  };
}
