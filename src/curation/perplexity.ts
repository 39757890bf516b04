/**
 * The middle of the perplexities: turns that the policy finds too likely teach nothing, and those that it finds too unlikely are
 * noise. BFS-Prover-V2, arXiv 2509.06493, keeps tactics within some standard deviations of the mean −log-probability.
 *
 * Turns outside have weight 0; the episode keeps its credit.
 * 1. The paper filters tactics of proofs that were found (`of=successes`); here all turns that the policy wrote are compared by
 *    default, those of a role throughout the step.
 * 2. The paper does not say where it cuts. One standard deviation either way is our choice.
 * 3. The log-probabilities are those of sampling, before the step.
 */

import { z } from 'zod';
import { mean, populationStd } from '../core/statistics.ts';
import { surpriseOf } from '../core/surprise.ts';
import { roleGroups, type Trajectory } from '../core/trajectory.ts';
import { type DefinedCuration, defineCuration } from './curation.ts';
import { trajectoriesIn, weighTurns } from './turn-weights.ts';

export const perplexity: DefinedCuration = defineCuration({
  name: 'perplexity',
  summary: 'only turns that the policy finds neither too likely nor too unlikely',
  weighs: true,
  options: z.strictObject({
    below: z.number().min(0).default(1).describe('Standard deviations below the mean that are kept'),
    above: z.number().min(0).default(1).describe('Standard deviations above the mean that are kept'),
    of: z
      .enum(['all', 'successes'])
      .default('all')
      .describe('Whose turns are compared and filtered: of all episodes, or of those that succeeded'),
  }),
  choose(groups, { options: { below, above, of }, isIn }) {
    const isCompared = ({ success }: Trajectory): boolean => of === 'all' || success;
    const all = roleGroups(groups);
    const scopes = [...new Set(all.map(({ role }) => role))].map((role) =>
      all.filter((own) => own.role === role).flatMap((own) => trajectoriesIn(own, isIn).filter(isCompared)),
    );
    return {
      choice: weighTurns(scopes, surpriseOf, (surprises) => {
        const [centre, spread] = [mean(surprises), populationStd(surprises)];
        return (own) => own >= centre - below * spread && own <= centre + above * spread;
      }),
    };
  },
});
