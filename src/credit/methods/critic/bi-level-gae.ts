/** Bi-level GAE: advantages of turns first, with a discount of their own, then of tokens inside each turn. */

import { z } from 'zod';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { creditTokens, tokenRewards, tokenStarts, whitenTokens } from '../../kit/tokens.ts';
import { addArrays, tokenValues } from './gae.ts';

export const biLevelGae: CreditMethod = defineCreditMethod(
  {
    name: 'bi-level-gae',
    title: 'Bi-level GAE (VAGEN)',
    summary: 'a discount between turns, and token-level credit inside each turn',
    formula: `turns:  δ_k = r_k + γ_H·V(e_{k+1}) - V(e_k),   A_k = δ_k + γ_H·λ·A_{k+1},   e_k = last sampled token of turn k
tokens: A_t = A_k at t = e_k,   else A_t = γ·V_{t+1} - V_t + γλ·A_{t+1}
return_t = A_t + V_t, then A is whitened over the tokens of the batch`,
    source: '"VAGEN: Reinforcing World Model Reasoning for Multi-Turn VLM Agents", arXiv 2510.16907',
    deviations: [
      'Does a turn’s advantage replace the one of its last token, or is it added? The paper’s prose and its algorithm disagree. The default replaces, like the released code; `lastToken=add` adds.',
      'Turn ends come from the turns, not from rewards other than 0, so a turn with reward 0 ends, too.',
      'It equals token GAE only with γ_H = γ = λ = 1. Even at γ_H = γ, decay between turns counts once per turn.',
    ],
    level: 'token',
    critic: true,
    wholeSteps: true,
    needs: ['turns[].values'],
    example: '--method bi-level-gae --set gammaH=0.95 --set whiten=false',
  },
  z.strictObject({
    gamma: z.number().min(0).max(1).default(1).describe('Discount per sampled token, inside a turn.'),
    gammaH: z.number().min(0).max(1).default(0.95).describe('Discount per turn (γ_H, high level).'),
    lambda: z.number().min(0).max(1).default(1).describe('Trust in rewards over values, on both levels.'),
    lastToken: z
      .enum(['replace', 'add'])
      .default('replace')
      .describe('Whether a turn’s advantage replaces the one of its last token, or is added to it.'),
    whiten: z
      .boolean()
      .default(true)
      .describe('Whether to bring the advantages of the batch to mean 0 and variance 1, over tokens.'),
  }),
  (options) => (trajectories, state) => {
    const starts = tokenStarts(trajectories);
    const rewards = tokenRewards(trajectories, starts);
    const values = tokenValues('bi-level-gae', trajectories, starts);
    const raw = new Float64Array(rewards.length);
    let start = 0;
    for (const { turns } of trajectories) {
      const ends: number[] = [];
      let next = start;
      for (const { tokens } of turns) {
        next += tokens;
        if (tokens > 0) ends.push(next - 1);
      }
      estimate(rewards, values, raw, start, ends, options);
      start = next;
    }
    const returns = addArrays(raw, values);
    if (options.whiten) whitenTokens(raw);
    return { credits: creditTokens(trajectories, raw, returns), state };
  },
);

interface Levels {
  readonly gamma: number;
  readonly gammaH: number;
  readonly lambda: number;
  readonly lastToken: 'replace' | 'add';
}

/** Writes the advantages of one trajectory, whose tokens begin at `start` and whose turns end at `ends`. */
function estimate(
  rewards: Float64Array,
  values: Float64Array,
  advantages: Float64Array,
  start: number,
  ends: readonly number[],
  { gamma, gammaH, lambda, lastToken }: Levels,
): void {
  let nextValue = 0;
  let nextAdvantage = 0;
  for (let turn = ends.length - 1; turn >= 0; turn--) {
    const end = ends[turn]!;
    const value = values[end]!;
    nextAdvantage = rewards[end]! + gammaH * nextValue - value + gammaH * lambda * nextAdvantage;
    nextValue = value;
    advantages[end] = nextAdvantage + (lastToken === 'add' ? rewards[end]! - value : 0);
    const begin = turn === 0 ? start : ends[turn - 1]! + 1;
    for (let t = end - 1; t >= begin; t--) {
      const delta = gamma * values[t + 1]! - values[t]!;
      advantages[t] = delta + gamma * lambda * advantages[t + 1]!;
    }
  }
}
