/** Generalised advantage estimation over sampled tokens, skipping observations. */

import { z } from 'zod';
import { TurnwiseError } from '../core/errors.ts';
import { type CreditMethod, creditMethod } from './method.ts';
import type { CreditTrajectory } from './rollouts.ts';
import { creditTokens, tokenRewards, whitenTokens } from './tokens.ts';

export const gae: CreditMethod = creditMethod(
  {
    name: 'gae',
    aliases: ['token-gae'],
    title: 'Token-level GAE',
    summary: 'token advantages from a value head, skipping observations',
    formula: `δ_t = r_t + γ·V_{t+1} - V_t,   A_t = δ_t + γλ·A_{t+1},   return_t = A_t + V_t
t runs over sampled tokens only, V_t is the value of the prefix before token t, and nothing follows the last`,
    source:
      '"High-Dimensional Continuous Control Using Generalized Advantage Estimation", arXiv 1506.02438; skipping, as multi-turn implementations do, makes the last token of a turn look at the first token of the next',
    deviations: [
      'Episodes cut short are treated as ended: no value is bootstrapped after the last token.',
      'Returns are taken before whitening. A batch of a single token is whitened to 0.',
    ],
    level: 'token',
    critic: true,
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
    whiten: z
      .boolean()
      .default(true)
      .describe('Whether to bring the advantages of the batch to mean 0 and variance 1, over tokens.'),
  }),
  ({ gamma, lambda, whiten }) =>
    (trajectories, state) => {
      const values = trajectories.map((trajectory) => tokenValues('gae', trajectory));
      const raw = trajectories.map((trajectory, index) =>
        advantageEstimates(tokenRewards(trajectory), values[index]!, gamma, lambda),
      );
      const advantages = whiten ? whitenTokens(raw) : raw;
      const credits = trajectories.map((trajectory, index) => {
        const returns_T = raw[index]!.map((advantage, t) => advantage + values[index]![t]!);
        return creditTokens(trajectory, advantages[index]!, returns_T);
      });
      return { credits, state };
    },
);

/** Advantages of consecutive actions (tokens or turns): δ = r + γ·V' - V, A = δ + γλ·A', with nothing after the last. */
export function advantageEstimates(
  rewards_T: readonly number[],
  values_T: readonly number[],
  gamma: number,
  lambda: number,
): number[] {
  const advantages_T = new Array<number>(rewards_T.length);
  let nextValue = 0;
  let nextAdvantage = 0;
  for (let t = rewards_T.length - 1; t >= 0; t--) {
    const delta = rewards_T[t]! + gamma * nextValue - values_T[t]!;
    nextAdvantage = delta + gamma * lambda * nextAdvantage;
    nextValue = values_T[t]!;
    advantages_T[t] = nextAdvantage;
  }
  return advantages_T;
}

/** Value of the prefix before each sampled token of the trajectory. */
export function tokenValues(method: string, { id, turns }: CreditTrajectory): number[] {
  return turns.flatMap(({ values = [], tokens }, k) => {
    if (values.length === tokens) return values;
    throw new TurnwiseError('credit-needs-values', {
      what: `${method} needs one value for each sampled token, and turns[${k}] of trajectory "${id}" has ${tokens} of them`,
      seen: `${values.length} values`,
      next: 'Score the tokens with a value head and pass them as turns[].values, or use a method without a critic',
      fields: { trajectory: id, turn: k },
    });
  });
}
