/**
 * Critics that classify: a value is the mean of a distribution over bins, trained by cross-entropy to a target.
 *
 *   hl-gauss: p_i = (Φ((e_{i+1} - y) / σ) - Φ((e_i - y) / σ)) / (Φ((e_m - y) / σ) - Φ((e_0 - y) / σ)), σ = smoothing · bin
 *   two-hot:  the two centres around y share the weight linearly
 *   loss     = -valueCoefficient · Σ weight · Σ_i p_i log softmax(logits)_i;   value = Σ_i softmax(logits)_i · centre_i
 *
 * Source: "Stop Regressing", arXiv 2403.03950.
 * 1. Targets are kept within [low, high]; in the outermost bins hl-gauss is biased inwards, so leave some room.
 * 2. Defaults are for returns in [0, 1]; the paper's Atari range is ±10. Bins must be those of the model's value head.
 */

import { z } from 'zod';
import { clamp, divide, maximum, multiply, negate, subtract } from '../../graph/operators/elementwise.ts';
import { logSoftmax, softmax, sum } from '../../graph/operators/reduce.ts';
import { reshape, slice } from '../../graph/operators/shape.ts';
import { absolute, erf, square } from '../../graph/operators/unary.ts';
import type { Tensor } from '../../graph/tensor.ts';
import { binCentres, type ValueBins } from '../../model/decoder/decoder.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import type { Objective } from '../contract/objective.ts';
import { totalOf } from '../policy-gradient/surrogate.ts';

const bins = {
  count: z.int().min(2).default(51).describe('Number of bins, as in the value head'),
  low: z.number().default(-0.1).describe('Lower end of the range'),
  high: z.number().default(1.1).describe('Upper end of the range'),
  valueCoefficient: z.number().min(0).default(0.5).describe('Weight of the value loss'),
};
const gaussSchema = z.strictObject({
  ...bins,
  smoothing: z.number().positive().default(0.75).describe('Standard deviation of a target, in bins'),
});
const twoHotSchema = z.strictObject(bins);

function binWidth({ count, low, high }: ValueBins): number {
  return (high - low) / count;
}

/** The bounds of the bins, one more than there are bins. */
function binEdges(range: ValueBins): Float32Array {
  return Float32Array.from({ length: range.count + 1 }, (_, bin) => range.low + bin * binWidth(range));
}

/** The probabilities of the bins [..., m] for targets [...]. */
export type BinTargets = (targets: Tensor, range: ValueBins) => Tensor;

/** Targets smoothed by a normal distribution of `smoothing` bins. */
export function gaussTargets(smoothing: number): BinTargets {
  return (targets, range) => {
    const width = smoothing * binWidth(range) * Math.SQRT2;
    const edges = targets.graph.constant(binEdges(range));
    // Twice the normal distribution function, less one; the ends are the same in a quotient of differences.
    const cumulative = erf(multiply(subtract(edges, withAxis(kept(targets, range))), 1 / width));
    const mass = subtract(slice(cumulative, -1, 1), slice(cumulative, -1, 0, -1));
    return divide(mass, subtract(slice(cumulative, -1, -1), slice(cumulative, -1, 0, 1)));
  };
}

/** Targets as weights on the two nearest centres. */
export const twoHotTargets: BinTargets = (targets, range) => {
  const half = binWidth(range) / 2;
  const centres = targets.graph.constant(binCentres(range));
  const within = clamp(targets, range.low + half, range.high - half);
  const distance = absolute(subtract(centres, withAxis(within)));
  return maximum(subtract(1, multiply(distance, 1 / binWidth(range))), 0);
};

const kept = (targets: Tensor, { low, high }: ValueBins): Tensor => clamp(targets, low, high);
const withAxis = (x: Tensor): Tensor => reshape(x, [...x.shape, 1]);

function categorical(options: z.output<typeof twoHotSchema>, targetsOf: BinTargets): Omit<Objective, 'key'> {
  return {
    channels: ['returns'],
    needs: { valueLogits: true },
    build: (tokens) => {
      const total = totalOf(tokens);
      const logits = tokens.valueLogits();
      const returns = tokens.channel('returns');
      const crossEntropy = negate(sum(multiply(targetsOf(returns, options), logSoftmax(logits)), [-1]));
      const values = sum(multiply(softmax(logits), logits.graph.constant(binCentres(options))), [-1]);
      const error = subtract(values, returns);
      const loss = total(crossEntropy);
      return {
        loss: multiply(loss, options.valueCoefficient),
        metrics: {
          'value/loss': loss,
          'value/weight': sum(tokens.weight),
          'value/return': total(returns),
          'value/return_squared': total(square(returns)),
          'value/error': total(error),
          'value/error_squared': total(square(error)),
        },
      };
    },
  };
}

/** Reads `returns`; needs a value head with these bins. Metrics as `value-loss`, whose loss is the cross-entropy. */
export const hlGauss: ObjectiveMethod<typeof gaussSchema> = defineObjective(
  {
    name: 'hl-gauss',
    title: 'HL-Gauss critic',
    summary: 'classifies returns into bins, with smoothed targets',
    formula: '-c Σ w Σ_i p_i log softmax_i,   p_i the mass of N(R, σ²) in bin i',
    source: 'arXiv 2403.03950',
    family: 'value',
  },
  gaussSchema,
  ({ smoothing, ...options }) => categorical(options, gaussTargets(smoothing)),
);

/** Reads and reports what `hl-gauss` does. */
export const twoHot: ObjectiveMethod<typeof twoHotSchema> = defineObjective(
  {
    name: 'two-hot',
    title: 'Two-hot critic',
    summary: 'classifies returns into bins, with weight on the two nearest',
    formula: '-c Σ w Σ_i p_i log softmax_i,   p linear on the two centres around R',
    source: 'arXiv 2403.03950',
    family: 'value',
  },
  twoHotSchema,
  (options) => categorical(options, twoHotTargets),
);
