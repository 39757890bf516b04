/** A reward for crossing the border of what was explored: for a state that is rarer than the one before. */

import { z } from 'zod';
import { turnRewards } from '../kit/columns.ts';
import type { CreditTrajectory } from '../report/rollouts.ts';
import { anchorOf, countVisits, visitsOf } from './exploration-bonus.ts';
import { withTurnRewards } from './rewards.ts';
import { defineShaping, type RewardShaping } from './shaping.ts';
import { fadingOut } from './spear-tool-bonus.ts';

export const novelty: RewardShaping = defineShaping(
  {
    name: 'novelty',
    title: 'Novelty at the border (BeBold)',
    summary: 'a reward for the first step in an episode to a state that is rarer than the one before',
    formula: `r_k ← r_k + β·w·max(0, n(s_{k+1}) − α·n(s_k))·1[first visit in the episode]
n(s) = 1/N(s),   N = visits in all of training, or members of the group that came there; this step included
w = ½(1 + cos(π·t/T)) for t steps so far, 0 after T;   1 where steps is 0`,
    source: '"BeBold: Exploration Beyond the Boundary of Explored Regions", arXiv 2012.08621',
    deviations: [
      'States are anchors, counted; for large observations the paper has a random network in place of counts.',
      'α scales the novelty of the state before; the paper has 1.',
      'Counts of training are kept in 65,536 buckets by a hash of the anchor; counts within a group are exact.',
      'The state after the last turn is unknown and earns nothing.',
      'In counts of training, turns that a branch shares with its parent are one visit; episodes that a curation inserts again are visits again.',
    ],
    wholeSteps: true,
    needs: ['turns[].anchor'],
    uses: ['parent', 'sharedTurns'],
    example: '--method rloo --shape novelty --set novelty.among=group',
  },
  z.strictObject({
    among: z.enum(['training', 'group']).default('training').describe('Where visits are counted.'),
    beta: z.number().min(0).default(0.1).describe('Weight of the bonus (β).'),
    alpha: z.number().min(0).max(1).default(1).describe('Weight of the novelty of the state before (α).'),
    steps: z.number().int().min(0).default(0).describe('Steps until nothing is left (T); 0: it never fades.'),
  }),
  ({ among, beta, alpha, steps }) =>
    (trajectories, state) => {
      const step = (state[STEP] as number | undefined) ?? 0;
      const weight = beta * (steps === 0 ? 1 : fadingOut(step, steps));
      const counts = among === 'training' ? countVisits('novelty', trajectories, state, COUNTS) : undefined;
      const members = counts ? undefined : membersThatCame(trajectories);
      const shaped = trajectories.map((trajectory) => {
        const rarity = (k: number): number => {
          const anchor = anchorOf('novelty', trajectory, k);
          return 1 / (counts ? visitsOf(counts, anchor) : members!.get(trajectory.groupId)!.get(anchor)!);
        };
        const seen = new Set<string>();
        const rewards_K = turnRewards(trajectory).map((reward, k) => {
          seen.add(anchorOf('novelty', trajectory, k));
          if (k === trajectory.turns.length - 1) return reward;
          if (seen.has(anchorOf('novelty', trajectory, k + 1))) return reward;
          return reward + weight * Math.max(0, rarity(k + 1) - alpha * rarity(k));
        });
        return withTurnRewards(trajectory, rewards_K);
      });
      return {
        trajectories: shaped,
        state: {
          ...state,
          ...(counts && { [COUNTS]: counts }),
          ...(steps > 0 && { [STEP]: step + 1 }),
        },
      };
    },
);

const COUNTS = 'novelty/counts';
const STEP = 'novelty/step';

/** How many members of each group came to each state. */
function membersThatCame(trajectories: readonly CreditTrajectory[]): Map<string, Map<string, number>> {
  const groups = new Map<string, Map<string, number>>();
  for (const trajectory of trajectories) {
    const own = groups.get(trajectory.groupId) ?? new Map<string, number>();
    groups.set(trajectory.groupId, own);
    const anchors = trajectory.turns.map((_, k) => anchorOf('novelty', trajectory, k));
    for (const anchor of new Set(anchors)) own.set(anchor, (own.get(anchor) ?? 0) + 1);
  }
  return groups;
}
