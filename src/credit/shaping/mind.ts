/** MinD: of two right rollouts, the one with fewer turns earns more. */

import { z } from 'zod';
import { isSuccess, withOutcome } from './rewards.ts';
import { defineShaping, each, type RewardShaping } from './shaping.ts';

export const mind: RewardShaping = defineShaping(
  {
    name: 'mind',
    title: 'MinD (multi-turn decomposition)',
    summary: 'success, and a bonus for needing few turns',
    formula: 'R = 1(well formed) · 1(correct) · (1 + λ·(1 - (K - 1)/(K_max - 1)))',
    source:
      '"Done Is Better than Perfect: Unlocking Efficient Reasoning by Structured Multi-Turn Decomposition", arXiv 2505.19788',
    deviations: [
      'The paper names format, accuracy and compactness of units; this formula for compactness is ours. A wrong rollout never earns more than a right one.',
      'Replaces all rewards. More than K_max turns earn no bonus.',
      'K counts turns. They are the units of the paper where each unit is one turn, as with `turns=thinking-units` in tasks that one answer ends.',
    ],
    needs: [],
    uses: ['success', 'wellFormed'],
    ownRewards: true,
    example: '--method grpo --shape mind --set mind.maximumTurns=6',
  },
  z.strictObject({
    lambda: z.number().min(0).default(0.2).describe('Bonus of a single turn.'),
    maximumTurns: z.number().int().min(2).default(10).describe('Turns without any bonus (K_max).'),
  }),
  ({ lambda, maximumTurns }) =>
    each((trajectory) => {
      if (trajectory.wellFormed === false || !isSuccess(trajectory)) return withOutcome(trajectory, 0);
      const used = Math.max(0, trajectory.turns.length - 1) / (maximumTurns - 1);
      return withOutcome(trajectory, 1 + lambda * Math.max(0, 1 - used));
    }),
);
