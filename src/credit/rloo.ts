/**
 * RLOO: each outcome against the mean outcome of the others in its group.
 *
 *   A_i = R_i - mean_{j ≠ i} R_j = G/(G-1) · (R_i - mean R)
 *
 * Source: "Back to Basics: Revisiting REINFORCE-Style Optimization for Learning from Human Feedback", arXiv 2402.14740.
 * 1. A group of one gives 0.
 */

import { z } from 'zod';
import { mean } from '../core/statistics.ts';
import { checked } from './checked.ts';
import { broadcastToTurns, compareOutcomes } from './groups.ts';
import type { Credit } from './rollouts.ts';

export type RlooOptions = Record<string, never>;

export const rlooOptions: z.ZodType<RlooOptions> = z.strictObject({});

export function rloo(_options: RlooOptions = {}): Credit {
  return checked((trajectories, state) => {
    const advantages = compareOutcomes(trajectories, (outcomes_G) => {
      const centre = mean(outcomes_G);
      const scale = outcomes_G.length / (outcomes_G.length - 1);
      return outcomes_G.map((outcome) => scale * (outcome - centre));
    });
    return { credits: broadcastToTurns(trajectories, advantages), state };
  });
}
