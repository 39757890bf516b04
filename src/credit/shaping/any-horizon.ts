/** SAGE: an answer at once risks nothing, a wrong one after more turns costs. */

import { z } from 'zod';
import { canonicalJson } from '../../core/json/json.ts';
import type { CreditTrajectory, CreditTurn } from '../report/rollouts.ts';
import { isSuccess, withOnlyRewards } from './rewards.ts';
import { defineShaping, each, type RewardShaping } from './shaping.ts';

export const anyHorizon: RewardShaping = defineShaping(
  {
    name: 'any-horizon',
    aliases: ['sage'],
    title: 'Any-horizon rewards (SAGE)',
    summary: 'success, a price on failures after the first turn, and prices on bad and repeated calls',
    formula: `r_K = 1 where it is right, w·1 after a call of a tool that is worth it;   0 where it is wrong in its only turn, else -wrong
r_k ← r_k + form where the action of turn k was valid, else r_k - invalid;   r_k ← r_k - repeat·√n for each call that came n times before`,
    source:
      '"SAGE: Training Smart Any-Horizon Agents for Long Video Reasoning with Reinforcement Learning", arXiv 2512.13874, and its released code',
    deviations: [
      'Replaces all rewards. An episode that is cut off for its length is wrong after more turns, however many it had.',
      'Every action in form earns 0.05 there, which pays for long episodes: here it is an option (`form`).',
      'A judge pays each step that makes sense there; here that is for the environment’s own rewards, which this shaping leaves out.',
      'An answer that cannot be read costs 2 there; here it is an invalid action and a failure.',
      'Several calls of one cheap tool before a wrong answer cost twice as much there; here all wrong answers cost the same.',
    ],
    needs: [],
    uses: ['success', 'overlong', 'turns[].valid', 'turns[].calls'],
    ownRewards: true,
    example: '--method grpo --shape any-horizon --set any-horizon.wrong=0.25',
  },
  z.strictObject({
    wrong: z.number().min(0).default(0.5).describe('Price of a failure after the first turn.'),
    tools: z.array(z.string()).default([]).describe('Tools after whose use a right answer earns more.'),
    worth: z.number().min(1).default(1.25).describe('What a right answer earns then (w).'),
    form: z.number().min(0).default(0).describe('Reward of a turn whose action the environment could use.'),
    invalid: z.number().min(0).default(0.1).describe('Price of a turn whose action it could not use.'),
    repeat: z.number().min(0).default(0.05).describe('Price of a call that was made once before.'),
  }),
  (options) =>
    each((trajectory) => {
      const repeated_K = repeatedCalls(trajectory.turns);
      const rewards_K = trajectory.turns.map(({ valid = true }, k) => {
        const form = valid ? options.form : -options.invalid;
        return form - options.repeat * repeated_K[k]!;
      });
      if (rewards_K.length > 0) rewards_K[rewards_K.length - 1]! += endReward(trajectory, options);
      return withOnlyRewards(trajectory, rewards_K);
    }),
);

function endReward(
  trajectory: CreditTrajectory,
  {
    wrong,
    tools,
    worth,
  }: { readonly wrong: number; readonly tools: readonly string[]; readonly worth: number },
): number {
  const { turns, overlong = false } = trajectory;
  if (!isSuccess(trajectory)) return turns.length > 1 || overlong ? -wrong : 0;
  return turns.some(({ calls = [] }) => calls.some(({ name }) => tools.includes(name))) ? worth : 1;
}

/** Of each turn, the sum of √n over its calls, where n is how many times the same one was made before. */
function repeatedCalls(turns: readonly CreditTurn[]): number[] {
  const made = new Map<string, number>();
  return turns.map(({ calls = [] }) =>
    calls.reduce((sum, { name, arguments: given }) => {
      const call = canonicalJson({ name, arguments: given });
      const before = made.get(call) ?? 0;
      made.set(call, before + 1);
      return sum + Math.sqrt(before);
    }, 0),
  );
}
