/**
 * A loss over per-token quantities, written once on `graph/`.
 *
 * Tensors are [B, T] (rows, tokens), aligned with the batch. An objective sums; it never averages: `weight` already
 * carries each token's share of the step's loss, so micro-batches add up to the whole.
 */

import type { Rng } from '../../core/rng.ts';
import type { Tensor } from '../../graph/tensor.ts';
import type { NamedLoss } from '../named-losses.ts';

export interface TokenTensors {
  /** Log-probability of each token under the present weights, at the sampling temperature. */
  readonly logprobs: Tensor;
  /** The tokens themselves, int64. */
  readonly targets: Tensor;
  /** Share of each token in the loss; zero where nothing is trained. */
  readonly weight: Tensor;
  /** 1 on the tokens that figures are means over, 0 elsewhere: those that are trained, whatever an objective makes of `weight`. */
  readonly counted: Tensor;
  /** A per-token input by name (`advantages`, `oldLogprobs`, `returns`, …), no gradient flows into it. */
  channel(name: string): Tensor;
  /** Entropy of the distribution at each token; asking for it makes the engine compute it. */
  entropies(): Tensor;
  /** Value-head output for the prefix before each token; needs an engine with a value head. */
  values(): Tensor;
  /** [B, T, bins]: the logits of a categorical value head for the prefix before each token. */
  valueLogits(): Tensor;
  /** Output of an extra head for the prefix before each token: [B, T], or [B, T, vocabulary] of an action head. */
  head(name: string): Tensor;
}

/** Tokens that count together: a trajectory, or the part of it that a method compares. It may span several rows. */
export interface TokenSequence {
  /** Indices of its rows in the step. */
  readonly rows: readonly number[];
  readonly reward: number;
  /** A completion that only sets a baseline, as the mismatched ones of KTO do. */
  readonly baseline?: boolean;
}

/** How the rows of a step belong together. */
export interface StepStructure {
  readonly sequences?: readonly TokenSequence[];
  /** Indices of two sequences: the preferred one first. */
  readonly pairs?: readonly (readonly [number, number])[];
}

/** What `prepare` sees: a whole optimizer step, before it is cut into micro-batches. */
export interface StepView extends Required<StepStructure> {
  /** Per row, its channels by name, aligned with its tokens. */
  readonly channels_B: readonly Readonly<Record<string, Float32Array>>[];
  /** Under the present weights; empty unless `needs.scores`. */
  readonly logprobs_B_T: readonly Float32Array[];
  /** Readings of `needs.scores.heads` and `needs.scores.frozenHeads`, by name, per row. */
  readonly heads: Readonly<Record<string, readonly Float32Array[]>>;
  readonly frozenHeads: Readonly<Record<string, readonly Float32Array[]>>;
  /** Number of the optimizer step, for schedules. */
  readonly step: number;
  readonly rng: Rng;
}

export interface Prepared {
  /** Channels that `build` reads besides those of the rows, per row. */
  readonly channels: Readonly<Record<string, readonly Float32Array[]>>;
  /** Added to the value of the loss, where what `build` sums has only its gradient. */
  readonly loss?: number;
  readonly metrics?: Readonly<Record<string, number>>;
}

export interface ObjectiveNeeds {
  readonly entropies?: boolean;
  readonly values?: boolean;
  /** A value head with bins. */
  readonly valueLogits?: boolean;
  /** Extra heads of the model that `build` reads. */
  readonly heads?: readonly string[];
  /** A scoring pass over the step before gradients are taken. */
  readonly scores?: { readonly heads?: readonly string[]; readonly frozenHeads?: readonly string[] };
  readonly sequences?: boolean;
  readonly pairs?: boolean;
}

/** Parameters that learn together. */
export type ParameterGroup = 'value-head';

export interface Objective {
  /** Identifies graph and settings: two objectives with equal keys build equal graphs. */
  readonly key: string;
  /** Channels it reads besides `weight`: given with the rows, or made by `prepare`. */
  readonly channels: readonly string[];
  readonly needs: ObjectiveNeeds;
  /** The parameters that it trains, where not all that it depends on: the optimizer step must move no other (`only`). */
  readonly trains?: ParameterGroup;
  /** The same loss by the name that training services know it by, where it has one. */
  readonly named?: NamedLoss;
  /**
   * Statistics and schedules of the whole optimizer step, as channels: ranks over the batch, pairs of sequences, targets
   * from a target network. What changes from step to step is a channel, never part of the graph.
   */
  prepare?(step: StepView): Prepared;
  /**
   * `loss` and every metric are scalars, sums over tokens. Metrics under `policy/` are sums over `counted` tokens, each with
   * weight 1; a step makes means of them (`policyMeans`).
   */
  build(tokens: TokenTensors): { readonly loss: Tensor; readonly metrics: Readonly<Record<string, Tensor>> };
}
