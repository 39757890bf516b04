/**
 * GRPO: each outcome against its group, in standard deviations.
 *
 *   A_i = (R_i - mean R) / (std R + ε), the same for every turn of the trajectory
 *
 * Source: "DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models", arXiv 2402.03300.
 * 1. The paper says "std"; the default divides by n - 1, as most implementations do.
 * 2. A group of one gives 0, and so does a group whose outcomes are all equal.
 */

import { z } from 'zod';
import { mean, populationStd, sampleStd } from '../core/statistics.ts';
import { checked } from './checked.ts';
import { broadcastToTurns, compareOutcomes } from './groups.ts';
import type { Credit } from './rollouts.ts';

export interface GrpoOptions {
  readonly std: 'sample' | 'population';
  readonly epsilon: number;
}

export const grpoOptions: z.ZodType<GrpoOptions> = z.strictObject({
  std: z
    .enum(['sample', 'population'])
    .default('sample')
    .describe('Standard deviation over the group: "sample" divides by n - 1, "population" by n.'),
  epsilon: z.number().positive().default(1e-6).describe('Added to the standard deviation.'),
});

export function grpo({ std, epsilon }: GrpoOptions): Credit {
  const deviation = std === 'sample' ? sampleStd : populationStd;
  return checked((trajectories, state) => {
    const advantages = compareOutcomes(trajectories, (outcomes_G) => {
      const centre = mean(outcomes_G);
      const scale = deviation(outcomes_G) + epsilon;
      return outcomes_G.map((outcome) => (outcome - centre) / scale);
    });
    return { credits: broadcastToTurns(trajectories, advantages), state };
  });
}
