/** Facts about turns that a recipe finds out by itself, before credit: how likely the policy found the truth, what twins earned. */

import type { TurnFacts } from '../../core/facts.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import type { CreditField } from '../../credit/report/fields.ts';
import type { Metrics } from '../loop/events.ts';
import type { Trainer } from './trainer.ts';

/**
 * What a recipe finds out about the turns of a step. The facts are stored with the credit, which can be computed again.
 *
 * @example
 * // The longer the completion, the less of the outcome the turn is credited with.
 * const brevity: FoundFacts = {
 *   fields: ['turns[].progress'],
 *   find: async (_trainer, trajectories) =>
 *     trajectories.map(({ turns }) => turns.map(({ calls }) => ({ progress: 1 / (1 + (calls.at(-1)?.ids.length ?? 0)) }))),
 * };
 */
export interface FoundFacts {
  /** Fields of the rollout file that it fills in, so that the environment need not. */
  readonly fields: readonly CreditField[];
  /**
   * Asked once, when the credit of a step is computed.
   *
   * @param trajectories all that are compared
   * @returns for each trajectory the facts of each of its turns
   */
  find(trainer: Trainer, trajectories: readonly Trajectory[]): Promise<readonly (readonly TurnFacts[])[]>;
  /** Figures of a step about these facts, by path. */
  figures?(facts_IK: readonly (readonly TurnFacts[])[]): Metrics;
}
