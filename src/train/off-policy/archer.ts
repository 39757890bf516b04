/**
 * ArCHer: the policy learns from the advantages that a critic of utterances gives its own actions in kept states; in the
 * IQL form from recorded actions alone. Source: arXiv 2402.19446; the losses are in objective/archer.ts.
 */

import { z } from 'zod';
import { combine } from '../../objective/contract/combine.ts';
import type { Objective } from '../../objective/contract/objective.ts';
import { archerActor, archerCritic, archerIql } from '../../objective/critic/archer.ts';
import { advantageWeighted } from '../../objective/imitation/advantage-weighted.ts';
import { entropyBonus } from '../../objective/regularizer/entropy-bonus.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Learn } from '../kit/learn.ts';
import { actorCritic, advantageOf, drawUtterances, mean, read, utteranceRow } from './actor-critic.ts';
import { imagine } from './utterances.ts';

export const learnArcher: Learn = actorCritic({
  stateTarget: 'imagined',
  criticObjective: () => archerCritic(),
  actorObjective: (config) => withEntropy(config, archerActor(config.objective.options)),
  actorStep: async (trainer, kept, config, rng) => {
    const utterances = drawUtterances(kept, config, rng);
    const imagined = await imagine(trainer, utterances, utterances.turns, rng);
    const heads = await read(
      trainer.critic!,
      imagined.map(({ ids_T }) => ids_T),
      false,
    );
    const advantages = imagined.map((action, row) => advantageOf(heads, row, action));
    return {
      rows: imagined.map((action, row) => utteranceRow(action, advantages[row]!)),
      metrics: { 'critic/advantage': mean(advantages) },
    };
  },
});

/** Options of both losses of the IQL form: the critic's expectile, and the imitation's weights. */
export const archerIqlOptions = z.strictObject({
  ...archerIql.schema.shape,
  ...advantageWeighted.schema.shape,
});

export const learnArcherIql: Learn = actorCritic({
  stateTarget: 'least',
  criticObjective: (config) => {
    const { expectile } = archerIqlOptions.parse(config.objective.options);
    return archerIql({ expectile });
  },
  actorObjective: (config) => {
    const { temperature, largestWeight } = archerIqlOptions.parse(config.objective.options);
    return advantageWeighted({ temperature, largestWeight });
  },
  actorStep: async (trainer, kept, config, rng) => {
    const { ids, turns } = drawUtterances(kept, config, rng);
    const heads = await read(trainer.critic!, ids, false);
    const advantages = turns.map((turn) => advantageOf(heads, turn.row, turn));
    return {
      rows: turns.map(({ row, ...turn }, index) =>
        utteranceRow({ ids_T: ids[row]!, ...turn }, advantages[index]!),
      ),
      metrics: { 'critic/advantage': mean(advantages) },
    };
  },
});

/** A little entropy keeps a small policy from settling before its critic knows every state. */
function withEntropy(config: TrainConfig, objective: Objective): Objective {
  const { entropyCoefficient } = config.objective;
  return entropyCoefficient > 0 ? combine([objective, entropyBonus({ entropyCoefficient })]) : objective;
}
