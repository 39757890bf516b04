/**
 * EPO: an entropy bonus, and a penalty on tokens whose entropy leaves the range that it had at the same environment step.
 *
 *   loss = -entropyCoefficient · (Σ weight · H - w(epoch) · smoothCoefficient · Σ weight · penalty)
 *   hinge:    penalty = size · (max(0, low · H_history - H) + max(0, H - high · H_history))
 *   constant: penalty = 0 within low · H_history < H < high · H_history, else size
 *
 * Source: arXiv 2509.22576; its repository, dp_actor.py.
 * 1. The released code's penalty is the constant, whose gradient is zero, so that only the bonus trains. The hinge is the
 *    default; the constant is for parity.
 * 2. The code applies the penalty only where some row of a micro-batch is past half of the steps; here it applies
 *    wherever there is history, and the schedule is the channel `smoothing`, so that it does not change the graph.
 */

import { z } from 'zod';
import { add, maximum, multiply, subtract } from '../../graph/operators/elementwise.ts';
import { cast, greater } from '../../graph/operators/logic.ts';
import type { Tensor } from '../../graph/tensor.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { figureOf, totalOf } from '../policy-gradient/surrogate.ts';

const schema = z.strictObject({
  entropyCoefficient: z.number().min(0).default(0.001).describe('Weight of the whole term'),
  smoothCoefficient: z.number().min(0).default(1).describe('Weight of the penalty within it'),
  size: z.number().min(0).default(0.1).describe('Size of the penalty'),
  low: z.number().min(0).default(0.8).describe('Lower end of the range, as a share of the historic entropy'),
  high: z.number().min(0).default(1.2).describe('Upper end of the range, as a share of the historic entropy'),
  penalty: z
    .enum(['hinge', 'constant'])
    .default('hinge')
    .describe('A penalty with a gradient, or one for parity'),
});

/**
 * Reads `historicEntropies` (of each token's environment step) and `smoothing` (w, or 0 where there is no history).
 * Metrics: `policy/entropy_exact`, `policy/entropy_penalty`.
 */
export const entropySmoothing: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'entropy-smoothing',
    title: 'EPO entropy smoothing',
    summary: 'rewards uncertainty, and keeps it near its value at the same turn of earlier steps',
    formula: '-λ (Σ w H - w_e Σ w ξ (max(0, κ_l H_hist - H) + max(0, H - κ_r H_hist)))',
    source: 'arXiv 2509.22576',
    family: 'regulariser',
  },
  schema,
  ({ entropyCoefficient, smoothCoefficient, size, low, high, penalty }) => ({
    channels: ['historicEntropies', 'smoothing'],
    needs: { entropies: true },
    build: (tokens) => {
      const total = totalOf(tokens);
      const entropies = tokens.entropies();
      const history = tokens.channel('historicEntropies');
      const below = subtract(multiply(history, low), entropies);
      const above = subtract(entropies, multiply(history, high));
      const isPositive = (x: Tensor): Tensor => cast(greater(x, 0), 'float32');
      const outside =
        penalty === 'hinge'
          ? add(maximum(below, 0), maximum(above, 0))
          : add(isPositive(below), isPositive(above));
      const penalties = multiply(multiply(outside, size), tokens.channel('smoothing'));
      const figure = figureOf(tokens);
      return {
        loss: multiply(
          subtract(multiply(total(penalties), smoothCoefficient), total(entropies)),
          entropyCoefficient,
        ),
        metrics: { 'policy/entropy_exact': figure(entropies), 'policy/entropy_penalty': figure(penalties) },
      };
    },
  }),
);

/** Mean entropies of past training iterations by environment step; plain JSON, so that checkpoints hold it. */
export type EntropyHistory = readonly { readonly mean: number; readonly iterations: number }[];

/** The history after one more iteration; `entropies_K` is its mean entropy at each environment step that occurred. */
export function extendEntropyHistory(
  history: EntropyHistory,
  entropies_K: readonly (number | undefined)[],
): EntropyHistory {
  return Array.from({ length: Math.max(history.length, entropies_K.length) }, (_, k) => {
    const { mean, iterations } = history[k] ?? { mean: 0, iterations: 0 };
    const entropy = entropies_K[k];
    if (entropy === undefined) return { mean, iterations };
    return { mean: mean + (entropy - mean) / (iterations + 1), iterations: iterations + 1 };
  });
}

/** The two channels of a row, from the turn of each token, from 1; both 0 where there is no history. */
export function smoothingChannels(
  history: EntropyHistory,
  turns_T: ArrayLike<number>,
  epochWeight: number,
): { readonly historicEntropies: Float32Array; readonly smoothing: Float32Array } {
  const known = Array.from(turns_T, (turn) => history[turn - 1]).map((entry) =>
    entry && entry.iterations > 0 ? entry : undefined,
  );
  return {
    historicEntropies: Float32Array.from(known, (entry) => entry?.mean ?? 0),
    smoothing: Float32Array.from(known, (entry) => (entry ? epochWeight : 0)),
  };
}

/** The released code's weight of the penalty in an epoch: from 1 to 0.83 in the first half, then from 0.8 to 0.04. */
export function smoothingWeight(epoch: number, epochs = 150): number {
  const half = epochs / 2;
  if (epoch <= half) return 1 - 0.2 * (1 - Math.exp((-2 * epoch) / half));
  return 0.8 * Math.exp((-3 * (epoch - half)) / half);
}
