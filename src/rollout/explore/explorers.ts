/** Explorers that a setting names: their episodes are whole, so that every recipe which leaves branching open can learn from them. */

import type { Role } from '../../core/episode.ts';
import { rolloutMctsExplorer } from './mcts-rollouts.ts';
import { programTreeExplorer } from './program-tree.ts';
import { resetToTurnExplorer } from './reset-to-turn.ts';
import type { Explorer } from './tree.ts';

export const explorerNames = ['mcts', 'program-tree', 'reset-to-turn'] as const;
export type ExplorerName = (typeof explorerNames)[number];

/** What the settings say to all of them; each takes what it needs. */
export interface ExplorerOptions {
  readonly width: number;
  readonly exploration: number;
  readonly mixing: number;
}

interface NamedExplorer {
  /** What it does, for help. */
  readonly summary: string;
  readonly open: (options: ExplorerOptions & { readonly role?: Role }) => Explorer;
}

export const explorers: Readonly<Record<ExplorerName, NamedExplorer>> = {
  mcts: {
    summary: 'Monte Carlo tree search, each simulation an episode',
    open: rolloutMctsExplorer,
  },
  'program-tree': {
    summary: 'others go on from turns that earned nothing, first from those whose action was valid',
    open: programTreeExplorer,
  },
  'reset-to-turn': {
    summary: 'each episode is played again from a random turn on, with the same chance',
    open: () => resetToTurnExplorer,
  },
};

/** The explorer that the settings name; undefined where each episode begins at the start. */
export function openExplorer(
  { explorer, width, exploration, mixing }: ExplorerOptions & { readonly explorer: 'none' | ExplorerName },
  role: Role | undefined,
): Explorer | undefined {
  if (explorer === 'none') return undefined;
  return explorers[explorer].open({ width, exploration, mixing, ...(role !== undefined && { role }) });
}
