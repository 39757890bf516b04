/**
 * Clip-Cov: PPO clip without a few of the tokens whose log-probability and advantage move together.
 *
 *   loss = Σ over tokens that are not drawn of weight · PPO clip
 *   drawn: at random, `share` of all trained tokens, from those with lower < cov < upper
 *
 * Sources: arXiv 2505.22617; SPEAR, arXiv 2509.22601, for agents.
 * 1. Tokens that PPO's clip already holds back are not drawn. At least one token is, where any qualifies.
 */

import { z } from 'zod';
import { multiply } from '../../graph/operators/elementwise.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import type { StepView } from '../contract/objective.ts';
import { covariances, markTokens, type StepToken, trainedTokens } from './covariance.ts';
import { ppoClip, ppoClipOptions } from './ppo-clip.ts';

export interface CovarianceClip {
  readonly share: number;
  readonly lower: number;
  readonly upper: number;
  readonly clipLow: number;
  readonly clipHigh: number;
}

/** The tokens whose loss is left out. */
export function drawCovarianceClipped(
  tokens: readonly StepToken[],
  { share, lower, upper, clipLow, clipHigh }: CovarianceClip,
  rng: StepView['rng'],
): StepToken[] {
  const covariance = covariances(tokens);
  const isClipped = ({ advantage, logprob, oldLogprob }: StepToken): boolean => {
    const ratio = Math.exp(logprob - oldLogprob);
    return advantage > 0 ? ratio > 1 + clipHigh : advantage < 0 && ratio < 1 - clipLow;
  };
  const candidates = tokens.filter(
    (token, index) => covariance[index]! > lower && covariance[index]! < upper && !isClipped(token),
  );
  const count = Math.max(1, Math.floor(share * tokens.length));
  return rng.shuffle(candidates).slice(0, count);
}

const schema = z.strictObject({
  share: z.number().min(0).max(1).default(2e-4).describe('Share of the tokens of a step that is left out'),
  lower: z.number().default(1).describe('Only tokens with a covariance above this are drawn'),
  upper: z.number().default(5).describe('Only tokens with a covariance below this are drawn'),
  policy: ppoClipOptions.prefault({}).describe('Settings of the clipped policy loss'),
});

/** Reads `advantages` and `oldLogprobs`, and scores the step. Metrics as `ppo-clip`, and `policy/covariance_clipped`. */
export const clipCov: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'clip-cov',
    title: 'Clip-Cov',
    summary: 'PPO clip that leaves out a few tokens of high covariance, against entropy collapse',
    formula: 'Σ_{t not drawn} w ℓ_ppo;   drawn from lower < (A - mean A)(log π - mean log π) < upper',
    source: 'arXiv 2505.22617',
    family: 'policy',
    policyLoss: { clipsTokens: 'policy' },
  },
  schema,
  ({ policy, ...options }) => {
    const inner = ppoClip(policy);
    return {
      channels: [...inner.channels, 'covarianceKept'],
      needs: { ...inner.needs, scores: {} },
      prepare: (step) => {
        const clip = { ...options, clipLow: policy.clipLow, clipHigh: policy.clipHigh };
        const drawn = drawCovarianceClipped(trainedTokens(step), clip, step.rng);
        return {
          channels: { covarianceKept: markTokens(step, drawn, 1, 0) },
          metrics: { 'policy/covariance_clipped': drawn.length },
        };
      },
      build: (tokens) =>
        inner.build({ ...tokens, weight: multiply(tokens.weight, tokens.channel('covarianceKept')) }),
    };
  },
);
