/** SPEAR's reward for calling tools at all, which fades as training goes on. */

import { z } from 'zod';
import { withBonus } from './rewards.ts';
import { defineShaping, type RewardShaping } from './shaping.ts';
import { callCount } from './tool-penalty.ts';

/** ½·(1 + cos(π·step/steps)) up to `steps`, 0 after: from 1 down to 0. */
export function fadingOut(step: number, steps: number): number {
  return step >= steps ? 0 : (1 + Math.cos((Math.PI * step) / steps)) / 2;
}

export const spearToolBonus: RewardShaping = defineShaping(
  {
    name: 'spear-tool-bonus',
    title: 'Intrinsic tool reward (SPEAR)',
    summary: 'a reward for tool calls that fades over training',
    formula: 'R ← R + min(most, perCall · calls) · ½(1 + cos(π·t/T)),   t = steps so far; nothing after T',
    source:
      '"SPEAR: Self-imitation with Progressive Exploration for Agentic Reinforcement Learning", arXiv 2509.22601',
    deviations: ['The state counts steps, one for each call of the method; checkpoints keep it.'],
    needs: ['turns[].calls'],
    example: '--method grpo --shape spear-tool-bonus',
  },
  z.strictObject({
    perCall: z.number().min(0).default(0.1).describe('Reward of a call at the start of training.'),
    most: z.number().min(0).default(1).describe('The highest reward of a trajectory’s calls.'),
    steps: z.number().int().min(1).default(200).describe('Steps until the reward is 0 (T).'),
  }),
  ({ perCall, most, steps }) =>
    (trajectories, state) => {
      const step = (state['spear-tool-bonus/step'] as number | undefined) ?? 0;
      const weight = fadingOut(step, steps);
      const shaped = trajectories.map((trajectory) =>
        withBonus(trajectory, weight * Math.min(most, perCall * callCount('spear-tool-bonus', trajectory))),
      );
      return { trajectories: shaped, state: { ...state, 'spear-tool-bonus/step': step + 1 } };
    },
);
