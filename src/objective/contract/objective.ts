/**
 * A loss over per-token quantities, written once on `graph/`.
 *
 * A loss sees N targets: tokens that count, each in a row at a position. Tensors are [N]. An objective sums; it never averages:
 * `weight` already carries each target's share of the step's loss, so micro-batches add up to the whole.
 */

import type { Rng } from '../../core/rng.ts';
import type { Tensor } from '../../graph/tensor.ts';
import type { NamedLoss } from '../named-losses.ts';

/**
 * The tokens of some rows that a loss is over. Several targets may name one token of one row: members of a group that sampled
 * the same behind the same prefix share it, and keep an advantage each.
 */
export interface TokenTargets {
  /** Index of each target's row. */
  readonly row_N: Int32Array;
  /** Place of each target in its row, from 1: position 0 has nothing before it. */
  readonly position_N: Int32Array;
  /** Turn that each target belongs to, from 0; -1 where it belongs to none. */
  readonly turn_N: Int32Array;
  /**
   * Quantities that the objective reads by name: N numbers each, or k numbers a target, target after target. `weight` is
   * required: the target's share of the loss, already divided by the denominator of the whole step.
   */
  readonly channels: Readonly<Record<string, Float32Array>>;
  /**
   * The ids over which a target is normalised, itself among them, where its completion was restricted to choices; null: all.
   * Log-probabilities and entropies are then those of the restricted distribution.
   */
  readonly allowed_N?: readonly (Int32Array | null)[];
}

/** What shares a number with other targets: their row, or their turn of that row. */
export type SegmentLevel = 'row' | 'turn';

export interface TokenTensors {
  /** Log-probability of each target under the present weights, at the sampling temperature. */
  readonly logprobs: Tensor;
  /** The tokens themselves, int64. */
  readonly targets: Tensor;
  /** Share of each target in the loss; zero where nothing is trained. */
  readonly weight: Tensor;
  /** 1 on the targets that figures are means over, 0 elsewhere: those that are trained, whatever an objective makes of `weight`. */
  readonly counted: Tensor;
  /**
   * An input by name (`advantages`, `oldLogprobs`, `returns`, …), no gradient flows into it: [N], or [N, numbers] of a channel
   * that holds several numbers a target. `turns` is always there: the turn of each target, from 1.
   */
  channel(name: string, numbers?: number): Tensor;
  /** int64: equal for the targets of one row, or of one turn of a row; below N. For sums over segments (`segmentSum`). */
  segments(level: SegmentLevel): Tensor;
  /**
   * [N, k]: log-probabilities of other tokens in the place of each target, by int64 ids [N, k]. It makes the engine keep the
   * distribution over the whole vocabulary at each target.
   */
  logprobsOf(ids: Tensor): Tensor;
  /** Entropy of the distribution at each target; asking for it makes the engine compute it. */
  entropies(): Tensor;
  /** Value-head output for the prefix before each target; needs an engine with a value head. */
  values(): Tensor;
  /** [N, bins]: the logits of a categorical value head for the prefix before each target. */
  valueLogits(): Tensor;
  /** Output of an extra head for the prefix before each target: [N], or [N, vocabulary] of an action head. */
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

/** What `prepare` sees: all N targets of an optimizer step, before it is cut into micro-batches. */
export interface StepView extends Required<StepStructure>, Omit<TokenTargets, 'allowed_N'> {
  /** How many rows the step has. */
  readonly rows: number;
  /** Under the present weights; empty unless `needs.scores`. */
  readonly logprobs_N: Float32Array;
  /** Readings of `needs.scores.heads` and `needs.scores.frozenHeads`, by name. */
  readonly heads: Readonly<Record<string, Float32Array>>;
  readonly frozenHeads: Readonly<Record<string, Float32Array>>;
  /** Number of the optimizer step, for schedules. */
  readonly step: number;
  readonly rng: Rng;
}

export interface Prepared {
  /** Channels that `build` reads besides those of the targets, N numbers each. */
  readonly channels: Readonly<Record<string, Float32Array>>;
  /** Added to the value of the loss, where what `build` sums has only its gradient. */
  readonly loss?: number;
  readonly metrics?: Readonly<Record<string, number>>;
}

export interface ObjectiveNeeds {
  /** Log-probabilities of other tokens than the targets (`logprobsOf`). */
  readonly distribution?: boolean;
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
  /** Channels it reads besides `weight`: given with the targets, or made by `prepare`. */
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
   * `loss` and every metric are scalars, sums over targets. Metrics under `policy/` are sums over `counted` targets, each with
   * weight 1; a step makes means of them (`policyMeans`).
   */
  build(tokens: TokenTensors): { readonly loss: Tensor; readonly metrics: Readonly<Record<string, Tensor>> };
}
