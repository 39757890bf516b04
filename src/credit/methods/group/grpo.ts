/** GRPO: each outcome against its group, in standard deviations. */

import { z } from 'zod';
import { mean, populationStd, sampleStd } from '../../../core/statistics.ts';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { broadcastToTurns, compareOutcomes } from '../../kit/groups.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';

export interface GrpoOptions {
  readonly std: 'sample' | 'population' | 'none';
  readonly epsilon: number;
}

/** Options that every method takes which compares outcomes as GRPO does. */
export const grpoFields = {
  std: z
    .enum(['sample', 'population', 'none'])
    .default('sample')
    .describe(
      'The divisor of differences: the standard deviation by n - 1 ("sample") or by n ("population"), or none.',
    ),
  epsilon: z.number().positive().default(1e-6).describe('Added to the standard deviation.'),
};

/** One advantage per trajectory: (R - mean) / (std + ε) in its group. */
export function grpoAdvantages(
  trajectories: readonly CreditTrajectory[],
  { std, epsilon }: GrpoOptions,
): number[] {
  return compareOutcomes(trajectories, (outcomes_G) => {
    const centre = mean(outcomes_G);
    const deviation = std === 'sample' ? sampleStd : populationStd;
    const scale = std === 'none' ? 1 : deviation(outcomes_G) + epsilon;
    return outcomes_G.map((outcome) => (outcome - centre) / scale);
  });
}

export const grpo: CreditMethod = defineCreditMethod(
  {
    name: 'grpo',
    title: 'GRPO',
    summary: 'outcome minus the mean of the group, divided by its standard deviation',
    formula: 'A_i = (R_i - mean R) / (std R + ε), the same for every turn of the trajectory',
    source:
      '"DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models", arXiv 2402.03300',
    deviations: [
      'The paper says "std"; the default divides by n - 1, as most implementations do.',
      'A group of one gives 0, and so does a group whose outcomes are all equal.',
    ],
    level: 'turn',
    needs: [],
  },
  z.strictObject(grpoFields),
  (options) => (trajectories, state) => ({
    credits: broadcastToTurns(trajectories, grpoAdvantages(trajectories, options)),
    state,
  }),
);
