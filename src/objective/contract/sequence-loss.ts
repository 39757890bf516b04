/**
 * Losses over whole sequences that depend on each other, such as preference pairs, as a gradient per token.
 *
 * Such a loss C reads one score per sequence, S = Σ weight · (log π - reference). Its sequences may lie in different
 * micro-batches, and one sequence in several rows, so the step is scored first, C and dC/dS are computed here, and the
 * passes only take Σ weight · dC/dS · log π. That is the exact gradient of C at the present weights, for any division
 * into micro-batches and on any engine that scores, for the price of one more forward pass.
 *
 * Weights are parts of the definition of S: 1 on the tokens that count and 0 elsewhere, unless a method says otherwise.
 */

import { TurnwiseError } from '../../core/errors.ts';
import { multiply, subtract } from '../../graph/operators/elementwise.ts';
import { stopGradient } from '../../graph/operators/logic.ts';
import { totalOf } from '../policy-gradient/surrogate.ts';
import type { Objective, ObjectiveNeeds, StepView } from './objective.ts';
import { finiteInput, targetsByRow } from './step-input.ts';

/** Sums over the tokens of one sequence. */
export interface SequenceScore {
  /** Σ weight · (log π - reference). */
  readonly score: number;
  /** Σ weight · log π. */
  readonly logprob: number;
  /** Σ weight. */
  readonly tokens: number;
  readonly reward: number;
}

/** The loss, its derivative by the score of each sequence, and figures to report. */
export interface SequenceLoss {
  readonly loss: number;
  readonly gradients: readonly number[];
  readonly metrics: Readonly<Record<string, number>>;
}

export interface SequenceLossOptions {
  /** Channel of the log-probabilities that S is relative to. */
  readonly reference: 'referenceLogprobs' | 'oldLogprobs';
  readonly needs: Pick<ObjectiveNeeds, 'sequences' | 'pairs'>;
  evaluate(sequences: readonly SequenceScore[], step: StepView): SequenceLoss;
}

/** The objective of such a loss, without a key. */
export function sequenceLoss({ reference, needs, evaluate }: SequenceLossOptions): Omit<Objective, 'key'> {
  return {
    channels: ['sequenceGradient'],
    needs: { ...needs, scores: {} },
    prepare: (step) => {
      const sequences = scoreSequences(step, reference);
      for (const pair of step.pairs) {
        for (const index of pair)
          if (sequences[index] === undefined) throw outOfRange(index, sequences.length);
      }
      const { loss, gradients, metrics } = evaluate(sequences, step);
      const perRow = new Array<number>(step.rows).fill(0);
      for (const [index, gradient] of gradients.entries()) {
        for (const row of step.sequences[index]!.rows) perRow[row]! += gradient;
      }
      return {
        channels: { sequenceGradient: Float32Array.from(step.row_N, (row) => perRow[row]!) },
        loss: finiteInput(loss, 'the loss over sequences'),
        metrics,
      };
    },
    build: (tokens) => {
      // Zero in value: the value of the loss is known from `prepare`.
      const moved = subtract(tokens.logprobs, stopGradient(tokens.logprobs));
      return { loss: totalOf(tokens)(multiply(tokens.channel('sequenceGradient'), moved)), metrics: {} };
    },
  };
}

function scoreSequences(step: StepView, reference: SequenceLossOptions['reference']): SequenceScore[] {
  const { sequences, channels, logprobs_N } = step;
  const targetsOf = targetsByRow(step);
  return sequences.map(({ rows, reward }, index) => {
    let [score, logprob, tokens] = [0, 0, 0];
    for (const row of rows) {
      const targets = targetsOf[row];
      if (targets === undefined) throw outOfRange(row, step.rows);
      for (const target of targets) {
        const weight = channels.weight![target]!;
        if (weight === 0) continue;
        const value = logprobs_N[target]!;
        score += weight * (value - channels[reference]![target]!);
        logprob += weight * value;
        tokens += weight;
      }
    }
    finiteInput(score, `the score of sequence ${index}`);
    return { score, logprob, tokens, reward: finiteInput(reward, `the reward of sequence ${index}`) };
  });
}

function outOfRange(index: number, count: number): TurnwiseError {
  return new TurnwiseError('objective-input', {
    what: 'A sequence or pair points outside the step',
    seen: String(index),
    allowed: `0 to ${count - 1}`,
  });
}

/** log(1 + e^x), for any x. */
export function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}

/** 1 / (1 + e^-x), for any x. */
export function logistic(x: number): number {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : 1 - 1 / (1 + Math.exp(x));
}
