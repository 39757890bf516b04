/** DAPO's soft punishment of trajectories that come close to the length limit. */

import { z } from 'zod';
import type { CreditTrajectory } from '../report/rollouts.ts';
import { withBonus } from './rewards.ts';
import { defineShaping, each, type RewardShaping } from './shaping.ts';

export interface OverlongOptions {
  readonly maximumLength: number;
  readonly bufferLength: number;
  readonly penalty: number;
}

export const overlongFields = {
  maximumLength: z
    .number()
    .positive()
    .default(20480)
    .describe('Sampled tokens at which the penalty reaches p (L_max).'),
  bufferLength: z
    .number()
    .positive()
    .default(4096)
    .describe('Tokens before that over which the penalty grows (L_buf).'),
  penalty: z.number().min(0).default(1).describe('The largest penalty (p).'),
};

/** What is added to the outcome: 0 down to -penalty. */
export function overlongPenalty(
  { turns }: CreditTrajectory,
  { maximumLength, bufferLength, penalty }: OverlongOptions,
): number {
  const length = turns.reduce((sum, { tokens }) => sum + tokens, 0);
  const over = Math.min(1, Math.max(0, (length - (maximumLength - bufferLength)) / bufferLength));
  return over === 0 ? 0 : -over * penalty;
}

export const overlong: RewardShaping = defineShaping(
  {
    name: 'overlong',
    aliases: ['dapo-overlong'],
    title: 'Soft overlong punishment (DAPO)',
    summary: 'a penalty that grows over the last tokens before the length limit',
    formula: 'R ← R - p · clip((length - (L_max - L_buf)) / L_buf, 0, 1)',
    source: '"DAPO: An Open-Source LLM Reinforcement Learning System at Scale", arXiv 2503.14476',
    deviations: [
      'Length counts the sampled tokens of all turns.',
      'Beyond the limit the penalty stays at p, for trajectories without a cut there.',
    ],
    needs: [],
    uses: ['turns[].tokens'],
  },
  z.strictObject(overlongFields),
  (options) => each((trajectory) => withBonus(trajectory, overlongPenalty(trajectory, options))),
);
