/** A price on tool calls beyond those that the task needs, after SMART. */

import { z } from 'zod';
import { missingField } from '../contract/needs.ts';
import type { CreditTrajectory } from '../report/rollouts.ts';
import { withBonus } from './rewards.ts';
import { defineShaping, each, type RewardShaping } from './shaping.ts';

export const toolPenalty: RewardShaping = defineShaping(
  {
    name: 'tool-penalty',
    aliases: ['smart'],
    title: 'Tool-use penalty (SMART)',
    summary: 'a price on tool calls beyond an expert’s number',
    formula: 'R ← R - min(limit, penalty · max(0, calls - needed calls))',
    source: 'After "SMART: Self-Aware Agent for Tool Overuse Mitigation", arXiv 2502.11435',
    deviations: [
      'SMART itself is training data that teaches when to call. This shaping expresses its aim as a reward, measured by the expert’s number of calls.',
    ],
    needs: ['turns[].calls'],
    uses: ['neededCalls'],
    example: '--method grpo --shape tool-penalty --set tool-penalty.penalty=0.05',
  },
  z.strictObject({
    penalty: z.number().min(0).default(0.1).describe('Price of an unneeded call.'),
    limit: z.number().min(0).default(0.5).describe('The highest total price.'),
  }),
  ({ penalty, limit }) =>
    each((trajectory) => {
      const excess = Math.max(0, callCount('tool-penalty', trajectory) - (trajectory.neededCalls ?? 0));
      return withBonus(trajectory, -Math.min(limit, penalty * excess));
    }),
);

/** Tool calls of all turns. Refuses a trajectory in which no turn says which it made. */
export function callCount(shaping: string, trajectory: CreditTrajectory): number {
  const { turns } = trajectory;
  if (turns.length > 0 && turns.every(({ calls }) => calls === undefined)) {
    throw missingField(shaping, trajectory, 'turns[].calls', 0, 'A turn without calls has an empty list');
  }
  return turns.reduce((sum, { calls = [] }) => sum + calls.length, 0);
}
