/** CORY: two agents answer one after the other, and each is paid for both answers. */

import { z } from 'zod';
import { type CreditMethod, type Description, defineCreditMethod } from '../../contract/method.ts';
import { broadcastToTurns } from '../../kit/groups.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';
import { withBonus } from '../../shaping/rewards.ts';
import { defineShaping, type RewardShaping, shapedCredit } from '../../shaping/shaping.ts';
import { drGrpo } from '../group/dr-grpo.ts';

const description: Description = {
  name: 'cory',
  title: 'CORY (joint reward of two roles)',
  summary: 'every role of an episode gets the sum of all roles’ outcomes',
  formula: `R_role ← Σ over the roles of the episode of R
A = R, or R - mean of the role's R over the group`,
  source:
    '"Coevolving with the Other You: Fine-Tuning LLM with Sequential Cooperative Multi-Agent Reinforcement Learning", arXiv 2410.06101',
  deviations: [
    'The paper runs PPO with a critic for each agent: `--method gae --shape cory`.',
    'Two copies of a model exchange roles every five steps there. Here one set of weights plays all agents. Each agent reads its name first, and they exchange roles every `rollout.exchangeEvery` steps; evaluations keep the first roles.',
  ],
  needs: [],
  uses: ['role', 'episode', 'absentOutcome'],
};

/** Trajectories of one episode: those with the same `episode`, else the same group and id. */
export function episodeKey({ episode, groupId, id }: CreditTrajectory): string {
  return episode === undefined ? JSON.stringify([groupId, id]) : episode;
}

export const jointReward: RewardShaping = defineShaping(
  {
    ...description,
    formula: 'R_role ← Σ over the roles of the episode of R',
    example: '--method gae --shape cory',
  },
  z.strictObject({}),
  () => (trajectories, state) => {
    const sums = new Map<string, number>();
    for (const trajectory of trajectories) {
      const key = episodeKey(trajectory);
      // Roles that took no turn are not here, but what they earned is part of the sum.
      sums.set(key, (sums.get(key) ?? trajectory.absentOutcome ?? 0) + trajectory.outcome);
    }
    const shared = trajectories.map((trajectory) =>
      withBonus(trajectory, sums.get(episodeKey(trajectory))! - trajectory.outcome),
    );
    return { trajectories: shared, state };
  },
);

export const cory: CreditMethod = defineCreditMethod(
  { ...description, level: 'turn', example: '--method cory --set baseline=group' },
  z.strictObject({
    baseline: z
      .enum(['none', 'group'])
      .default('none')
      .describe('The baseline: none, or the mean of the group, which holds trajectories of one role.'),
  }),
  ({ baseline }) =>
    shapedCredit(
      jointReward.create().shape,
      baseline === 'group'
        ? drGrpo.create().credit
        : (trajectories, state) => ({
            credits: broadcastToTurns(
              trajectories,
              trajectories.map(({ outcome }) => outcome),
            ),
            state,
          }),
    ),
);
