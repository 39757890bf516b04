/**
 * A loss over per-token quantities, written once on `graph/`.
 *
 * Tensors are [B, T] (rows, tokens), aligned with the batch. An objective sums; it never averages: `weight` already
 * carries each token's share of the step's loss, so micro-batches add up to the whole.
 */

import type { Tensor } from '../graph/tensor.ts';
import type { NamedLoss } from './named-losses.ts';

export interface TokenTensors {
  /** Log-probability of each token under the present weights, at the sampling temperature. */
  readonly logprobs: Tensor;
  /** Share of each token in the loss; zero where nothing is trained. */
  readonly weight: Tensor;
  /** A per-token input by name (`advantages`, `oldLogprobs`, `returns`, …), no gradient flows into it. */
  channel(name: string): Tensor;
  /** Entropy of the distribution at each token; asking for it makes the engine compute it. */
  entropies(): Tensor;
  /** Value-head output for the prefix before each token; needs an engine with a value head. */
  values(): Tensor;
  /** [B, T, bins]: the logits of a categorical value head for the prefix before each token. */
  valueLogits(): Tensor;
}

export interface Objective {
  /** Identifies graph and settings: two objectives with equal keys build equal graphs. */
  readonly key: string;
  /** Channels it reads besides `weight`. */
  readonly channels: readonly string[];
  readonly needs: { readonly entropies?: boolean; readonly values?: boolean };
  /** The same loss by the name that training services know it by, where it has one. */
  readonly named?: NamedLoss;
  /** `loss` and every metric are scalars, sums over tokens. */
  build(tokens: TokenTensors): { readonly loss: Tensor; readonly metrics: Readonly<Record<string, Tensor>> };
}
