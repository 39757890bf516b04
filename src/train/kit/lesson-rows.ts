/**
 * The rows of one optimizer step on fresh samples, and what it divides by. That is said here once, for every recipe that
 * learns from the episodes of the step.
 *
 * 1. The denominator is of all samples of the step: every token that the policy sampled in them counts, whatever its advantage.
 *    Which other terms the loss has does not change it.
 * 2. Rows whose advantages are all zero have no policy gradient, so they skip the pass where nothing else is learned from
 *    them. Their tokens are in the denominator all the same.
 */

import type { TokenRow } from '../../engine/token-batch.ts';
import type { Objective } from '../../objective/contract/objective.ts';
import { type CreditedSample, trainingRows } from './batch.ts';
import type { Learner } from './learner.ts';
import { klInRewards } from './scores.ts';

type Settled = Pick<Learner, 'config' | 'recipe'>;

/** Whether something is learned from tokens without an advantage: their value, their entropy, their distance from a reference. */
export function everyTokenTeaches({ config, recipe }: Settled): boolean {
  const { entropyCoefficient, klCoefficient } = config.objective;
  return recipe.critic || entropyCoefficient > 0 || (klCoefficient > 0 && !klInRewards(config));
}

/** Whether the sample is in the pass. An objective that looks at the whole step sees all of it. */
export function isPassed(learner: Settled, { live }: CreditedSample, objective: Objective): boolean {
  return live || everyTokenTeaches(learner) || objective.prepare !== undefined;
}

/** The rows that are passed; none where none of the samples has anything to teach. */
export function lessonRows(
  learner: Learner,
  part: readonly CreditedSample[],
  objective: Objective,
  referenceLogprobs?: readonly Float32Array[],
): TokenRow[] {
  if (!everyTokenTeaches(learner) && !part.some(({ live }) => live)) return [];
  const { aggregation } = learner.config.objective;
  const rows = trainingRows(part, aggregation, {
    ...(aggregation === 'sequence-sum-constant' && { constant: constantOf(learner) }),
    ...(referenceLogprobs && { referenceLogprobs }),
  });
  return rows.filter((_, index) => isPassed(learner, part[index]!, objective));
}

/** What `sequence-sum-constant` divides a row by: as many tokens as an episode may sample, unless it is set. */
function constantOf({ config, world, renderer }: Learner): number {
  const { maxTurns } = config.rollout;
  return config.objective.constant || (maxTurns || world.maxTurns) * renderer.maxTurnTokens;
}
