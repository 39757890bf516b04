/**
 * Value methods on recorded dialogues, token by token: implicit Q-learning, and regression on returns.
 *
 *   ilql: Σ weight · (Σ_j ½ (Q_j(s, a) - y)² + ½ |τ - 1[q̂ < V]| (V - q̂)² + conservatism · Σ_j CE(Q_j(s, ·), a))
 *         y = r + discount · V(next action token), 0 after the last;  q̂ = min(Q̄_1, Q̄_2)(s, a) of the target network
 *   mc-returns: Σ weight · (½ (Q(s, a) - R)² + conservatism · CE(Q(s, ·), a)),  R = Σ discount^k r over action tokens
 *   decoding: log π_β + β · min(Q_1, Q_2)
 *
 * Sources: ILQL, arXiv 2206.11871; LMRL-Gym, arXiv 2311.18232; its repository, LLM_RL/algorithms.
 * 1. Heads are linear; the repository's have a hidden layer.
 * 2. Only action tokens count: the successor of an action token is the next action token of its row, so that observations
 *    in between are skipped. A row ends its episode.
 * 3. Discounting is per token, as in the sources; with long utterances use a discount of 1.
 * 4. Targets are taken once per step, under the weights before it.
 * 5. Heads learn what is above `initialValue`; the repository gives it to the bias of their last layer.
 */

import { z } from 'zod';
import { add, multiply, negate, subtract } from '../../graph/operators/elementwise.ts';
import { gatherLast, gatherLogSoftmax } from '../../graph/operators/gather.ts';
import { square } from '../../graph/operators/unary.ts';
import type { Tensor } from '../../graph/tensor.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import type { StepView, TokenTensors } from '../contract/objective.ts';
import { finiteInput, targetsByRow } from '../contract/step-input.ts';
import { totalOf } from '../policy-gradient/surrogate.ts';
import { expectileLoss } from './archer.ts';

/** What the values of a step are learned from. */
export type ActionStep = Pick<StepView, 'rows' | 'row_N' | 'position_N' | 'channels'>;

/** r + discount · V(next action token), at every action token of a row; values are above `initialValue`, and so are the targets. */
export function temporalTargets(
  step: ActionStep,
  values_N: Float32Array,
  discount: number,
  initialValue = 0,
): Float32Array {
  return backward(step, discount, (_, target) => values_N[target]! + initialValue, initialValue);
}

/** Σ discount^k r over the action tokens from each on, above `initialValue`. */
export function returnsToGo(step: ActionStep, discount: number, initialValue = 0): Float32Array {
  return backward(step, discount, (goal) => goal, initialValue);
}

function backward(
  step: ActionStep,
  discount: number,
  carry: (goal: number, target: number) => number,
  initialValue: number,
): Float32Array {
  const { row_N, position_N, channels } = step;
  const goals = new Float32Array(row_N.length);
  for (const targets of targetsByRow(step)) {
    let next = 0;
    for (const target of [...targets].reverse()) {
      if (channels.weight![target] === 0) continue;
      const place = `token ${position_N[target]} of row ${row_N[target]}`;
      const goal = finiteInput(channels.rewards![target]!, `the reward of ${place}`) + discount * next;
      goals[target] = goal - initialValue;
      next = carry(goal, target);
    }
  }
  return goals;
}

/** Logits of the policy that values improve: log π_β + strength · Q for every token. Source: arXiv 2206.11871. */
export function perturbedLogits(
  logprobs_V: ArrayLike<number>,
  values_V: ArrayLike<number>,
  strength: number,
): number[] {
  return Array.from(logprobs_V, (logprob, token) => logprob + strength * values_V[token]!);
}

const discount = z.number().min(0).max(1).default(0.99).describe('Discount per action token');
const conservatism = z
  .number()
  .min(0)
  .default(0.01)
  .describe('Weight of the cross-entropy that keeps Q highest on recorded actions');
const initialValue = z
  .number()
  .default(0)
  .describe(
    'Value of every token at first; at 0, where rewards are negative, what nobody recorded seems best',
  );
