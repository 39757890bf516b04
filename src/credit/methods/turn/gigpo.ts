/**
 * GiGPO: groups inside groups. A turn is compared with the other turns of its group that acted in the same state, next
 * to the comparison of whole trajectories.
 */

import { z } from 'zod';
import { TurnwiseError } from '../../../core/errors.ts';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { groupKey } from '../../kit/groups.ts';
import {
  creditTurns,
  flatRewards,
  partitionTurns,
  spreadOverTurns,
  sumToGo,
  turnStarts,
} from '../../kit/turns.ts';
import { type Comparison, compareWithin, type Partition, partition } from '../../kit/within.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';

export const gigpo: CreditMethod = defineCreditMethod(
  {
    name: 'gigpo',
    title: 'GiGPO',
    summary: 'grpo, plus turns compared with turns that acted in the same state',
    formula: `A_{i,k} = E_i + ω·S_{i,k}
E_i     = (R_i - mean over the group) / F
S_{i,k} = (G_{i,k} - mean over turns of the group with the same anchor) / F,   G_{i,k} = r_{i,k} + γ·G_{i,k+1}
F       = sample std + ε ("mean-std") or 1 ("mean")`,
    source: '"Group-in-Group Policy Optimization for LLM Agent Training", arXiv 2505.10978',
    deviations: [
      'Episode statistics take one outcome per trajectory, as in the paper. The released code takes one per turn, which weighs long trajectories more: `episodeStatistics=step`.',
      'A group of one trajectory and a state met once give 0.',
      'States are equal when their anchors are equal; similar states are not joined.',
    ],
    level: 'turn',
    needs: ['turns[].anchor'],
  },
  z.strictObject({
    gamma: z.number().min(0).max(1).default(0.95).describe('Discount per turn, of the step part.'),
    omega: z.number().min(0).default(1).describe('Weight of the step part next to the episode part.'),
    normalisation: z
      .enum(['mean-std', 'mean'])
      .default('mean-std')
      .describe('Whether differences from the mean are divided by the sample standard deviation.'),
    episodeStatistics: z
      .enum(['trajectory', 'step'])
      .default('trajectory')
      .describe('Whether a trajectory counts once in the mean of its group, or once per turn.'),
    epsilon: z.number().positive().default(1e-6).describe('Added to the standard deviation.'),
  }),
  ({ gamma, omega, normalisation, episodeStatistics, epsilon }) =>
    (trajectories, state) => {
      const comparison: Comparison = { spread: normalisation === 'mean' ? 'none' : 'sample', epsilon };
      const steps = compareWithin(
        stepReturns(trajectories, gamma),
        anchorParts('gigpo', trajectories),
        comparison,
      );
      const episodes = episodeParts(trajectories, episodeStatistics, comparison);
      const advantages = episodes.map((episode, turn) => episode + omega * steps[turn]!);
      return { credits: creditTurns(trajectories, advantages), state };
    },
);

/** The outcome of each turn's trajectory against the group's, once per trajectory or once per turn. */
export function episodeParts(
  trajectories: readonly CreditTrajectory[],
  statistics: 'trajectory' | 'step',
  comparison: Comparison,
): Float64Array {
  const outcomes = trajectories.map(({ outcome }) => outcome);
  return statistics === 'step'
    ? compareWithin(spreadOverTurns(trajectories, outcomes), partitionTurns(trajectories), comparison)
    : spreadOverTurns(trajectories, compareWithin(outcomes, partition(trajectories, groupKey), comparison));
}

/** The discounted return from each turn on. */
export function stepReturns(trajectories: readonly CreditTrajectory[], gamma: number): Float64Array {
  const returns = flatRewards(trajectories);
  sumToGo(returns, turnStarts(trajectories), gamma);
  return returns;
}

/** Turns of a group that acted in the same state share a part. */
export function anchorParts(method: string, trajectories: readonly CreditTrajectory[]): Partition {
  const starts = turnStarts(trajectories);
  const keys = new Int32Array(starts[trajectories.length]!);
  // A table of states for each group: small ones stay in the processor's cache.
  const groups = new Map<string, Map<string, number>>();
  let count = 0;
  for (const [index, trajectory] of trajectories.entries()) {
    const { turns } = trajectory;
    const group = groupKey(trajectory);
    const states = groups.get(group) ?? new Map<string, number>();
    groups.set(group, states);
    for (let k = 0; k < turns.length; k++) {
      const { anchor } = turns[k]!;
      if (anchor === undefined) throw missingAnchor(method, trajectory, k);
      let state = states.get(anchor);
      if (state === undefined) {
        state = count++;
        states.set(anchor, state);
      }
      keys[starts[index]! + k] = state;
    }
  }
  return { keys, count };
}

function missingAnchor(method: string, { id }: CreditTrajectory, k: number): TurnwiseError {
  return new TurnwiseError('credit-needs-anchors', {
    what: `${method} compares turns that acted in the same state, and turns[${k}] of trajectory "${id}" does not say in which`,
    seen: 'no anchor',
    allowed: 'turns[].anchor, a text that is equal for equal states',
    fields: { trajectory: id, turn: k },
  });
}
