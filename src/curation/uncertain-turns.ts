/**
 * Only turns in which the policy was unsure: DART, arXiv 2509.23866, learns from the 80% of a group's steps whose tokens have the
 * highest mean entropy. Ties at the cut are kept.
 *
 * Its pool of successes is the curation `success-replay`, its numbers of episodes and of turns are the source of tasks `dart`.
 * 1. The mean −log-probability of the sampled tokens stands for their entropy, of which it is an unbiased estimate.
 */

import { z } from 'zod';
import { quantile } from '../core/statistics.ts';
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
      (surprises) => {
        const least = quantile(surprises, 1 - share);
        return (own) => own >= least;
      },
    ),
  }),
});
