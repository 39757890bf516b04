/**
 * Dr. GRPO: each outcome minus the mean of its group, not divided by a standard deviation, which would give easy and
 * hard tasks more weight than those in between.
 *
 *   A_i = R_i - mean R, the same for every turn of the trajectory
 *
 * Source: "Understanding R1-Zero-Like Training: A Critical Perspective", arXiv 2503.20783.
 * 1. The other half of the method, a constant in place of each trajectory's length, is a matter of token weights:
 *    aggregation "sequence-sum-constant" in objective/weights.ts.
 * 2. A group of one gives 0.
 */

import { z } from 'zod';
import { mean } from '../core/statistics.ts';
import { checked } from './checked.ts';
import { broadcastToTurns, compareOutcomes } from './groups.ts';
import type { Credit } from './rollouts.ts';

export type DrGrpoOptions = Record<string, never>;

export const drGrpoOptions: z.ZodType<DrGrpoOptions> = z.strictObject({});

export function drGrpo(_options: DrGrpoOptions = {}): Credit {
  return checked((trajectories, state) => {
    const advantages = compareOutcomes(trajectories, (outcomes_G) => {
      const centre = mean(outcomes_G);
      return outcomes_G.map((outcome) => outcome - centre);
    });
    return { credits: broadcastToTurns(trajectories, advantages), state };
  });
}
