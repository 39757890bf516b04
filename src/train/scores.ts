/** What the engine says of the episodes of a step before anything is learned from them, for credit and for the loss. */

import { findCreditMethod } from '../credit/methods.ts';
import type { TokenRow } from '../engine/engine.ts';
import { klRewards } from '../objective/kl-reward.ts';
import { findObjective } from '../objective/objectives.ts';
import type { Candidate, SampleScores } from './batch.ts';
import type { TrainConfig } from './config.ts';
import type { Learner } from './learner.ts';

/** Per candidate, what its credit method and the loss need: values, entropies, log-probabilities, the price of divergence. */
export async function scoreEpisodes(
  { config, engine, recipe }: Pick<Learner, 'config' | 'engine' | 'recipe'>,
  candidates: readonly Candidate[],
): Promise<SampleScores[]> {
  const values = recipe.critic;
  const entropies =
    config.objective.entropySmoothing > 0 ||
    findCreditMethod(config.credit.method).needs.includes('turns[].entropies');
  const logprobs = correctsMismatch(config);
  const divergence = klInRewards(config);
  if (!values && !entropies && !logprobs && !divergence) return [];
  const rows = candidates.flatMap(({ samples }) => samples.map(({ ids_T }) => bareRow(ids_T)));
  const { temperature } = config.rollout;
  const scored = await engine.score({ rows }, { temperature, values, entropies });
  const reference = divergence
    ? (await engine.score({ rows }, { temperature, frozen: true })).logprobs
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
export function correctsMismatch({ objective: { name } }: TrainConfig): boolean {
  return findObjective(name).description.policyLoss?.trainerLogprobs ?? false;
}

/** Whether the divergence from the warm start is paid for in the rewards, not in the loss. */
export function klInRewards({ objective: { klCoefficient, klEstimator } }: TrainConfig): boolean {
  return klCoefficient > 0 && klEstimator === 'k1';
}

export const bareRow = (ids_T: Int32Array): TokenRow => ({ ids_T, channels: {} });
