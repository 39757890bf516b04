/** What the engine says of the episodes of a step before anything is learned from them, for credit and for the loss. */

import { scoredRows } from '../../engine/token-batch.ts';
import { klRewards } from '../../objective/regularizer/kl-reward.ts';
import { builtIns, type Catalogue } from '../config/catalogue.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Candidate, SampleScores } from './batch.ts';
import type { Learner } from './learner.ts';
import { findPolicyLoss } from './policy-objective.ts';

/** Per candidate, what its credit method and the loss need: values, entropies, log-probabilities, the price of divergence. */
export async function scoreEpisodes(
  {
    config,
    engine,
    recipe,
    catalogue = builtIns,
  }: Pick<Learner, 'config' | 'engine' | 'recipe'> & Partial<Pick<Learner, 'catalogue'>>,
  candidates: readonly Candidate[],
): Promise<SampleScores[]> {
  const values = recipe.critic;
  const entropies =
    config.objective.entropySmoothing > 0 ||
    catalogue.credit.find(config.credit.method).needs.includes('turns[].entropies');
  const logprobs = correctsMismatch(config, catalogue);
  const divergence = klInRewards(config);
  if (!values && !entropies && !logprobs && !divergence) return [];
  const rows = scoredRows(candidates.flatMap(({ samples }) => samples));
  const { temperature } = config.rollout;
  const scored = await engine.score(rows, { temperature, values, entropies });
  const reference = divergence
    ? (await engine.score(rows, { temperature, frozen: true })).logprobs
    : undefined;
  let next = 0;
  return candidates.map(({ samples }) => {
    const first = next;
    next += samples.length;
    return {
      ...(values && { values: scored.values!.slice(first, next) }),
      ...(entropies && { entropies: scored.entropies!.slice(first, next) }),
      ...(logprobs && { logprobs: scored.logprobs.slice(first, next) }),
      ...(reference && {
        bonuses: samples.map(({ logprobs_T }, index) =>
          Float32Array.from(klRewards(logprobs_T, reference[first + index]!, config.objective.klCoefficient)),
        ),
      }),
    };
  });
}

/** Whether the loss corrects for a sampler that differs from the trainer, and so needs log-probabilities of both. */
export function correctsMismatch(
  { objective: { name } }: TrainConfig,
  catalogue: Catalogue = builtIns,
): boolean {
  return findPolicyLoss(name, catalogue).description.policyLoss?.trainerLogprobs ?? false;
}

/** Whether the divergence from the warm start is paid for in the rewards, not in the loss. */
export function klInRewards({ objective: { klCoefficient, klEstimator } }: TrainConfig): boolean {
  return klCoefficient > 0 && klEstimator === 'k1';
}
