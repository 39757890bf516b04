/** Generalised advantage estimation over sampled tokens, skipping observations. */

import { z } from 'zod';
import { TurnwiseError } from '../../../core/errors.ts';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { creditTokens, flatTokens, tokenRewards, tokenStarts, whitenTokens } from '../../kit/tokens.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';

export const gae: CreditMethod = defineCreditMethod(
  {
    name: 'gae',
    aliases: ['token-gae'],
    title: 'Token-level GAE',
    summary: 'token advantages from a value head, skipping observations',
    formula: `δ_t = r_t + γ·V_{t+1} - V_t,   A_t = δ_t + γλ·A_{t+1},   return_t = A_t + V_t
t runs over sampled tokens only, V_t is the value of the prefix before token t, and nothing follows the last
λ = 1 − 1 / (lengthAlpha · tokens of the episode)   where lengthAlpha is above 0, and at least 0
return_t = A'_t + V_t, A' as A with λ = 1   where decoupled`,
    source:
      '"High-Dimensional Continuous Control Using Generalized Advantage Estimation", arXiv 1506.02438; skipping, as multi-turn implementations do, makes the last token of a turn look at the first token of the next',
    deviations: [
      'Episodes cut short are treated as ended: no value is bootstrapped after the last token.',
      'Returns are taken before whitening. A batch of a single token is whitened to 0.',
      'Decoupled and length-adaptive λ come from VAPO, arXiv 2504.05118, and UI-TARS-2, arXiv 2509.02544, which set lengthAlpha to 0.05.',
      'Decoupled, the steps of objective.valueWarmup are the value pretraining of both: the policy stands still while the head learns returns to the end.',
    ],
    level: 'token',
    critic: true,
    wholeSteps: true,
    needs: ['turns[].values'],
  },
  z.strictObject({
    gamma: z.number().min(0).max(1).default(1).describe('Discount per sampled token.'),
    lambda: z
      .number()
      .min(0)
      .max(1)
      .default(0.95)
      .describe('Trust in rewards over values: 1 uses rewards to the end, 0 only the next value.'),
    lengthAlpha: z
      .number()
      .min(0)
      .default(0)
      .describe('λ of advantages grows with the episode, 1 − 1 / (lengthAlpha · its tokens); 0 is off.'),
    decoupled: z
      .boolean()
      .default(false)
      .describe('Whether the value head learns returns to the end (λ = 1), whatever the λ of advantages.'),
    whiten: z
      .boolean()
      .default(true)
      .describe('Whether to bring the advantages of the batch to mean 0 and variance 1, over tokens.'),
  }),
  ({ gamma, lambda, lengthAlpha, decoupled, whiten }) =>
    (trajectories, state) => {
      const starts = tokenStarts(trajectories);
      const rewards = tokenRewards(trajectories, starts);
      const values = tokenValues('gae', trajectories, starts);
      const estimates = (lambdaOf: (tokens: number) => number): Float64Array => {
        const advantages = new Float64Array(rewards.length);
        for (let index = 0; index < trajectories.length; index++) {
          const [start, end] = [starts[index]!, starts[index + 1]!];
          estimateAdvantages(rewards, values, advantages, start, end, gamma, lambdaOf(end - start));
        }
        return advantages;
      };
      const raw = estimates((tokens) =>
        lengthAlpha > 0 ? Math.max(0, 1 - 1 / (lengthAlpha * tokens)) : lambda,
      );
      const towards = decoupled ? estimates(() => 1) : raw;
      const returns = addArrays(towards, values);
      if (whiten) whitenTokens(raw);
      return { credits: creditTokens(trajectories, raw, returns), state };
    },
);

/**
 * Writes to `advantages`, from `start` to `end`, those of consecutive tokens: δ = r + γ·V' - V, A = δ + γλ·A',
 * with nothing after the last.
 */
function estimateAdvantages(
  rewards: Float64Array,
  values: Float64Array,
  advantages: Float64Array,
  start: number,
  end: number,
  gamma: number,
  lambda: number,
): void {
  let nextValue = 0;
  let nextAdvantage = 0;
  for (let t = end - 1; t >= start; t--) {
    const delta = rewards[t]! + gamma * nextValue - values[t]!;
    nextAdvantage = delta + gamma * lambda * nextAdvantage;
    nextValue = values[t]!;
    advantages[t] = nextAdvantage;
  }
}

/** Value of the prefix before each sampled token of the batch. */
export function tokenValues(
  method: string,
  trajectories: readonly CreditTrajectory[],
  starts: Int32Array,
): Float64Array {
  const valuesOf = ({ id, turns }: CreditTrajectory, k: number): readonly number[] => {
    const { values = [], tokens } = turns[k]!;
    if (values.length === tokens) return values;
    throw new TurnwiseError('credit-needs-values', {
      what: `${method} needs one value for each sampled token, and turns[${k}] of trajectory "${id}" has ${tokens} of them`,
      seen: `${values.length} values`,
      next: 'Score the tokens with a value head and pass them as turns[].values, or use a method without a critic',
      fields: { trajectory: id, turn: k },
    });
  };
  return flatTokens(trajectories, valuesOf, starts);
}

export function addArrays(left: Float64Array, right: Float64Array): Float64Array {
  const sum = new Float64Array(left.length);
  for (let index = 0; index < sum.length; index++) sum[index] = left[index]! + right[index]!;
  return sum;
}
