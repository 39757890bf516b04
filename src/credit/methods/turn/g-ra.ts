/** G-RA: lower rewards count only where all higher ones were reached, so that they cannot be farmed instead. */

import { z } from 'zod';
import { type CreditMethod, type Description, defineCreditMethod } from '../../contract/method.ts';
import { broadcastToTurns } from '../../kit/groups.ts';
import { splitRewards } from '../../kit/returns.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';
import { withOutcome } from '../../shaping/rewards.ts';
import { defineShaping, each, outcomeCredit, type RewardShaping } from '../../shaping/shaping.ts';
import { grpoAdvantages, grpoFields } from '../group/grpo.ts';

const description: Description = {
  name: 'g-ra',
  title: 'G-RA (gated reward accumulation)',
  summary: 'intermediate rewards count only if the outcome passes a gate; then grpo',
  formula: `R = Σ_ℓ [ Π_{j<ℓ} 1(R_j ≥ δ_j) ] · R_ℓ,   R_1 = outcome, R_ℓ = Σ_k of the (ℓ-1)-th dense reward of turn k
A_i = (R_i - mean R) / (std R + ε)`,
  source: 'G-RA, arXiv 2508.10548',
  deviations: [
    'The sources leave open whether a reward at the threshold passes. It passes, unless `comparison=above`.',
    'Without `turns[].dense`, the last turn’s reward is the outcome, and the earlier rewards are the only lower level.',
    'A missing submission zeroes all step rewards by a rule of the environment: an outcome below the threshold.',
  ],
  needs: [],
  uses: ['turns[].dense', 'outcome', 'turns[].reward'],
  ownRewards: true,
  example: '--method g-ra --set threshold=0.5',
};

const gateFields = {
  threshold: z
    .union([z.number(), z.array(z.number()).min(1)])
    .default(0)
    .describe(
      'Threshold of a level (δ); a list gives each level a threshold, the last one for all further levels.',
    ),
  comparison: z
    .enum(['at-least', 'above'])
    .default('at-least')
    .describe('Whether a reward at the threshold passes.'),
  gated: z.boolean().default(true).describe('With false all rewards are added up (D-RA), for comparison.'),
};

interface Gate {
  readonly threshold: number | readonly number[];
  readonly comparison: 'at-least' | 'above';
  readonly gated: boolean;
}

/** Outcome plus the lower levels whose gates are all open. */
function gatedReturn(trajectory: CreditTrajectory, { threshold, comparison, gated }: Gate): number {
  const thresholds = typeof threshold === 'number' ? [threshold] : threshold;
  let total = 0;
  for (const [level, reward] of levelsOf(trajectory).entries()) {
    total += reward;
    const needed = thresholds[Math.min(level, thresholds.length - 1)]!;
    if (gated && !(comparison === 'above' ? reward > needed : reward >= needed)) break;
  }
  return total;
}

/** Sums over turns, the most important first: the outcome, then each dense reward. */
function levelsOf(trajectory: CreditTrajectory): number[] {
  const { turns, outcome } = trajectory;
  const depth = turns.reduce((most, { dense = [] }) => Math.max(most, dense.length), 0);
  if (depth === 0) {
    const split = splitRewards(trajectory);
    return [split.outcome, split.intermediate_K.reduce((sum, one) => sum + one, 0)];
  }
  const lower = Array.from({ length: depth }, (_, level) =>
    turns.reduce((sum, { dense = [] }) => sum + (dense[level] ?? 0), 0),
  );
  return [outcome, ...lower];
}

export const gatedAccumulation: RewardShaping = defineShaping(
  {
    ...description,
    summary: 'intermediate rewards count only if the outcome passes a gate',
    example: '--method rloo --shape g-ra',
  },
  z.strictObject(gateFields),
  (gate) => each((trajectory) => withOutcome(trajectory, gatedReturn(trajectory, gate))),
);

export const gRa: CreditMethod = defineCreditMethod(
  { ...description, level: 'turn' },
  z.strictObject({ ...gateFields, ...grpoFields }),
  ({ std, epsilon, ...gate }) =>
    outcomeCredit(
      (trajectories) => trajectories.map((trajectory) => gatedReturn(trajectory, gate)),
      (trajectories, state) => ({
        credits: broadcastToTurns(trajectories, grpoAdvantages(trajectories, { std, epsilon })),
        state,
      }),
    ),
);
