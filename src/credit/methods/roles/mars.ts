/** MARS: the return from each turn on, against the mean of all turns of the same role. */

import { z } from 'zod';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import {
  creditTurns,
  flatRewards,
  partitionTurns,
  sumToGo,
  turnStarts,
  whitenTurns,
} from '../../kit/turns.ts';
import { compareWithin, type Partition } from '../../kit/within.ts';

export const mars: CreditMethod = defineCreditMethod(
  {
    name: 'mars',
    aliases: ['marshal'],
    title: 'MARS (turn level, per role)',
    summary: 'return from each turn on, minus its mean over the turns of the role',
    formula:
      'A_{i,k} = G_{i,k} - mean of G over all turns of the same role and game,   G_{i,k} = Σ_{j ≥ k} γ^(j-k) r_{i,j}',
    source:
      '"MARSHAL: Incentivizing Multi-Agent Reasoning via Self-Play with Strategic LLMs", arXiv 2510.15414',
    deviations: [
      'The paper centres once. The released code stacks five normalisations, each an option here: `centreRewards`, `whitenRewards`, the sum, `centring=distinct-mean`, `whiten`.',
      'The mean is over the whole batch, not over a group; only the roles of a game stay apart.',
      'Rewards are whitened over turns, where the released code whitens over tokens that are nearly all 0.',
    ],
    level: 'turn',
    wholeSteps: true,
    needs: [],
    uses: ['role', 'game'],
    example: '--method mars --set centring=distinct-mean',
  },
  z.strictObject({
    gamma: z.number().min(0).max(1).default(1).describe('Discount per turn.'),
    centring: z
      .enum(['mean', 'distinct-mean', 'none'])
      .default('mean')
      .describe('The baseline: the mean over the role’s turns, over its different values, or nothing.'),
    centreRewards: z
      .boolean()
      .default(false)
      .describe('Subtract the role’s mean from turn rewards before they are summed.'),
    whitenRewards: z
      .boolean()
      .default(false)
      .describe('Whiten turn rewards over the batch before they are summed.'),
    whiten: z
      .boolean()
      .default(false)
      .describe('Whether to bring the advantages of the batch to mean 0 and variance 1, over tokens.'),
  }),
  ({ gamma, centring, centreRewards, whitenRewards, whiten }) =>
    (trajectories, state) => {
      const roles = partitionTurns(trajectories, ({ role, game }) => JSON.stringify([role, game]));
      const whole: Partition = { keys: new Int32Array(roles.keys.length), count: 1 };
      let rewards = flatRewards(trajectories);
      if (centreRewards) rewards = centred(rewards, roles);
      if (whitenRewards) rewards = compareWithin(rewards, whole, { spread: 'sample', epsilon: 1e-8 });
      sumToGo(rewards, turnStarts(trajectories), gamma);
      if (centring === 'mean') rewards = centred(rewards, roles);
      if (centring === 'distinct-mean') rewards = centredOnDistinct(rewards, roles);
      if (whiten) whitenTurns(trajectories, rewards);
      return { credits: creditTurns(trajectories, rewards), state };
    },
);

function centred(values: Float64Array, roles: Partition): Float64Array {
  return compareWithin(values, roles, { spread: 'none', epsilon: 0 });
}

/** Minus the mean of the different values of the role, each counted once. */
function centredOnDistinct(values: Float64Array, { keys, count }: Partition): Float64Array {
  const distinct = Array.from({ length: count }, () => new Set<number>());
  for (let turn = 0; turn < values.length; turn++) distinct[keys[turn]!]!.add(values[turn]!);
  const means = distinct.map((set) => [...set].reduce((sum, value) => sum + value, 0) / set.size);
  return values.map((value, turn) => value - means[keys[turn]!]!);
}
