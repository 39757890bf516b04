/**
 * GiGPO: groups inside groups. A turn is compared with the other turns of its group that acted in the same state, next
 * to the comparison of whole trajectories.
 *
 *   A_{i,k} = E_i + ω·S_{i,k}
 *   E_i     = (R_i - mean over the group) / F
 *   S_{i,k} = (G_{i,k} - mean over turns of the group with the same anchor) / F,   G_{i,k} = r_{i,k} + γ·G_{i,k+1}
 *   F       = sample std + ε ("mean-std") or 1 ("mean")
 *
 * Source: "Group-in-Group Policy Optimization for LLM Agent Training", arXiv 2505.10978.
 * 1. Episode statistics take one outcome per trajectory, as in the paper. The released code takes one per turn, which
 *    weighs long trajectories more: `episodeStatistics: 'step'`.
 * 2. A group of one trajectory and a state met once give 0.
 * 3. States are equal when their anchors are equal; similar states are not joined.
 */

import { z } from 'zod';
import { TurnwiseError } from '../core/errors.ts';
import { mean, sampleStd } from '../core/statistics.ts';
import { checked } from './checked.ts';
import { compareOutcomes, groupKey, withinGroups } from './groups.ts';
import { discountedReturns, turnRewards } from './returns.ts';
import type { Credit, CreditTrajectory } from './rollouts.ts';
import { splitByLengths } from './split.ts';

export interface GigpoOptions {
  readonly gamma: number;
  readonly omega: number;
  readonly normalisation: 'mean-std' | 'mean';
  readonly episodeStatistics: 'trajectory' | 'step';
  readonly epsilon: number;
}

export const gigpoOptions: z.ZodType<GigpoOptions> = z.strictObject({
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
});

interface Step {
  readonly trajectory: CreditTrajectory;
  readonly anchor: string;
  readonly stepReturn: number;
}

export function gigpo(options: GigpoOptions): Credit {
  const { gamma, omega, normalisation, episodeStatistics, epsilon } = options;

  const normalise = (values: readonly number[]): number[] => {
    if (values.length === 1) return [0];
    const centre = mean(values);
    const scale = normalisation === 'mean' ? 1 : sampleStd(values) + epsilon;
    return values.map((value) => (value - centre) / scale);
  };

  return checked((trajectories, state) => {
    const steps = trajectories.flatMap((trajectory) => stepsOf(trajectory, gamma));
    const stepParts = withinGroups(
      steps,
      ({ trajectory, anchor }) => JSON.stringify([groupKey(trajectory), anchor]),
      (members) => normalise(members.map((member) => member.stepReturn)),
    );
    let episodeParts: number[];
    if (episodeStatistics === 'trajectory') {
      const perTrajectory = compareOutcomes(trajectories, normalise);
      episodeParts = trajectories.flatMap(({ turns }, index) => turns.map(() => perTrajectory[index]!));
    } else {
      episodeParts = withinGroups(
        steps,
        ({ trajectory }) => groupKey(trajectory),
        (members) => normalise(members.map((member) => member.trajectory.outcome)),
      );
    }
    const advantages = episodeParts.map((episodePart, index) => episodePart + omega * stepParts[index]!);
    const lengths = trajectories.map(({ turns }) => turns.length);
    const credits = splitByLengths(advantages, lengths).map((turnAdvantages_K, index) => ({
      id: trajectories[index]!.id,
      turnAdvantages_K,
    }));
    return { credits, state };
  });
}

function stepsOf(trajectory: CreditTrajectory, gamma: number): Step[] {
  const returns_K = discountedReturns(turnRewards(trajectory), gamma);
  return trajectory.turns.map(({ anchor }, k) => {
    if (anchor !== undefined) return { trajectory, anchor, stepReturn: returns_K[k]! };
    throw new TurnwiseError('credit-needs-anchors', {
      what: `gigpo compares turns that acted in the same state, and turns[${k}] of trajectory "${trajectory.id}" does not say in which`,
      seen: 'no anchor',
      allowed: 'turns[].anchor, a text that is equal for equal states',
      fields: { trajectory: trajectory.id, turn: k },
    });
  });
}
