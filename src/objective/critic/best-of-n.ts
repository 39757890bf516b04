/**
 * Best-of-N extraction: the policy imitates the action that a critic likes best among several of its own.
 *
 *   A_i  = pool(Q1, Q2)(s, a_i) - pool(V1, V2)(s),   kept to [0, 1]; 0 for invalid actions
 *   loss = -Σ weight · 1[A_best > threshold] · log π(a_best | s)
 *
 * Source: Digi-Q, arXiv 2502.15760; its repository, trainer.py.
 * 1. The code pools heads by their maximum, where ArCHer takes the minimum; `pool` chooses.
 * 2. States whose best action does not pass stay in the mean and contribute nothing.
 */

import { z } from 'zod';
import { multiply, negate } from '../../graph/operators/elementwise.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { finiteInput } from '../contract/step-input.ts';
import { totalOf } from '../policy-gradient/surrogate.ts';

/** What a double critic says of one candidate. */
export interface Candidate {
  /** Of both Q heads. */
  readonly actionValues: readonly [number, number];
  /** Of both V heads: values of the state. */
  readonly stateValues: readonly [number, number];
  readonly valid: boolean;
}

export interface BestOfNOptions {
  /** 0.05 for web shopping, 0.1 for general tasks. */
  readonly threshold: number;
  readonly pool: 'max' | 'min';
}

/** The best candidate, its advantage, and its weight in the loss; the first of equals. */
export function bestOfN(
  candidates: readonly Candidate[],
  { threshold, pool }: BestOfNOptions = { threshold: 0.05, pool: 'max' },
): { readonly choice: number; readonly advantage: number; readonly weight: 0 | 1 } {
  const pooled = pool === 'max' ? Math.max : Math.min;
  const advantages = candidates.map(({ actionValues, stateValues, valid }, index) => {
    const advantage = finiteInput(
      pooled(...actionValues) - pooled(...stateValues),
      `the advantage of candidate ${index}`,
    );
    return valid ? Math.min(Math.max(advantage, 0), 1) : 0;
  });
  const advantage = Math.max(...advantages);
  return { choice: advantages.indexOf(advantage), advantage, weight: advantage > threshold ? 1 : 0 };
}

const schema = z.strictObject({});

/** Reads `advantages`: the weight that `bestOfN` gives, on the tokens of the chosen action. */
export const bestOfNExtraction: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'best-of-n',
    title: 'Best-of-N extraction (Digi-Q)',
    summary: 'imitates the candidate action that a critic values most',
    formula: '-Σ w 1[A_best > θ] log π(a_best)',
    source: 'arXiv 2502.15760',
    family: 'imitation',
  },
  schema,
  () => ({
    channels: ['advantages'],
    needs: {},
    build: (tokens) => ({
      loss: negate(totalOf(tokens)(multiply(tokens.channel('advantages'), tokens.logprobs))),
      metrics: { 'imitation/weight': totalOf(tokens)(tokens.channel('advantages')) },
    }),
  }),
);
