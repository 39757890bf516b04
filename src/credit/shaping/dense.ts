/** What turns earned on the way, as rewards: for methods that credit each turn with the return from it on. */

import { z } from 'zod';
import { turnRewards } from '../kit/columns.ts';
import { withTurnRewards } from './rewards.ts';
import { defineShaping, each, type RewardShaping } from './shaping.ts';

export const dense: RewardShaping = defineShaping(
  {
    name: 'dense',
    title: 'Dense rewards',
    summary: 'what the environment says that turns earned on the way, added to their rewards',
    formula: 'r_k ← r_k + weight·Σ dense_k',
    source:
      '"Reinforcing Multi-Turn Reasoning in LLM Agents via Turn-Level Credit Assignment", arXiv 2505.11821, has such rewards of turns',
    deviations: [
      'What was earned on the way is part of the outcome too. Where it is no difference of a potential, the best policy may be another one.',
      'A turn without a dense reward keeps its reward.',
    ],
    needs: ['turns[].dense'],
    example: '--method reinforce --set gamma=0.5 --set baseline=batch --shape dense',
  },
  z.strictObject({ weight: z.number().default(1).describe('Factor on what was earned on the way.') }),
  ({ weight }) =>
    each((trajectory) =>
      withTurnRewards(
        trajectory,
        turnRewards(trajectory).map((reward, k) =>
          (trajectory.turns[k]!.dense ?? []).reduce((sum, one) => sum + weight * one, reward),
        ),
      ),
    ),
);
