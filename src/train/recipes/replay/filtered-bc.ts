/** Filtered behaviour cloning: imitates the best share of all kept episodes. */

import { crossEntropy } from '../../../objective/imitation/cross-entropy.ts';
import { keepBest, filteredBc as objective } from '../../../objective/imitation/filtered-bc.ts';
import { replayed } from '../../config/blocks.ts';
import { learnFromReplay } from '../../off-policy/imitation.ts';
import { remembers } from '../../off-policy/replay.ts';
import { averagedRows, recordedOf } from '../../off-policy/rows.ts';
import { defineRecipe } from '../recipe.ts';

export const filteredBc = defineRecipe({
  name: 'filtered-bc',
  summary: 'imitates the best share of all kept episodes',
  formula: [
    'loss = −Σ weight · log π over episodes whose return is at least the (1 − share) quantile of all kept',
  ],
  use: 'you have recorded episodes of mixed quality; the baseline of every offline method',
  source: 'LMRL-Gym, arXiv 2311.18232; as the baseline of ArCHer, arXiv 2402.19446',
  authors: 'the best 10% of everything seen so far',
  learnsFrom: 'either',
  start: remembers,
  needs: { wholeSteps: true },
  learn: learnFromReplay({
    eligible: (kept, config) => {
      const best = keepBest(
        kept.map(({ outcome }) => outcome),
        objective.schema.parse(config.objective.options).share,
      );
      return kept.filter((_, index) => best[index]);
    },
    rows: (episodes) => averagedRows(recordedOf(episodes)),
    objective: () => crossEntropy(),
  }),
  reads: replayed,
  lossOptions: objective.schema,
  settings: { data: 'demonstrations', rollout: { minimumMembers: 1 } },
});
