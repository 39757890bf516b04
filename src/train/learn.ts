/** How a recipe learns: the contract between the loop, which plays and keeps, and what turns episodes into weights. */

import type { EpisodeKey, Role } from '../core/episode.ts';
import type { RoleGroup } from '../core/trajectory.ts';
import type { CreditState } from '../credit/rollouts.ts';
import type { Metrics } from './events.ts';
import type { Learner } from './learner.ts';
import type { Credited } from './stored-credit.ts';

/** One role of an episode that is kept to be learned from again, by its key: the store has it. Plain JSON. */
export type Kept = {
  readonly episode: EpisodeKey;
  readonly role: Role;
  /** Its advantage when it was played, for methods that replay by it. */
  readonly advantage?: number;
};

/** What a way of learning remembers from step to step; plain JSON. */
export interface Memory {
  readonly creditState: CreditState;
  /** Oldest first. Where a run plays no episodes, the recorded ones that it learns from. */
  readonly replay: readonly Kept[];
}

/** Which step this is, of so many over which learning rates decay. */
export interface Moment {
  readonly step: number;
  readonly planned: number;
}

export interface Update {
  readonly metrics: Metrics;
  /** The credit of each trajectory, for the stored rollouts; absent where the recipe learns without. */
  readonly credited?: ReadonlyMap<string, Credited>;
  readonly memory: Memory;
  readonly trainedTokens: number;
  /** Optimizer steps taken; 0 when there was nothing to learn from. */
  readonly updates: number;
  /** Why there was nothing to learn from; ends the sentence "No update was made, because". */
  readonly why?: string;
}

/** Learn from the usable groups of one step, and from what is remembered. */
export type Learn = (
  learner: Learner,
  groups: readonly RoleGroup[],
  moment: Moment,
  memory: Memory,
) => Promise<Update>;
