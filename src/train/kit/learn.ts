/** How a recipe learns: the contract between the loop, which plays and keeps, and what turns episodes into weights. */

import type { EpisodeKey, Role } from '../../core/episode.ts';
import type { Json } from '../../core/json/json.ts';
import type { RoleGroup } from '../../core/trajectory.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Metrics } from '../loop/events.ts';
import type { Trainer } from './trainer.ts';

/** One role of an episode that is kept to be learned from again, by its key: the store has it. Plain JSON. */
export type Kept = {
  readonly episode: EpisodeKey;
  readonly role: Role;
  /** Its advantage when it was played, for methods that replay by it. */
  readonly advantage?: number;
};

/** Which step this is, counted from 1, of how many over which schedules run, and what the recipe remembers. */
export interface At<M extends Json = Json> {
  readonly step: number;
  /** Of the step, from 0: with `batches.parts` above 1 a recipe learns from one part after another. */
  readonly part: number;
  readonly planned: number;
  readonly memory: M;
}

/** What a step leaves behind. Weights, credit and the figures of its updates are with the trainer. */
export interface Learned<M extends Json = Json> {
  /** For the next step; in every checkpoint. */
  readonly memory: M;
  /** The recipe's own figures, by path: `replay/episodes`. */
  readonly metrics?: Metrics;
  /** Episodes that later steps may `recall`: the run stores them, whatever else it stores. */
  readonly keep?: readonly Kept[];
  /** Why there may be nothing to learn from; ends the sentence "No update was made, because". */
  readonly why?: string;
}

/** Learns from the usable groups of one step, and from what is remembered. */
export type LearnStep<M extends Json = Json> = (
  trainer: Trainer,
  groups: readonly RoleGroup[],
  at: At<M>,
) => Promise<Learned<M>>;

/** A way of learning: with the settings of a run it is a step of learning. */
export type Learn<O = TrainConfig, M extends Json = Json> = (options: O) => LearnStep<M>;

/** A way of learning whose memory, and whose further settings, only it knows. A run gives it back what it left. */
export function learning<M extends Json, O = TrainConfig>(learn: Learn<O, M>): Learn {
  return learn as unknown as Learn;
}
