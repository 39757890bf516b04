/** SPEAR: trajectories from a replay buffer are judged again, by what groups earn now. */

import { z } from 'zod';
import { quantile } from '../../../core/statistics.ts';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { broadcastToTurns, groupKey } from '../../kit/groups.ts';
import { partition, statisticsWithin } from '../../kit/within.ts';
import type { CreditState, CreditTrajectory } from '../../report/rollouts.ts';
import { grpoAdvantages, grpoFields } from './grpo.ts';

export const spear: CreditMethod = defineCreditMethod(
  {
    name: 'spear',
    title: 'SPEAR advantage recalibration',
    summary: 'outcome minus the mean of the group; replayed trajectories against the median of recent groups',
    formula: `sampled now: A = R - mean R of the group ("none"), or divided by its standard deviation
replayed:    A = R - P50 of the mean outcomes of recent groups, where both this and the old advantage are > 0; else 0
decay:       A = weightDecay · old advantage`,
    source:
      '"SPEAR: Self-imitation with Progressive Exploration for Agentic Reinforcement Learning", arXiv 2509.22601',
    deviations: [
      'The paper keeps replayed trajectories whose old and new advantages are above 0 (the default); the released code those whose new one is at least 0: `filter=new`.',
      'The recent means include this step’s groups. Without any mean, replayed trajectories get 0.',
      'Replayed trajectories enter no group, since another policy sampled their companions.',
      'Curation fills and empties the buffer; the objective has the weight of the replay loss and its covariance clip.',
    ],
    level: 'turn',
    wholeSteps: true,
    needs: [],
    uses: ['replayedAdvantage'],
    example: '--method spear --set filter=new',
  },
  z.strictObject({
    recalibration: z
      .enum(['baseline', 'decay'])
      .default('baseline')
      .describe('Whether replayed advantages are computed again, or the old ones shrunk.'),
    percentile: z
      .number()
      .min(0)
      .max(1)
      .default(0.5)
      .describe('The quantile of recent group means that is the baseline.'),
    filter: z
      .enum(['both', 'new'])
      .default('both')
      .describe('Whether the old and the new advantage must be above 0, or only the new one not below it.'),
    weightDecay: z
      .number()
      .gt(0)
      .max(1)
      .default(1)
      .describe('Factor on old advantages, with `recalibration=decay`.'),
    capacity: z.number().int().min(1).default(10240).describe('The number of remembered group means.'),
    ...grpoFields,
    std: grpoFields.std.default('none'),
  }),
  ({ recalibration, percentile, filter, weightDecay, capacity, std, epsilon }) =>
    (trajectories, state) => {
      const fresh = trajectories.filter(({ replayedAdvantage }) => replayedAdvantage === undefined);
      const groupMeans = [...rememberedMeans(state), ...meansOf(fresh)].slice(-capacity);
      const baseline = groupMeans.length === 0 ? undefined : quantile(groupMeans, percentile);
      const sampledNow = grpoAdvantages(fresh, { std, epsilon }).values();
      const advantages = trajectories.map(({ outcome, replayedAdvantage: old }) => {
        if (old === undefined) return sampledNow.next().value!;
        if (recalibration === 'decay') return weightDecay * old;
        if (baseline === undefined) return 0;
        const recalibrated = outcome - baseline;
        const kept = filter === 'both' ? recalibrated > 0 && old > 0 : recalibrated >= 0;
        return kept ? recalibrated : 0;
      });
      return {
        credits: broadcastToTurns(trajectories, advantages),
        state: { ...state, 'spear/groupMeans': groupMeans },
      };
    },
);

function rememberedMeans(state: CreditState): readonly number[] {
  return (state['spear/groupMeans'] as readonly number[] | undefined) ?? [];
}

function meansOf(trajectories: readonly CreditTrajectory[]): number[] {
  const groups = partition(trajectories, groupKey);
  return Array.from(
    statisticsWithin(
      trajectories.map(({ outcome }) => outcome),
      groups,
    ).means,
  );
}
