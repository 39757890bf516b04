/** Turn-level GAE: a whole turn is one action, with one value before it. */

import { z } from 'zod';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { missingField } from '../../contract/needs.ts';
import { creditTurns, eachTurn, flatRewards, turnStarts, whitenTurns } from '../../kit/turns.ts';
import type { CreditTrajectory, TrajectoryCredit } from '../../report/rollouts.ts';

export const turnGae: CreditMethod = defineCreditMethod(
  {
    name: 'turn-gae',
    aliases: ['turn-ppo'],
    title: 'Turn-level GAE (Turn-PPO)',
    summary: 'advantages of whole turns from values before each turn',
    formula: `δ_k = r_k + γ·V_{k+1} - V_k,   A_k = δ_k + γλ·A_{k+1},   return_k = A_k + V_k
V_k is the value of the state before turn k; every token of the turn gets A_k, whitened over tokens`,
    source: '"Turn-PPO", arXiv 2512.17008',
    deviations: [
      'V_k is `turns[].value`, else the first of `turns[].values`: the value before the first sampled token.',
      'The critic learns at the first token of each turn only; other tokens have no target.',
      'A scripted turn has no value: its reward goes to the sampled turn before it, and its advantage is 0.',
      'Episodes cut short are treated as ended.',
    ],
    level: 'turn',
    critic: true,
    wholeSteps: true,
    needs: ['turns[].value'],
    uses: ['turns[].values'],
    example: '--method turn-gae --set gamma=1 --set whiten=false',
  },
  z.strictObject({
    gamma: z.number().min(0).max(1).default(0.99).describe('Discount per turn.'),
    lambda: z.number().min(0).max(1).default(0.9).describe('Trust in rewards over values, per turn.'),
    whiten: z
      .boolean()
      .default(true)
      .describe('Whether to bring the advantages of the batch to mean 0 and variance 1, over tokens.'),
  }),
  ({ gamma, lambda, whiten }) =>
    (trajectories, state) => {
      const starts = turnStarts(trajectories);
      const rewards = flatRewards(trajectories);
      const values = turnValues(trajectories);
      const raw = new Float64Array(rewards.length);
      for (let index = 0; index < trajectories.length; index++)
        estimateTurns(rewards, values, raw, starts[index]!, starts[index + 1]!, gamma, lambda);
      const targets = trajectories.map((trajectory, index) =>
        criticTargets(trajectory, raw.subarray(starts[index]!)),
      );
      if (whiten) whitenTurns(trajectories, raw);
      const credits = creditTurns(trajectories, raw).map((credit, index) => {
        const learned = targets[index];
        return learned ? { ...credit, ...learned } : credit;
      });
      return { credits, state };
    },
);

/** The value before each turn; not a number for turns without sampled tokens that have none. */
function turnValues(trajectories: readonly CreditTrajectory[]): Float64Array {
  return eachTurn(trajectories, ({ value, values, tokens }, k, trajectory) => {
    const found = value ?? values?.[0];
    if (found === undefined && tokens > 0) {
      throw missingField(
        'turn-gae',
        trajectory,
        'turns[].value',
        k,
        'Or give turns[].values, the first of which is it',
      );
    }
    return found ?? Number.NaN;
  });
}

/** Writes to `advantages` those of the turns from `start` to `end`; what a turn without a value earned goes to the one before. */
function estimateTurns(
  rewards: Float64Array,
  values: Float64Array,
  advantages: Float64Array,
  start: number,
  end: number,
  gamma: number,
  lambda: number,
): void {
  let earned = 0;
  let nextValue = 0;
  let nextAdvantage = 0;
  for (let turn = end - 1; turn >= start; turn--) {
    const value = values[turn]!;
    earned += rewards[turn]!;
    if (Number.isNaN(value)) continue;
    nextAdvantage = earned + gamma * nextValue - value + gamma * lambda * nextAdvantage;
    nextValue = value;
    earned = 0;
    advantages[turn] = nextAdvantage;
  }
}

/** What the critic is to say before the first token of each turn, where each token has a value; the others keep theirs. */
function criticTargets(
  { turns }: CreditTrajectory,
  raw_K: Float64Array,
): Required<Pick<TrajectoryCredit, 'returns_T' | 'targets_T'>> | undefined {
  let tokens = 0;
  for (const turn of turns) {
    if ((turn.values?.length ?? 0) !== turn.tokens) return undefined;
    tokens += turn.tokens;
  }
  const returns_T = new Float64Array(tokens);
  const targets_T = new Uint8Array(tokens);
  let first = 0;
  for (let k = 0; k < turns.length; k++) {
    const { value, values, tokens: own } = turns[k]!;
    if (values === undefined || own === 0) continue;
    for (let t = 1; t < own; t++) returns_T[first + t] = values[t]!;
    targets_T[first] = 1;
    returns_T[first] = raw_K[k]! + (value ?? values[0]!);
    first += own;
  }
  return { returns_T, targets_T };
}
