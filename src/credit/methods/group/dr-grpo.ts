/** Dr. GRPO: each outcome minus the mean of its group, not divided by a standard deviation. */

import { z } from 'zod';
import { mean } from '../../../core/statistics.ts';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { broadcastToTurns, compareOutcomes } from '../../kit/groups.ts';

export const drGrpo: CreditMethod = defineCreditMethod(
  {
    name: 'dr-grpo',
    title: 'Dr. GRPO',
    summary: 'outcome minus the mean of the group',
    formula: 'A_i = R_i - mean R, the same for every turn of the trajectory',
    source: '"Understanding R1-Zero-Like Training: A Critical Perspective", arXiv 2503.20783',
    deviations: [
      'The other half of the method, a constant in place of each trajectory’s length, belongs to the token weights: aggregation "sequence-sum-constant" of the objective.',
      'A group of one gives 0.',
    ],
    level: 'turn',
    needs: [],
  },
  z.strictObject({}),
  () => (trajectories, state) => {
    const advantages = compareOutcomes(trajectories, (outcomes_G) => {
      const centre = mean(outcomes_G);
      return outcomes_G.map((outcome) => outcome - centre);
    });
    return { credits: broadcastToTurns(trajectories, advantages), state };
  },
);
