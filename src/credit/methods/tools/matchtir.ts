/** MatchTIR: tool calls are matched with an expert's, so that each turn earns what its own calls were worth. */

import { z } from 'zod';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { missingField } from '../../contract/needs.ts';
import { turnRewards } from '../../kit/columns.ts';
import { groupKey } from '../../kit/groups.ts';
import {
  creditTurns,
  flatTurns,
  partitionByPlace,
  partitionTurns,
  spreadOverTurns,
  sumToGo,
  turnStarts,
  withShaped,
} from '../../kit/turns.ts';
import { both, compareWithin, partition } from '../../kit/within.ts';
import type { CreditTrajectory, ToolCall } from '../../report/rollouts.ts';
import { bestAssignment, greedyAssignment, type Scores } from './assignment.ts';
import { callNumbering, type NumberedCall } from './call-numbering.ts';
import { similarity } from './tool-similarity.ts';
import { transportPlan } from './transport.ts';

type Matching = 'hungarian' | 'greedy' | 'transport';

export const matchTir: CreditMethod = defineCreditMethod(
  {
    name: 'matchtir',
    title: 'MatchTIR',
    summary: 'tool calls matched with an expert’s; whole trajectories and single turns compared, half each',
    formula: `S(p, g) = 0 if names differ, else (1 + Jaccard of parameter names + equal parameters) / (2 + parameters of g)
reward of a call: S of its match (hungarian, greedy), or Σ_g T_pg·S_pg with the transport plan T of uniform weights
r_k = mean over the calls of turn k, or the reward of a turn without calls
A_k = (A_traj + A_turn,k) / 2
A_traj   = Σ_k r_k against the group, (· - mean) / (std + ε)
A_turn,k = D_k = Σ_{j ≥ k} λ^(j-k) r_j against the same turn of the others, (· - mean) / (std + ε)`,
    source: '"MatchTIR", arXiv 2601.10712',
    deviations: [
      'The paper assigns calls optimally (`matching=hungarian`, the default); the released code takes the best pair first: `matching=greedy`.',
      'A turn that nobody else of the group reached keeps D unchanged, as in the released code. A group of one gives 0 for the trajectory part.',
      'A turn with calls earns the worth of its calls alone; a turn without calls keeps its reward, such as the F1 of a final answer.',
      'A matched pair has a similarity above 0; a call without a match earns `unmatched`, which is 0 as in training (the code’s function has -0.5).',
    ],
    level: 'turn',
    needs: [],
    uses: ['turns[].calls', 'goldenCalls', 'turns[].reward'],
    ownRewards: true,
    example: '--method matchtir --set matching=transport',
  },
  z.strictObject({
    matching: z
      .enum(['hungarian', 'greedy', 'transport'])
      .default('hungarian')
      .describe(
        'One to one with the best total, one to one with the best pair first, or soft by optimal transport.',
      ),
    regularisation: z.number().positive().default(0.1).describe('Entropy weight of the transport plan.'),
    unmatched: z.number().default(0).describe('Reward of a call without a match, for one-to-one matchings.'),
    lambda: z.number().min(0).max(1).default(0.9).describe('Discount per turn, of the turn part.'),
    epsilon: z.number().positive().default(1e-6).describe('Added to the standard deviation.'),
  }),
  ({ matching, regularisation, unmatched, lambda, epsilon }) =>
    (trajectories, state) => {
      const match = matcher(matching, regularisation, unmatched);
      const rewards = flatTurns(trajectories, (trajectory) => callRewards(trajectory, match));
      const starts = turnStarts(trajectories);
      const totals = trajectories.map((_, index) =>
        rewards.subarray(starts[index]!, starts[index + 1]!).reduce((a, b) => a + b, 0),
      );
      const ofTrajectory = compareWithin(totals, partition(trajectories, groupKey), {
        spread: 'sample',
        epsilon,
      });
      const toGo = rewards.slice();
      sumToGo(toGo, starts, lambda);
      const sameTurn = both(partitionTurns(trajectories), partitionByPlace(trajectories));
      const ofTurn = compareWithin(toGo, sameTurn, { spread: 'sample', epsilon, single: 'keep' });
      const whole = spreadOverTurns(trajectories, ofTrajectory);
      const advantages = ofTurn.map((turn, index) => (turn + whole[index]!) / 2);
      return { credits: withShaped(creditTurns(trajectories, advantages), trajectories, rewards), state };
    },
);

/** Rewards of predicted calls, given the golden ones. */
type Match = (predicted: readonly ToolCall[], golden: readonly ToolCall[]) => ArrayLike<number>;

/** One reward for each turn: the mean over its calls, or its own where it made none. */
function callRewards(trajectory: CreditTrajectory, match: Match): number[] {
  const { turns, goldenCalls } = trajectory;
  const rewards_K = turnRewards(trajectory);
  const calls = turns.flatMap((turn) => turn.calls ?? []);
  if (calls.length === 0) return rewards_K;
  if (goldenCalls === undefined) throw missingField('matchtir', trajectory, 'goldenCalls');
  const rewards = match(calls, goldenCalls);
  let next = 0;
  for (const [k, { calls: own = [] }] of turns.entries()) {
    if (own.length === 0) continue;
    let sum = 0;
    for (let call = 0; call < own.length; call++) sum += rewards[next++]!;
    rewards_K[k] = sum / own.length;
  }
  return rewards_K;
}

/** Similarities are computed once for each pair of different calls, since the rollouts of a group repeat each other. */
function matcher(matching: Matching, regularisation: number, unmatched: number): Match {
  const numbered = callNumbering();
  const pairs = new Map<number, number>();
  const score = (predicted: NumberedCall, golden: NumberedCall): number => {
    if (predicted.call.name !== golden.call.name) return 0;
    const key = predicted.number * 2 ** 26 + golden.number;
    let value = pairs.get(key);
    if (value === undefined) {
      value = similarity(predicted.call, golden.call);
      pairs.set(key, value);
    }
    return value;
  };
  return (predicted, golden) => {
    if (golden.length === 0) return predicted.map(() => (matching === 'transport' ? 0 : unmatched));
    const rows = predicted.map(numbered);
    const columns = golden.map(numbered);
    const values = new Float64Array(rows.length * columns.length);
    for (const [row, call] of rows.entries()) {
      for (let column = 0; column < columns.length; column++) {
        values[row * columns.length + column] = score(call, columns[column]!);
      }
    }
    const scores: Scores = { values, rows: rows.length, columns: columns.length };
    if (matching === 'transport') {
      const plan = transportPlan(scores, regularisation);
      return rows.map((_, row) => {
        let sum = 0;
        for (let column = 0; column < columns.length; column++) {
          sum += plan[row * columns.length + column]! * values[row * columns.length + column]!;
        }
        return sum;
      });
    }
    const matched = matching === 'greedy' ? greedyAssignment(scores) : bestAssignment(scores);
    return rows.map((_, row) =>
      matched[row] === -1 ? unmatched : values[row * columns.length + matched[row]!]!,
    );
  };
}
