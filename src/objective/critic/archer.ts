/**
 * ArCHer: a double critic of utterances, trained off-policy with target networks, and a token-level actor.
 *
 *   critic: Σ_j (Q_j(s, a) - (r + γ (1 - done) V̄_j(s')))² + (V_j(s) - Q̄_j(s, ã))²,  ã fresh from the policy
 *   iql:    Σ_j (Q_j - …)² as above + |τ - 1[Q̄ < V_j]| (V_j(s) - Q̄(s, a))², Q̄ the smaller of both targets, a recorded
 *   actor:  -Σ over tokens of A · log π,   A = min(Q_1, Q_2)(s, ã) - min(V_1, V_2)(s)
 *   actor with a baseline per token: -Σ (A - sg b_t) · log π + Σ (A - b_t)²
 *
 * Source: arXiv 2402.19446; its repository, archer/algorithms/archer/trainer.py and the YAML files that were used.
 * 1. The critic is a decoder with four scalar heads on the prefix: V is read where an utterance begins, Q where it has
 *    ended. In the paper a bidirectional encoder encodes state and utterance apart, under two-layer heads.
 * 2. Losses are weighted per transition: give weight 1 / transitions to the tokens where values are read.
 * 3. The IQL form is the paper's; its repository has none. Both heads use the smaller of the target Qs.
 * 4. Target networks are the engine's frozen copy, moved by `freeze(0.1)` after every critic epoch.
 */

import { z } from 'zod';
import { add, multiply, negate, subtract } from '../../graph/operators/elementwise.ts';
import { greater, stopGradient, where } from '../../graph/operators/logic.ts';
import { square } from '../../graph/operators/unary.ts';
import type { Tensor } from '../../graph/tensor.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import type { Objective, TokenTensors } from '../contract/objective.ts';
import { totalOf } from '../policy-gradient/surrogate.ts';

export const archerHeads = ['q1', 'q2', 'v1', 'v2'] as const;

type Twin = readonly [number, number];

/** What an utterance and its state should be worth to each of the two Q heads. */
export function archerTargets(
  {
    reward,
    done,
    nextValues,
  }: { readonly reward: number; readonly done: boolean; readonly nextValues: Twin },
  discount = 0.95,
): Twin {
  const target = (next: number): number => reward + (done ? 0 : discount * next);
  return [target(nextValues[0]), target(nextValues[1])];
}

/** min(Q) - min(V), the advantage of every token of an utterance. */
export function archerAdvantage(actionValues: Twin, stateValues: Twin): number {
  return Math.min(...actionValues) - Math.min(...stateValues);
}

const criticSchema = z.strictObject({});
const iqlSchema = z.strictObject({
  expectile: z
    .number()
    .gt(0)
    .lt(1)
    .default(0.9)
    .describe('Weight of errors where Q is above V; 0.5 is the mean'),
});

/** Squared error, weighted by the side it is on: `expectile` where the target is above the value. */
export function expectileLoss(value: Tensor, target: Tensor, expectile: number): Tensor {
  return multiply(where(greater(target, value), expectile, 1 - expectile), square(subtract(value, target)));
}

function critic(stateLoss: (value: Tensor, target: Tensor) => Tensor): Omit<Objective, 'key'> {
  const channels = ['actionEnd', 'actionStart', 'q1Target', 'q2Target', 'v1Target', 'v2Target'];
  return {
    channels,
    needs: { heads: archerHeads },
    build: (tokens) => {
      const at = (place: string, perToken: Tensor): Tensor =>
        totalOf(tokens)(multiply(tokens.channel(place), perToken));
      const errorOf = (head: string): Tensor =>
        square(subtract(tokens.head(head), tokens.channel(`${head}Target`)));
      const actionLoss = at('actionEnd', add(errorOf('q1'), errorOf('q2')));
      const states = at(
        'actionStart',
        add(
          stateLoss(tokens.head('v1'), tokens.channel('v1Target')),
          stateLoss(tokens.head('v2'), tokens.channel('v2Target')),
        ),
      );
      return {
        loss: add(actionLoss, states),
        metrics: { 'critic/action_loss': actionLoss, 'critic/state_loss': states },
      };
    },
  };
}

/**
 * Reads `actionEnd` and `actionStart` (1 at the token before which Q and V are read, 0 elsewhere) and the targets
 * `q1Target`, `q2Target`, `v1Target`, `v2Target`; needs the heads `archerHeads`. Metrics: `critic/action_loss`,
 * `critic/state_loss`.
 */
export const archerCritic: ObjectiveMethod<typeof criticSchema> = defineObjective(
  {
    name: 'archer-critic',
    title: 'ArCHer critic',
    summary: 'double critic of utterances by temporal differences, with target networks',
    formula: "Σ_j (Q_j(s,a) - r - γ V̄_j(s'))² + (V_j(s) - Q̄_j(s,ã))²",
    source: 'arXiv 2402.19446',
    family: 'value',
  },
  criticSchema,
  () => critic((value, target) => square(subtract(value, target))),
);

/** Reads and reports what `archer-critic` does; the targets of V are of recorded utterances. */
export const archerIql: ObjectiveMethod<typeof iqlSchema> = defineObjective(
  {
    name: 'archer-iql',
    title: 'ArCHer critic, IQL form',
    summary: 'the same from recorded utterances only, by expectile regression',
    formula: "Σ_j (Q_j(s,a) - r - γ V̄_j(s'))² + |τ - 1[Q̄ < V_j]| (V_j(s) - Q̄(s,a))²",
    source: 'arXiv 2402.19446; IQL, arXiv 2110.06169',
    family: 'value',
  },
  iqlSchema,
  ({ expectile }) => critic((value, target) => expectileLoss(value, target, expectile)),
);

const actorSchema = z.strictObject({
  tokenBaseline: z
    .boolean()
    .default(false)
    .describe('Subtract a learned baseline per token: the value head, trained along'),
});

/** Reads `advantages`; needs a value head where the baseline is on. Metric then: `critic/baseline_loss`. */
export const archerActor: ObjectiveMethod<typeof actorSchema> = defineObjective(
  {
    name: 'archer-actor',
    title: 'ArCHer actor',
    summary: 'policy gradient by the advantage of the whole utterance',
    formula: '-Σ w (A - b_t) log π + Σ w (A - b_t)²,   A = min Q - min V',
    source: 'arXiv 2402.19446',
    family: 'policy',
  },
  actorSchema,
  ({ tokenBaseline }) => ({
    channels: ['advantages'],
    needs: tokenBaseline ? { values: true } : {},
    build: (tokens: TokenTensors) => {
      const total = totalOf(tokens);
      const advantages = tokens.channel('advantages');
      if (!tokenBaseline) return { loss: negate(total(multiply(advantages, tokens.logprobs))), metrics: {} };
      const rest = subtract(advantages, tokens.values());
      const policy = negate(total(multiply(stopGradient(rest), tokens.logprobs)));
      const baseline = total(square(rest));
      return { loss: add(policy, baseline), metrics: { 'critic/baseline_loss': baseline } };
    },
  }),
);
