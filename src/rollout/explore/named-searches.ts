/** Searches of evaluations that a name stands for: what is played for each task, and which episode of it counts. */

import type { Episode, Role } from '../../core/episode.ts';
import { isTrainable } from '../../core/stop.ts';
import { bestOfNExplorer, bestOfTurns } from './best-of-n.ts';
import { rolloutMctsExplorer } from './mcts-rollouts.ts';
import type { Search } from './searched.ts';
import type { EpisodeTree, Explorer } from './tree.ts';

export const searchNames = ['best-of-turns', 'best-of', 'mcts'] as const;
export type SearchName = (typeof searchNames)[number];

/** How much is searched. */
export interface SearchSize {
  /** Actions that are tried at a turn. */
  readonly width: number;
  /** Whole episodes of a task. */
  readonly episodes: number;
}

export interface NamedSearch {
  /** What it does, for help. */
  readonly summary: string;
  /** The sizes that it has. */
  readonly reads: readonly (keyof SearchSize)[];
  /** Whether it chooses by how episodes ended: then its success is that of whoever knows the outcome, an upper bound. */
  readonly knowsOutcomes: boolean;
  /** Whether its episodes go on from places of others. */
  readonly branches: boolean;
  readonly open: (size: SearchSize, role: Role) => Omit<Search, 'valuesOf'>;
}

export const searches: Readonly<Record<SearchName, NamedSearch>> = {
  'best-of-turns': {
    summary:
      'in every turn the best of some actions, by rewards so far and the critic of the recipe, if it has one',
    reads: ['width'],
    knowsOutcomes: false,
    branches: true,
    open: ({ width }, role) => ({
      explorer: bestOfNExplorer({ width, role }),
      choose: (tree) => bestOfTurns(tree, role),
    }),
  },
  'best-of': {
    summary: 'the best of some whole episodes, by their outcomes',
    reads: ['episodes'],
    knowsOutcomes: true,
    branches: false,
    open: ({ episodes }, role) => ({
      explorer: wholeEpisodes,
      members: episodes,
      choose: (tree) => bestOutcome(tree, role),
    }),
  },
  mcts: {
    summary: 'Monte Carlo tree search of whole episodes, the best by their outcomes',
    reads: ['width', 'episodes'],
    knowsOutcomes: true,
    branches: true,
    open: ({ width, episodes }, role) => ({
      explorer: rolloutMctsExplorer({ width, exploration: 1, mixing: 0.5, role }),
      members: episodes,
      choose: (tree) => bestOutcome(tree, role),
    }),
  },
};

const wholeEpisodes: Explorer = {
  keeps: () => false,
  next: ({ rounds, members }) => (rounds.length === 0 ? [{ from: 'start', members }] : 'done'),
};

/** The episode that earned most, the first of equal ones; undefined where all failed. */
function bestOutcome({ episodes }: Pick<EpisodeTree, 'episodes'>, role: Role): Episode | undefined {
  return episodes
    .filter(({ stop }) => isTrainable(stop))
    .reduce<Episode | undefined>(
      (best, one) =>
        best === undefined || (one.outcome[role] ?? 0) > (best.outcome[role] ?? 0) ? one : best,
      undefined,
    );
}
