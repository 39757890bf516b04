/** REFUEL: every episode is played again from a random turn on, and REBEL compares the two at that turn. */

import { z } from 'zod';
import { refuel as objective } from '../../../objective/preference/rebel.ts';
import { resetToTurnExplorer } from '../../../rollout/explore/reset-to-turn.ts';
import { preference, scaledRewards } from '../../config/blocks.ts';
import { learnFromPreferences } from '../../off-policy/preferences.ts';
import { remembers } from '../../off-policy/replay.ts';
import { scaledPairs } from '../../off-policy/scaled-pairs.ts';
import { twinPairs } from '../../off-policy/twins.ts';
import { defineRecipe } from '../recipe.ts';

const options = z.strictObject({
  ...objective.schema.shape,
  normalize: z
    .boolean()
    .default(true)
    .describe('Divide returns by the root mean square of their differences within the pairs of the step'),
});

/**
 * 1. The log-ratio of one turn is regressed on returns of any size: the authors set eta to fit the scores of their judge. Here
 *    returns are on a common scale first, on which a typical difference is eta.
 */
export const refuel = defineRecipe({
  name: 'refuel',
  summary:
    'every episode is played again from a random turn on; REBEL on that turn, with the rewards of the rest',
  formula: [
    'Δ_h(τ) = Σ over the tokens of turn h of (log π − log π_sampling), h uniform, both with the same past',
    'loss = mean over pairs of (Δ_h(τ) − Δ_h(τ′) − η · (R_≥h(τ) − R_≥h(τ′)) / s)²; s the root mean square of these differences of returns in the step',
  ],
  use: 'episodes are long, a single turn decides, and environments can replay',
  source: 'REFUEL, arXiv 2410.04612',
  authors: 'eta 1000 (rewards near 0.1) or 1, learning rate 3e-7 or 1e-7, 5 turns, KL in the reward',
  frozen: true,
  needs: { oneRole: true },
  act: () => resetToTurnExplorer,
  start: remembers,
  learn: learnFromPreferences({
    examples: (groups, config) => {
      const pairs = groups.flatMap(({ members }) => twinPairs(members, config.credit.rewardScale));
      return options.parse(config.objective.options).normalize ? scaledPairs(pairs) : pairs;
    },
    objective: (config) => {
      const { normalize: _, ...loss } = options.parse(config.objective.options);
      return objective(loss);
    },
    reference: 'kept',
    why: 'no twin differs from its first',
  }),
  reads: (plays) => [...preference(plays), scaledRewards],
  lossOptions: options,
  // As many episodes as other recipes play, twins among them.
  settings: { rollout: { group: 4 } },
});
