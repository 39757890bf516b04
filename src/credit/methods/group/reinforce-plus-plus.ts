/** REINFORCE++: returns of tokens, normalised over all tokens of the batch; no critic, no groups. */

import { z } from 'zod';
import { mean } from '../../../core/statistics.ts';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { compareOutcomes } from '../../kit/groups.ts';
import { creditTokens, tokenRewards, tokenStarts, whitenTokens } from '../../kit/tokens.ts';
import type { CreditTrajectory, TrajectoryCredit } from '../../report/rollouts.ts';

const source = '"REINFORCE++", arXiv 2501.03262';

export const reinforcePlusPlus: CreditMethod = defineCreditMethod(
  {
    name: 'reinforce++',
    aliases: ['reinforce-pp'],
    title: 'REINFORCE++',
    summary: 'token returns, normalised over the whole batch',
    formula: `R_t = r_t + γ·R_{t+1} over sampled tokens
A = (R - mean) / sqrt(var + 1e-8) over all sampled tokens of the batch`,
    source,
    deviations: [
      'Observation tokens are skipped. One known implementation sets the running return to zero at each of them, so that turns before the last observation get no credit for what comes later; `observationReset` reproduces that.',
      'KL to a reference policy is a term of the loss here, not of the rewards.',
      'A batch of a single token, and with `baseline=group` a group of a single trajectory, give 0.',
    ],
    level: 'token',
    wholeSteps: true,
    needs: [],
    uses: ['turns[].mask'],
  },
  z.strictObject({
    gamma: z.number().min(0).max(1).default(1).describe('Discount per sampled token.'),
    whiten: z
      .boolean()
      .default(true)
      .describe('Whether to bring the advantages of the batch to mean 0 and variance 1, over tokens.'),
    baseline: z
      .enum(['none', 'group'])
      .default('none')
      .describe(
        'With "group", tokens get their outcome minus the mean outcome of the group, not returns-to-go.',
      ),
    observationReset: z
      .boolean()
      .default(false)
      .describe('Zero the running return at observations, for comparison with implementations that do.'),
  }),
  ({ gamma, whiten, baseline, observationReset }) =>
    (trajectories, state) => {
      const returns =
        baseline === 'group'
          ? centredOutcomes(trajectories)
          : tokenReturns(trajectories, gamma, observationReset);
      return { credits: normalised(trajectories, returns, whiten), state };
    },
);

export const reinforcePlusPlusBaseline: CreditMethod = defineCreditMethod(
  {
    name: 'reinforce++-baseline',
    aliases: ['reinforce-pp-baseline'],
    title: 'REINFORCE++ with a group baseline',
    summary: 'outcome minus the mean of the group, normalised over all tokens of the batch',
    formula: `s_i = R_i - mean R of the group, the same for every token
A = (s - mean) / sqrt(var + 1e-8) over all sampled tokens of the batch`,
    source,
    deviations: [
      'The same as `reinforce++` with `baseline=group`.',
      'A group of one trajectory and a batch of a single token give 0.',
    ],
    level: 'token',
    wholeSteps: true,
    needs: [],
  },
  z.strictObject({
    whiten: z
      .boolean()
      .default(true)
      .describe('Whether to bring the advantages of the batch to mean 0 and variance 1, over tokens.'),
  }),
  ({ whiten }) =>
    (trajectories, state) => ({
      credits: normalised(trajectories, centredOutcomes(trajectories), whiten),
      state,
    }),
);

function normalised(
  trajectories: readonly CreditTrajectory[],
  returns: Float64Array,
  whiten: boolean,
): TrajectoryCredit[] {
  if (whiten) whitenTokens(returns);
  return creditTokens(trajectories, returns);
}

function tokenReturns(
  trajectories: readonly CreditTrajectory[],
  gamma: number,
  observationReset: boolean,
): Float64Array {
  const starts = tokenStarts(trajectories);
  const returns = tokenRewards(trajectories, starts);
  for (const [index, trajectory] of trajectories.entries()) {
    const start = starts[index]!;
    const resets = observationReset ? observationBefore(trajectory) : undefined;
    for (let t = starts[index + 1]! - 2; t >= start; t--) {
      if (!resets?.has(t + 1 - start)) returns[t]! += gamma * returns[t + 1]!;
    }
  }
  return returns;
}

/** Indices of the sampled tokens that come right after an observation. */
function observationBefore(trajectory: CreditTrajectory): Set<number> {
  const found = new Set<number>();
  let sampled = 0;
  for (const { tokens, mask } of trajectory.turns) {
    for (const bit of mask ?? [...new Array<number>(tokens).fill(1), 0]) {
      if (bit === 1) sampled++;
      else found.add(sampled);
    }
  }
  return found;
}

function centredOutcomes(trajectories: readonly CreditTrajectory[]): Float64Array {
  const centred = compareOutcomes(trajectories, (outcomes_G) => {
    const centre = mean(outcomes_G);
    return outcomes_G.map((outcome) => outcome - centre);
  });
  const starts = tokenStarts(trajectories);
  const tokens = new Float64Array(starts[trajectories.length]!);
  for (const [index, outcome] of centred.entries()) tokens.fill(outcome, starts[index]!, starts[index + 1]!);
  return tokens;
}
