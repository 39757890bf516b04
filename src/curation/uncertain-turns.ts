/**
 * Only turns in which the policy was unsure: DART, arXiv 2509.23866, learns from the 80% of a group's steps whose tokens have the
 * highest mean entropy. Ties at the cut are kept.
 *
 * Its pool of successes is the curation `success-replay`, its numbers of episodes and of turns are the source of tasks `dart`.
 * 1. Where a player does not tell entropies, the mean −log-probability of what it sampled stands for them. That selects by what
 *    came: where an unlikely act came the turn is kept, where a likely one came it goes.
 */

import { z } from 'zod';
import { quantile } from '../core/statistics.ts';
import { entropyOf } from '../core/surprise.ts';
import { roleGroups } from '../core/trajectory.ts';
import { type DefinedCuration, defineCuration } from './curation.ts';
import { trajectoriesIn, weighTurns } from './turn-weights.ts';

export const uncertainTurns: DefinedCuration = defineCuration({
  name: 'uncertain-turns',
  summary: 'only the turns of each group in which the policy was least sure',
  weighs: true,
  options: z.strictObject({
    share: z.number().min(0).max(1).default(0.8).describe('Share of a group’s turns that are learned from'),
  }),
  choose: (groups, { options: { share }, isIn }) => ({
    choice: weighTurns(
      roleGroups(groups).map((own) => trajectoriesIn(own, isIn)),
      entropyOf,
      (entropies) => {
        const least = quantile(entropies, 1 - share);
        return (own) => own >= least;
      },
    ),
  }),
});
