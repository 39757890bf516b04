/** AI-SearchPlanner: usefulness and cost as one number, with a weight that traces the frontier between them. */

import { z } from 'zod';
import { withBonus } from './rewards.ts';
import { defineShaping, each, type RewardShaping } from './shaping.ts';

export const aiSearchPlanner: RewardShaping = defineShaping(
  {
    name: 'ai-search-planner',
    title: 'AI-SearchPlanner (Pareto reward)',
    summary: 'a bonus for few turns; a sweep of its weight traces the frontier',
    formula: 'R ← R + α·max(0, 1 - (K - 1)/K_max)',
    source:
      '"AI-SearchPlanner: Modular Agentic Search via Pareto-Optimal Multi-Objective Reinforcement Learning", arXiv 2508.20368',
    deviations: [
      'The outcome is the utility. The environment adds to it the gain over an answer without the planner, and a judge’s opinion of the plan.',
      'The source says that the cost term falls with turns; the linear form is ours.',
    ],
    needs: [],
    example: '--method grpo --shape ai-search-planner --set ai-search-planner.alpha=0.5',
  },
  z.strictObject({
    alpha: z.number().min(0).default(0.1).describe('Weight of the cost; 0 ignores it.'),
    maximumTurns: z.number().int().min(1).default(10).describe('Turns without any bonus (K_max).'),
  }),
  ({ alpha, maximumTurns }) =>
    each((trajectory) => {
      const used = Math.max(0, trajectory.turns.length - 1) / maximumTurns;
      return withBonus(trajectory, alpha * Math.max(0, 1 - used));
    }),
);
