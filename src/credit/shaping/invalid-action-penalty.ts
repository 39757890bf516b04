/** A price on every action that the environment did not accept. */

import { z } from 'zod';
import { turnRewards } from '../kit/columns.ts';
import { withTurnRewards } from './rewards.ts';
import { defineShaping, each, type RewardShaping } from './shaping.ts';

export const invalidActionPenalty: RewardShaping = defineShaping(
  {
    name: 'invalid-action-penalty',
    title: 'Invalid-action penalty (GiGPO)',
    summary: 'a price on actions that the environment rejects',
    formula: 'r_k ← r_k - penalty where the action of turn k was not valid',
    source: '"Group-in-Group Policy Optimization for LLM Agent Training", arXiv 2505.10978',
    deviations: ['The penalty enters the outcome, too.'],
    needs: ['turns[].valid'],
    example: '--method gigpo --shape invalid-action-penalty',
  },
  z.strictObject({ penalty: z.number().min(0).default(0.1).describe('Price of an invalid action.') }),
  ({ penalty }) =>
    each((trajectory) =>
      trajectory.turns.every(({ valid = true }) => valid)
        ? trajectory
        : withTurnRewards(
            trajectory,
            turnRewards(trajectory).map((reward, k) =>
              trajectory.turns[k]!.valid === false ? reward - penalty : reward,
            ),
          ),
    ),
);
