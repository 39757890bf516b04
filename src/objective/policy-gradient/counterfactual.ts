/**
 * EARL's counterfactual policy optimisation: a rollout is repeated with one action forced, and the forced continuation
 * learns from how much better or worse it ended.
 *
 *   advantage of the counterfactual's tokens, from the forced one on = its reward - reward of the factual rollout
 *   loss = PPO clip with these advantages, and those of credit on all other rows
 *
 * Source: arXiv 2510.07581.
 * 1. Written after the paper's abstract and accounts of it, since neither its text nor its code was at hand: the choice of
 *    the forced position is the rollout's, and the clip is PPO's.
 * 2. Rows of a counterfactual have weight 0 before the forced token: the prefix is the factual rollout's.
 */

import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import type { StepView } from '../contract/objective.ts';
import { finiteInput } from '../contract/step-input.ts';
import { ppoClip, ppoClipOptions } from './ppo-clip.ts';

/** Advantages of all targets, those of counterfactuals (the first of each pair) by the difference of rewards. */
export function counterfactualAdvantages({
  row_N,
  channels,
  sequences,
  pairs,
}: Pick<StepView, 'row_N' | 'channels' | 'sequences' | 'pairs'>): Float32Array {
  const differences = new Map<number, number>();
  for (const [counterfactual, factual] of pairs) {
    const [changed, original] = [sequences[counterfactual]!, sequences[factual]!];
    const difference = finiteInput(changed.reward - original.reward, 'a difference of rewards');
    for (const row of changed.rows) differences.set(row, difference);
  }
  return channels.advantages!.map((advantage, target) => differences.get(row_N[target]!) ?? advantage);
}

/** Reads `oldLogprobs`, `advantages` (of the rows that are in no pair's first place) and pairs. Metrics as `ppo-clip`. */
export const counterfactual: ObjectiveMethod<typeof ppoClipOptions> = defineObjective(
  {
    name: 'counterfactual',
    title: 'Counterfactual policy optimisation (EARL)',
    summary: 'teaches a forced action by how the rollout would have ended without it',
    formula: "Σ w ℓ_ppo with A = R' - R on the tokens of the counterfactual",
    source: 'arXiv 2510.07581',
    family: 'policy',
  },
  ppoClipOptions,
  (options) => ({
    ...ppoClip(options),
    needs: { ...ppoClip(options).needs, pairs: true },
    prepare: (step) => ({ channels: { advantages: counterfactualAdvantages(step) } }),
  }),
);
