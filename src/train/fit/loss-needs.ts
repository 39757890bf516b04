/** What the policy loss needs: of the engine, and of what training makes. */

import type { Catalogue } from '../config/catalogue.ts';
import type { TrainConfig } from '../config/config.ts';
import { findPolicyLoss, lossChannels, lossOptions } from '../kit/policy-objective.ts';
import type { Recipe } from '../recipes/recipe.ts';
import type { Need, Place } from './need.ts';

/** What the policy loss reads of the engine, and of what training makes. */
export function needsOfLoss(recipe: Recipe, config: TrainConfig, catalogue: Catalogue): Need[] {
  const { name } = config.objective;
  const loss = findPolicyLoss(name, catalogue).create(lossOptions(config.objective, catalogue));
  const { values, entropies, valueLogits, heads = [], sequences, pairs, scores } = loss.needs;
  const reads = `(objective.name=${name} reads them)`;
  const made = lossChannels(recipe, config, catalogue);
  const unmade = [
    // What is not made of the episodes, it may prepare itself.
    ...(loss.prepare ? [] : loss.channels.filter((channel) => !made.includes(channel))),
    ...(valueLogits ? ['valueLogits'] : []),
    ...[...heads, ...(scores?.heads ?? []), ...(scores?.frozenHeads ?? [])].map((head) => `the head ${head}`),
    ...(sequences ? ['sequences'] : []),
    ...(pairs ? ['pairs'] : []),
  ];
  return [
    ...(entropies
      ? [
          {
            of: 'engine' as const,
            what: `an engine that computes entropies ${reads}`,
            key: 'objective.name',
            met: ({ engine }: Place) => engine.entropies,
          },
        ]
      : []),
    ...(values
      ? [
          {
            of: 'recipe' as const,
            what: `a recipe that trains a critic, for its values ${reads}`,
            key: 'objective.name',
            met: () => recipe.critic,
          },
        ]
      : []),
    ...unmade.map((what) => ({
      of: 'recipe' as const,
      what: `a policy loss that reads what training makes: ${made.join(', ')} (objective.name=${name} reads ${what})`,
      key: 'objective.name',
      met: () => false,
    })),
  ];
}
