/** MT-GRPO: rewards that turns earn on the way are compared apart from outcomes, and credited to the turns before them. */

import { z } from 'zod';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { groupKey } from '../../kit/groups.ts';
import { splitRewards } from '../../kit/returns.ts';
import {
  creditTurns,
  flatTurns,
  partitionByPlace,
  partitionTurns,
  sumToGo,
  turnStarts,
} from '../../kit/turns.ts';
import { both, compareWithin, partition } from '../../kit/within.ts';

export const mtGrpo: CreditMethod = defineCreditMethod(
  {
    name: 'mt-grpo',
    title: 'MT-GRPO',
    summary: 'outcomes against the group, plus intermediate rewards for the turns that led to them',
    formula: `A^O = (R^O - mean) / (std + ε),   A^T = (R^T - mean) / (std + ε) over the group
two-turn:   A_1 = A^O + λ·A^T for the turn before the first result, A_k = A^O afterwards;   R^T = Σ_k r_k on the way
multi-turn: A_k = A^O + λ·Σ_{j ≥ k} A^T_j,   A^T_j = r_j against the same turn of the group
a trajectory of one turn saw no result: A = (R^O + R^T - mean) / (std + ε)`,
    source:
      '"Reinforcing Multi-Turn Reasoning in LLM Agents via Turn-Level Credit Assignment", arXiv 2505.11821',
    deviations: [
      'The first tool result follows the first turn.',
      'Intermediate rewards are `turns[].dense`, beside `outcome`. Without `dense` the last turn’s reward is the outcome, and the earlier rewards are intermediate.',
      'A group of one, and a turn that nobody else of the group reached, give 0.',
    ],
    level: 'turn',
    needs: [],
    uses: ['turns[].dense', 'turns[].reward'],
    example: '--method mt-grpo --set form=multi-turn',
  },
  z.strictObject({
    lambda: z.number().min(0).default(1).describe('Weight of intermediate rewards.'),
    form: z
      .enum(['two-turn', 'multi-turn'])
      .default('two-turn')
      .describe('One comparison of all intermediate rewards, for the first turn, or one for each turn.'),
    epsilon: z.number().positive().default(1e-4).describe('Added to the standard deviation.'),
  }),
  ({ lambda, form, epsilon }) =>
    (trajectories, state) => {
      const comparison = { spread: 'sample', epsilon } as const;
      const groups = partition(trajectories, groupKey);
      const split = trajectories.map(splitRewards);
      const earned = split.map(({ intermediate_K }) => intermediate_K.reduce((sum, one) => sum + one, 0));
      const outcomes = compareWithin(
        split.map(({ outcome }) => outcome),
        groups,
        comparison,
      );
      const onTheWay = compareWithin(earned, groups, comparison);
      const combined = compareWithin(
        split.map(({ outcome }, index) => outcome + earned[index]!),
        groups,
        comparison,
      );
      const byTurn = flatTurns(trajectories, (_, index) => split[index]!.intermediate_K);
      const starts = turnStarts(trajectories);
      let extra: Float64Array;
      if (form === 'two-turn') {
        extra = new Float64Array(byTurn.length);
        for (let index = 0; index < trajectories.length; index++) {
          if (starts[index + 1]! > starts[index]!) extra[starts[index]!] = onTheWay[index]!;
        }
      } else {
        extra = compareWithin(
          byTurn,
          both(partitionTurns(trajectories), partitionByPlace(trajectories)),
          comparison,
        );
        sumToGo(extra, starts, 1);
      }
      const advantages = flatTurns(trajectories, ({ turns }, index) =>
        turns.length === 1
          ? [combined[index]!]
          : turns.map((_, k) => outcomes[index]! + lambda * extra[starts[index]! + k]!),
      );
      return { credits: creditTurns(trajectories, advantages), state };
    },
);
