/** AWR: imitation of kept episodes, weighted by each turn’s advantage over the value head. */

import { combine } from '../../../objective/contract/combine.ts';
import { valueLoss } from '../../../objective/critic/value.ts';
import { advantageWeighted } from '../../../objective/imitation/advantage-weighted.ts';
import { replayed, scaledRewards } from '../../config/blocks.ts';
import type { TrainConfig } from '../../config/config.ts';
import type { Replayed } from '../../kit/archive.ts';
import type { Trainer } from '../../kit/trainer.ts';
import { learnFromReplay } from '../../off-policy/imitation.ts';
import { remembers } from '../../off-policy/replay.ts';
import { averagedRows, onTurns, recordedOf, turnReturns } from '../../off-policy/rows.ts';
import { defineRecipe } from '../recipe.ts';

export const awr = defineRecipe({
  name: 'awr',
  summary: 'imitation of kept episodes, weighted by each turn’s advantage over the value head',
  formula: [
    'A = Σ γ^k r from the turn on − V, over turns',
    'loss = −Σ weight · min(exp(A / temperature), largestWeight) · log π + valueCoefficient · ½ Σ weight · (V − return)²',
  ],
  use: 'you have recorded episodes of any origin, and rewards tell good turns from bad ones',
  source: 'AWR, arXiv 1910.00177',
  authors: 'temperature 1 (0.05 with normalised advantages), weights up to 20, TD(λ) returns with λ 0.95',
  critic: true,
  learnsFrom: 'either',
  start: remembers,
  needs: { wholeSteps: true },
  learn: learnFromReplay({
    rows: rowsOf,
    objective: (config) =>
      combine([
        advantageWeighted(config.objective.options),
        valueLoss({ valueCoefficient: config.objective.valueCoefficient, valueClip: 0 }),
      ]),
  }),
  reads: (plays) => [
    ...replayed(plays),
    scaledRewards,
    { critic: { discount: true }, objective: { valueCoefficient: true } },
  ],
  lossOptions: advantageWeighted.schema,
  settings: {
    data: 'demonstrations',
    rollout: { minimumMembers: 1 },
    objective: { options: { temperature: 0.2 } },
  },
});

async function rowsOf(episodes: readonly Replayed[], config: TrainConfig, { policy }: Trainer) {
  const recorded = recordedOf(episodes);
  const ids_B = recorded.flatMap(({ samples }) => samples.map(({ ids_T }) => ids_T));
  const { values } = await policy.score(ids_B, { values: true });
  return averagedRows(recorded, (episode, sample, index) => {
    const returns = turnReturns(episode, config.critic.discount, config.credit.rewardScale);
    const returns_T = onTurns(sample, (turn) => returns[turn]!);
    return {
      returns: returns_T,
      advantages: returns_T.map((value, token) => value - values![index]![token]!),
    };
  });
}
