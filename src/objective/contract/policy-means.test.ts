import { describe, expect, test } from 'vitest';
import { gtr, sftRl } from '../imitation/imitation-mix.ts';
import { selfImitation } from '../imitation/self-imitation.ts';
import { aepoClip } from '../policy-gradient/aepo-clip.ts';
import { cispo } from '../policy-gradient/cispo.ts';
import { clipCov } from '../policy-gradient/clip-cov.ts';
import { dro } from '../policy-gradient/dro.ts';
import { gspo } from '../policy-gradient/gspo.ts';
import { importanceSampling } from '../policy-gradient/importance-sampling.ts';
import { klCov } from '../policy-gradient/kl-cov.ts';
import { icepop, sequenceMask, truncatedImportanceSampling } from '../policy-gradient/mismatch-correction.ts';
import { ppoClip } from '../policy-gradient/ppo-clip.ts';
import { turnPpo } from '../policy-gradient/turn-ppo.ts';
import { entropyBonus } from '../regularizer/entropy-bonus.ts';
import { entropySmoothing } from '../regularizer/entropy-smoothing.ts';
import { klPenalty } from '../regularizer/kl-penalty.ts';
import { evaluateStep } from '../testing/evaluate.ts';
import { countedTargets, policyMeans } from './policy-means.ts';

/** Two rows of two sampled tokens and one that was not; ratios 1.5 and 0.5, 1 and 1, whose mean is 1. */
const ratios = [
  [1.5, 0.5],
  [1, 1],
] as const;
const zeros = [0, 0, 0];
const rows = (weights: readonly [number, number]) =>
  ratios.map(([one, two], row) => ({
    logprobs: [Math.log(one) - 1, Math.log(two) - 1, -7],
    oldLogprobs: [-1, -1, 0],
    // The sampler found the tokens half as likely as the trainer did.
    rolloutLogprobs: [-1 - Math.log(2), -1 - Math.log(2), 0],
    referenceLogprobs: [-1, -1, 0],
    advantages: [2, -1, 0],
    turns: [1, 2, 0],
    entropies: [1, 2, 9],
    historicEntropies: zeros,
    smoothing: zeros,
    imitation: [0, 0, 0.5],
    replay: [row, row, row],
    weight: [weights[row]!, weights[row]!, 0],
  }));

const shares = [
  [0.25, 0.25],
  [0.001, 0.01],
  [3, 40],
] as const;

describe('figures of the policy are means over tokens, whatever the loss makes of their weights', () => {
  test.each([
    ['ppo-clip', ppoClip()],
    ['importance-sampling', importanceSampling()],
    ['cispo', cispo()],
    ['dro', dro()],
    ['aepo-clip', aepoClip()],
    ['clip-cov', clipCov({ lower: -10, upper: 10, share: 0.5 })],
    ['kl-cov', klCov()],
    ['tis', truncatedImportanceSampling()],
    ['icepop', icepop({ largest: 1.5 })],
    ['sequence-mask', sequenceMask()],
    ['sft-rl', sftRl()],
    ['gtr', gtr()],
    ['self-imitation', selfImitation()],
  ])('%s: ratio 1, KL as it is', async (_, objective) => {
    for (const weights of shares) {
      const { metrics } = await evaluateStep(objective, { rows: rows(weights), step: 7 });
      expect(metrics['policy/ratio']).toBeCloseTo(1, 6);
      expect(metrics['policy/kl']).toBeCloseTo(-(Math.log(1.5) + Math.log(0.5)) / 4, 6);
      expect(metrics['policy/kl_k1']).toBeCloseTo(-(Math.log(1.5) + Math.log(0.5)) / 4, 6);
    }
  });

  test.each([
    ['gspo', gspo()],
    ['turn-ppo', turnPpo()],
    ['entropy-bonus', entropyBonus()],
    ['entropy-smoothing', entropySmoothing()],
    ['kl-penalty', klPenalty()],
    ['ppo-clip', ppoClip({ dualClip: 1.2 })],
  ])('%s: the same figures for any weights', async (_, objective) => {
    const [first, ...others] = await Promise.all(
      shares.map(async (weights) => (await evaluateStep(objective, { rows: rows(weights) })).metrics),
    );
    expect(Object.keys(first!).some((name) => name.startsWith('policy/'))).toBe(true);
    for (const other of others)
      for (const [name, value] of Object.entries(first!)) expect(other[name]).toBeCloseTo(value, 6);
  });

  test('the entropy is a mean over the tokens that were sampled', async () => {
    const { metrics } = await evaluateStep(entropyBonus(), { rows: rows([0.001, 0.01]) });
    expect(metrics['policy/entropy_exact']).toBeCloseTo(1.5, 6);
  });
});

test('the denominator counts tokens with a weight; other figures stay, and nothing is divided by 0', () => {
  expect(countedTargets({ channels: { weight: Float32Array.of(0.001, 0, 7) } })).toBe(2);
  expect(policyMeans({ 'policy/ratio': 8, 'value/loss': 8 }, 4)).toEqual({
    'policy/ratio': 2,
    'value/loss': 8,
  });
  expect(policyMeans({ 'policy/ratio': 0 }, 0)).toEqual({ 'policy/ratio': 0 });
});
