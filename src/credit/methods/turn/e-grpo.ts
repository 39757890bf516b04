/** E-GRPO: wrong answers earn something for the true entities they came across, so groups that all fail still teach. */

import { z } from 'zod';
import { type CreditMethod, type Description, defineCreditMethod } from '../../contract/method.ts';
import { missingField } from '../../contract/needs.ts';
import { broadcastToTurns, groupKey } from '../../kit/groups.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';
import { isSuccess, withOutcome } from '../../shaping/rewards.ts';
import { defineShaping, outcomeCredit, type RewardShaping } from '../../shaping/shaping.ts';
import { grpoAdvantages, grpoFields } from '../group/grpo.ts';

const description: Description = {
  name: 'e-grpo',
  title: 'E-GRPO (entity-aware)',
  summary: 'wrong answers earn a reward for the entities that they found; then grpo',
  formula: `R_i = 1 if correct,   α·γ_i / max_j γ_j if wrong,   0 if badly formed or cut off for length
γ_i = share of the true entities of the question that rollout i mentions
A_i = (R_i - mean R) / (std R + ε)`,
  source: 'E-GRPO, arXiv 2510.24694',
  deviations: [
    'Trajectories cut off for their length enter the mean and the standard deviation but get 0, as the paper keeps them out of the loss.',
    'If nobody in the group found an entity, wrong answers earn 0.',
  ],
  needs: ['entityShare'],
  uses: ['success', 'wellFormed', 'overlong'],
  ownRewards: true,
};

const alpha = z.number().min(0).default(0.3).describe('Largest reward of a wrong answer.');

/** The outcome of each trajectory. */
function entityRewards(trajectories: readonly CreditTrajectory[], share: number): number[] {
  const most = new Map<string, number>();
  for (const trajectory of trajectories) {
    if (trajectory.entityShare === undefined) throw missingField('e-grpo', trajectory, 'entityShare');
    const key = groupKey(trajectory);
    most.set(key, Math.max(most.get(key) ?? 0, trajectory.entityShare));
  }
  return trajectories.map((trajectory) => {
    if (trajectory.wellFormed === false || trajectory.overlong) return 0;
    if (isSuccess(trajectory)) return 1;
    const largest = most.get(groupKey(trajectory))!;
    return largest === 0 ? 0 : (share * trajectory.entityShare!) / largest;
  });
}

export const entityAware: RewardShaping = defineShaping(
  {
    ...description,
    summary: 'wrong answers earn a reward for the entities that they found',
    example: '--method rloo --shape e-grpo',
  },
  z.strictObject({ alpha }),
  (options) => (trajectories, state) => {
    const rewards = entityRewards(trajectories, options.alpha);
    return {
      trajectories: trajectories.map((trajectory, index) => withOutcome(trajectory, rewards[index]!)),
      state,
    };
  },
);

export const eGrpo: CreditMethod = defineCreditMethod(
  { ...description, level: 'turn', example: '--method e-grpo --set alpha=0.5' },
  z.strictObject({ alpha, ...grpoFields }),
  ({ std, epsilon, ...options }) =>
    outcomeCredit(
      (trajectories) => entityRewards(trajectories, options.alpha),
      (trajectories, state) => {
        const advantages = grpoAdvantages(trajectories, { std, epsilon });
        const learned = advantages.map((advantage, index) => (trajectories[index]!.overlong ? 0 : advantage));
        return { credits: broadcastToTurns(trajectories, learned), state };
      },
    ),
);
