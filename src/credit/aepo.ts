/** AEPO: tokens that the policy was unsure of weigh more. */

import { z } from 'zod';
import { groupKey } from './groups.ts';
import { grpoAdvantages, grpoFields } from './grpo.ts';
import { type CreditMethod, creditMethod } from './method.ts';
import { missingField } from './needs.ts';
import type { CreditTrajectory } from './rollouts.ts';
import { creditTokens } from './tokens.ts';
import { partition } from './within.ts';

export const aepo: CreditMethod = creditMethod(
  {
    name: 'aepo',
    title: 'AEPO (entropy-aware advantage)',
    summary: 'grpo, with more weight on tokens of high entropy',
    formula: `A_t = A_i · (1 + a·z_t),   A_i = (R_i - mean R) / (std R + ε)
z_t = (H_t - mean H) / std H over the sampled tokens of the batch`,
    source: '"Agentic Entropy-Balanced Policy Optimization", arXiv 2510.14545',
    deviations: [
      'Entropies are constants: no gradient goes through them. A standard deviation of 0 gives z = 0.',
      'The paper leaves open whether entropies are compared over the batch or the group: `over`.',
      'The clip that keeps its gradient is a matter of the objective.',
    ],
    level: 'token',
    needs: ['turns[].entropies'],
    example: '--method aepo --set a=0.3',
  },
  z.strictObject({
    a: z.number().min(0).default(0.2).describe('How much entropy moves the advantage.'),
    over: z
      .enum(['batch', 'group'])
      .default('batch')
      .describe('The tokens that entropies are compared with.'),
    ...grpoFields,
  }),
  ({ a, over, std, epsilon }) =>
    (trajectories, state) => {
      const own = grpoAdvantages(trajectories, { std, epsilon });
      const entropies = trajectories.map(tokenEntropies);
      const { keys, count } = partition(trajectories, over === 'batch' ? () => '' : groupKey);
      const parts = Array.from({ length: count }, () => new Spread());
      for (const [index, entropies_T] of entropies.entries()) parts[keys[index]!]!.add(entropies_T);
      const credits = trajectories.map((trajectory, index) => {
        const { mean, std: deviation } = parts[keys[index]!]!.result();
        const scale = deviation === 0 ? 0 : a / deviation;
        const advantages_T = entropies[index]!.map((entropy) => own[index]! * (1 + scale * (entropy - mean)));
        return creditTokens(trajectory, advantages_T);
      });
      return { credits, state };
    },
);

/** Mean and sample standard deviation of numbers that come in pieces. */
class Spread {
  private count = 0;
  private origin = 0;
  private sum = 0;
  private squares = 0;

  add(values: readonly number[]): void {
    for (const value of values) {
      if (this.count++ === 0) this.origin = value;
      this.sum += value - this.origin;
      this.squares += (value - this.origin) ** 2;
    }
  }

  result(): { readonly mean: number; readonly std: number } {
    if (this.count < 2) return { mean: this.origin, std: 0 };
    const shift = this.sum / this.count;
    const variance = (this.squares - this.count * shift ** 2) / (this.count - 1);
    return { mean: this.origin + shift, std: Math.sqrt(Math.max(0, variance)) };
  }
}

function tokenEntropies(trajectory: CreditTrajectory): number[] {
  return trajectory.turns.flatMap(({ entropies = [], tokens }, k) => {
    if (entropies.length === tokens) return entropies;
    throw missingField(
      'aepo',
      trajectory,
      'turns[].entropies',
      k,
      `Give one for each of its ${tokens} sampled tokens, or turns[].entropy for all of them`,
    );
  });
}
