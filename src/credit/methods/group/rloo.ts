/** RLOO: each outcome against the mean outcome of the others in its group. */

import { z } from 'zod';
import { mean } from '../../../core/statistics.ts';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { broadcastToTurns, compareOutcomes } from '../../kit/groups.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';

export const rloo: CreditMethod = defineCreditMethod(
  {
    name: 'rloo',
    title: 'RLOO',
    summary: 'outcome minus the mean of the other outcomes of the group',
    formula: 'A_i = R_i - mean_{j ≠ i} R_j = G/(G-1) · (R_i - mean R)',
    source:
      '"Back to Basics: Revisiting REINFORCE-Style Optimization for Learning from Human Feedback", arXiv 2402.14740',
    deviations: ['A group of one gives 0.'],
    level: 'turn',
    needs: [],
  },
  z.strictObject({}),
  () => (trajectories, state) => ({
    credits: broadcastToTurns(trajectories, outcomesAgainstOthers(trajectories)),
    state,
  }),
);

/** Each outcome minus the mean of the others of its group. */
export function outcomesAgainstOthers(trajectories: readonly CreditTrajectory[]): number[] {
  return compareOutcomes(trajectories, (outcomes_G) => {
    const centre = mean(outcomes_G);
    const scale = outcomes_G.length / (outcomes_G.length - 1);
    return outcomes_G.map((outcome) => scale * (outcome - centre));
  });
}
