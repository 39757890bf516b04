/**
 * SPEAR: learning from one's own past successes beside fresh data, more of it as training goes on.
 *
 *   loss = Σ over fresh tokens of weight · Clip-Cov + γ(step) · Σ over replayed tokens of weight · Clip-Cov
 *   γ(t) = coefficient · ½ (1 - cos(π t / warmupSteps)) up to warmupSteps, then coefficient
 *   recalibrated advantage of a replayed trajectory: R - median of the stored group means
 *
 * Source: arXiv 2509.22601; its repository verl-agent, core_algos.py and ray_trainer_hybrid.py.
 * 1. The channel `replay` is 1 on the tokens of replayed rows and 0 on others. Covariances are taken, and tokens drawn,
 *    among fresh and among replayed tokens apart, with bounds of their own.
 * 2. What to replay: the paper asks for an advantage above 0 both when stored and now, the code for at least 0 now. The
 *    paper's rule is the default.
 */

import { z } from 'zod';
import { quantile } from '../../core/statistics.ts';
import { multiply } from '../../graph/operators/elementwise.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { finiteInput } from '../contract/step-input.ts';
import { drawCovarianceClipped } from '../policy-gradient/clip-cov.ts';
import { markTokens, trainedTokens } from '../policy-gradient/covariance.ts';
import { ppoClip, ppoClipOptions } from '../policy-gradient/ppo-clip.ts';

/** Weight of replayed data at a step. */
export function replayWeight(step: number, coefficient: number, warmupSteps: number): number {
  if (step >= warmupSteps) return coefficient;
  return coefficient * 0.5 * (1 - Math.cos((Math.PI * step) / warmupSteps));
}

/** The advantage of a stored trajectory against how groups have done: its reward minus the median of their means. */
export function recalibratedAdvantage(reward: number, groupMeans: readonly number[]): number {
  finiteInput(reward, 'the reward of a replayed trajectory');
  return reward - quantile(groupMeans, 0.5);
}

/** Whether a stored trajectory is replayed. `paper` asks for both advantages above 0, `code` for the new one at least 0. */
export function isReplayed(
  storedAdvantage: number,
  recalibrated: number,
  rule: 'paper' | 'code' = 'paper',
): boolean {
  return rule === 'paper' ? storedAdvantage > 0 && recalibrated > 0 : recalibrated >= 0;
}

const share = (value: number, of: string): z.ZodDefault<z.ZodNumber> =>
  z.number().min(0).max(1).default(value).describe(`Share of ${of} tokens left out for their covariance`);
const bound = (value: number, of: string): z.ZodDefault<z.ZodNumber> =>
  z.number().default(value).describe(`${of} of the covariance of tokens that may be left out`);

const schema = z.strictObject({
  coefficient: z.number().min(0).default(1).describe('Weight of replayed data after the warm-up'),
  warmupSteps: z.int().min(0).default(100).describe('Steps in which that weight rises from 0'),
  share: share(2e-4, 'fresh'),
  lower: bound(1, 'Lower bound'),
  upper: bound(5, 'Upper bound'),
  replayShare: share(0.02, 'replayed'),
  replayLower: bound(2, 'For replayed tokens, lower bound'),
  replayUpper: bound(60, 'For replayed tokens, upper bound'),
  policy: ppoClipOptions.prefault({ dualClip: 10 }).describe('Settings of the clipped policy loss'),
});

/**
 * Reads `advantages`, `oldLogprobs` and `replay`, and scores the step. Metrics as `ppo-clip`, and
 * `policy/covariance_clipped`, `imitation/share` (the weight γ).
 */
export const selfImitation: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'self-imitation',
    title: 'SPEAR self-imitation',
    summary: 'Clip-Cov on fresh data and, with growing weight, on replayed successes',
    formula: 'L_fresh + γ(t) L_replay,   γ(t) = c/2 (1 - cos(π t / T)) up to T',
    source: 'arXiv 2509.22601',
    family: 'imitation',
  },
  schema,
  ({ policy, ...options }) => {
    const inner = ppoClip(policy);
    return {
      channels: [...inner.channels, 'replayFactor'],
      needs: { ...inner.needs, scores: {} },
      prepare: (step) => {
        const tokens = trainedTokens(step);
        const replay_N = step.channels.replay!;
        const isReplay = ({ target }: (typeof tokens)[number]): boolean => replay_N[target]! > 0;
        const { clipLow, clipHigh } = policy;
        const fresh = { share: options.share, lower: options.lower, upper: options.upper };
        const replay = { share: options.replayShare, lower: options.replayLower, upper: options.replayUpper };
        const draw = (wanted: boolean, bounds: typeof fresh): typeof tokens =>
          drawCovarianceClipped(
            tokens.filter((token) => isReplay(token) === wanted),
            { ...bounds, clipLow, clipHigh },
            step.rng,
          );
        const drawn = [...draw(false, fresh), ...draw(true, replay)];
        const gamma = replayWeight(step.step, options.coefficient, options.warmupSteps);
        const kept = markTokens(step, drawn, 1, 0);
        return {
          channels: {
            replayFactor: kept.map((keep, target) => keep * (replay_N[target]! > 0 ? gamma : 1)),
          },
          metrics: { 'policy/covariance_clipped': drawn.length, 'imitation/share': gamma },
        };
      },
      build: (tokens) =>
        inner.build({ ...tokens, weight: multiply(tokens.weight, tokens.channel('replayFactor')) }),
    };
  },
);