const ilqlSchema = z.strictObject({
  discount,
  expectile: z.number().gt(0).lt(1).default(0.7).describe('Weight of errors where Q is above V'),
  conservatism,
  initialValue,
});
const returnsSchema = z.strictObject({ discount, conservatism, initialValue });

/** ½ (Q(s, a) - target)², and the cross-entropy of the head's logits. */
function headLosses(
  tokens: TokenTensors,
  head: string,
  target: Tensor,
): { readonly error: Tensor; readonly crossEntropy: Tensor } {
  const output = tokens.head(head);
  const error = multiply(square(subtract(gatherLast(output, tokens.targets), target)), 0.5);
  return { error, crossEntropy: negate(gatherLogSoftmax(output, tokens.targets)) };
}

/**
 * Reads `rewards` on action tokens; needs the action heads `q1` and `q2`, the scalar head `v`, and a frozen copy. Metrics:
 * `critic/action_loss`, `critic/state_loss`, `critic/conservative_loss`.
 */
export const ilql: ObjectiveMethod<typeof ilqlSchema> = defineObjective(
  {
    name: 'ilql',
    title: 'ILQL',
    summary: 'token-level implicit Q-learning from recorded dialogues',
    formula: 'Σ_j ½(Q_j - r - γV(next))² + ½|τ - 1[q̂ < V]|(V - q̂)² + α Σ_j CE(Q_j, a)',
    source: 'arXiv 2206.11871; arXiv 2311.18232',
    family: 'value',
  },
  ilqlSchema,
  ({ discount: gamma, expectile, conservatism: strength, initialValue }) => ({
    channels: ['qTarget', 'vTarget'],
    needs: { heads: ['q1', 'q2', 'v'], scores: { heads: ['v'], frozenHeads: ['q1', 'q2'] } },
    prepare: (step) => ({
      channels: {
        qTarget: temporalTargets(step, step.heads.v!, gamma, initialValue),
        vTarget: step.frozenHeads.q1!.map((value, target) => Math.min(value, step.frozenHeads.q2![target]!)),
      },
    }),
    build: (tokens) => {
      const total = totalOf(tokens);
      const target = tokens.channel('qTarget');
      const [one, two] = [headLosses(tokens, 'q1', target), headLosses(tokens, 'q2', target)];
      const actions = total(add(one.error, two.error));
      const states = multiply(
        total(expectileLoss(tokens.head('v'), tokens.channel('vTarget'), expectile)),
        0.5,
      );
      const conservative = total(add(one.crossEntropy, two.crossEntropy));
      return {
        loss: add(add(actions, states), multiply(conservative, strength)),
        metrics: {
          'critic/action_loss': actions,
          'critic/state_loss': states,
          'critic/conservative_loss': conservative,
        },
      };
    },
  }),
);

/** Reads `rewards` on action tokens; needs the action head `q1`. Metrics: `critic/action_loss`, `critic/conservative_loss`. */
export const mcReturns: ObjectiveMethod<typeof returnsSchema> = defineObjective(
  {
    name: 'mc-returns',
    title: 'Monte-Carlo returns',
    summary: 'token-level Q by regression on recorded returns',
    formula: '½(Q - R)² + α CE(Q, a),   R = Σ γ^k r',
    source: 'arXiv 2311.18232',
    family: 'value',
  },
  returnsSchema,
  ({ discount: gamma, conservatism: strength, initialValue }) => ({
    channels: ['qTarget'],
    needs: { heads: ['q1'] },
    prepare: (step) => ({ channels: { qTarget: returnsToGo(step, gamma, initialValue) } }),
    build: (tokens) => {
      const total = totalOf(tokens);
      const { error, crossEntropy } = headLosses(tokens, 'q1', tokens.channel('qTarget'));
      const [actions, conservative] = [total(error), total(crossEntropy)];
      return {
        loss: add(actions, multiply(conservative, strength)),
        metrics: { 'critic/action_loss': actions, 'critic/conservative_loss': conservative },
      };
    },
  }),
);
