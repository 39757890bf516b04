/** MALT: a tree of answers, critiques and refinements, in which every node is worth the mean of what follows it. */

import { z } from 'zod';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { groupKey } from '../../kit/groups.ts';
import { creditTurns, turnStarts } from '../../kit/turns.ts';
import type { CreditTrajectory } from '../../report/rollouts.ts';
import { sharedTurns } from '../tree/branches.ts';

export const malt: CreditMethod = defineCreditMethod(
  {
    name: 'malt',
    title: 'MALT',
    summary: '1 for turns of the tree whose leaves have a mean above a threshold, else 0',
    formula: `V(leaf) = R,   V(node) = mean of V over its children
A = 1 where V > threshold, else 0 ("label");   A = V ("value")`,
    source: '"MALT: Improving Reasoning with Multi-Agent LLM Training", arXiv 2412.01928',
    deviations: [
      'Every leaf is a trajectory with generator, verifier and refiner as turns; `parent` and `sharedTurns` mark shared turns.',
      'Positive nodes get advantage 1 and others 0, so training imitates the positive ones; the preference pairs for the later stage are `preferencePairs`.',
      'A turn that branches share is in the row of each, so its weight is the number of leaves below it.',
    ],
    level: 'turn',
    needs: [],
    uses: ['parent', 'sharedTurns'],
    ownRewards: true,
    example: '--method malt --set advantage=value',
  },
  z.strictObject({
    threshold: z.number().default(0.5).describe('A node is positive above this value, not at it.'),
    advantage: z
      .enum(['label', 'value'])
      .default('label')
      .describe('Whether a turn gets 1 or 0, or the value of its node.'),
  }),
  ({ threshold, advantage }) =>
    (trajectories, state) => {
      const values = nodeValues(trajectories);
      const advantages = advantage === 'value' ? values : values.map((value) => (value > threshold ? 1 : 0));
      return { credits: creditTurns(trajectories, advantages), state };
    },
);

/** The value of each turn's node. */
function nodeValues(trajectories: readonly CreditTrajectory[]): Float64Array {
  const { keys, count } = sharedTurns(trajectories);
  const starts = turnStarts(trajectories);
  const sums = new Float64Array(count);
  const children = new Int32Array(count);
  const counted = new Uint8Array(count);
  let deepest = 0;
  for (const [index, { outcome }] of trajectories.entries()) {
    const length = starts[index + 1]! - starts[index]!;
    deepest = Math.max(deepest, length);
    if (length === 0) continue;
    const leaf = keys[starts[index + 1]! - 1]!;
    sums[leaf]! += outcome;
    children[leaf]!++;
  }
  // Level by level from the deepest: a node is complete before its parent reads it.
  for (let k = deepest - 1; k > 0; k--) {
    for (let index = 0; index < trajectories.length; index++) {
      const place = starts[index]! + k;
      if (place >= starts[index + 1]!) continue;
      const node = keys[place]!;
      if (counted[node] === 1) continue;
      counted[node] = 1;
      const parent = keys[place - 1]!;
      sums[parent]! += sums[node]! / children[node]!;
      children[parent]!++;
    }
  }
  const values = new Float64Array(keys.length);
  for (let turn = 0; turn < keys.length; turn++) {
    const node = keys[turn]!;
    values[turn] = sums[node]! / children[node]!;
  }
  return values;
}

/** A turn of a trajectory, as the chosen or the rejected side of a pair. */
export interface TurnOfTrajectory {
  readonly id: string;
  readonly turn: number;
}

export interface PreferencePair {
  readonly groupId: string;
  readonly chosen: TurnOfTrajectory;
  readonly rejected: TurnOfTrajectory;
}

/**
 * All pairs of a positive and a negative node under the same parent: for refiners under one critique, for verifiers
 * under one answer, for generators under one prompt. Each node is named by the first trajectory that has it.
 */
export function preferencePairs(
  trajectories: readonly CreditTrajectory[],
  threshold = 0.5,
): PreferencePair[] {
  const { keys } = sharedTurns(trajectories);
  const starts = turnStarts(trajectories);
  const values = nodeValues(trajectories);
  const siblings = new Map<
    string,
    { readonly good: TurnOfTrajectory[]; readonly bad: TurnOfTrajectory[]; readonly groupId: string }
  >();
  const seen = new Set<number>();
  for (const [index, trajectory] of trajectories.entries()) {
    for (let k = 0; k < trajectory.turns.length; k++) {
      const place = starts[index]! + k;
      if (seen.has(keys[place]!)) continue;
      seen.add(keys[place]!);
      const parent = k === 0 ? groupKey(trajectory) : String(keys[place - 1]);
      const family = siblings.get(parent) ?? { good: [], bad: [], groupId: trajectory.groupId };
      siblings.set(parent, family);
      (values[place]! > threshold ? family.good : family.bad).push({ id: trajectory.id, turn: k });
    }
  }
  return [...siblings.values()].flatMap(({ good, bad, groupId }) =>
    good.flatMap((chosen) => bad.map((rejected) => ({ groupId, chosen, rejected }))),
  );
}
