/** What the credit method and the shapings before it need: of the engine, of the recipe, and of what the environment tells. */

import { meaningOf } from '../../credit/contract/needs.ts';
import type { CreditField } from '../../credit/report/fields.ts';
import { klEstimators } from '../../objective/regularizer/kl.ts';
import type { Catalogue } from '../config/catalogue.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Recipe } from '../recipes/recipe.ts';
import type { Need } from './need.ts';

export function needsOfCredit(recipe: Recipe, config: TrainConfig, catalogue: Catalogue): Need[] {
  const needs: Need[] = [];
  const method = catalogue.credit.find(config.credit.method);
  if (method.needs.includes('turns[].entropies')) {
    needs.push({
      of: 'engine',
      what: `an engine that computes entropies (credit method "${config.credit.method}" reads them)`,
      key: 'credit.method',
      met: ({ engine }) => engine.entropies,
    });
  }
  if (method.critic) {
    needs.push({
      of: 'recipe',
      what: `a recipe that trains a critic (credit method "${config.credit.method}" reads its values)`,
      key: 'credit.method',
      met: () => recipe.critic,
    });
  }
  if (config.objective.klCoefficient > 0 && config.objective.klEstimator === 'k1') {
    const deaf = deafToPrices(config, catalogue);
    needs.push({
      of: 'recipe',
      what: `a KL penalty in the loss, objective.klEstimator=${klEstimators.join(', ')} (k1 is paid in rewards, and ${deaf} replaces those)`,
      key: 'objective.klEstimator',
      met: () => deaf === undefined,
    });
  }
  return needs;
}

/** Facts that only the environment can tell, or the context. */
export function needsOfFacts(recipe: Recipe, config: TrainConfig, catalogue: Catalogue): Need[] {
  const { gives: told = [] } = catalogue.contexts.find(config.context.name);
  return factsNeeded(recipe, config, catalogue).map(({ field, key, reader }) => {
    const name = field.replace('turns[].', '');
    const meaning = meaningOf(field).replace(/[.;:](\s.*)?$/, '');
    return {
      of: 'environment',
      what: `an environment that gives \`${name}\` in \`info.credit\`: ${meaning}${reader === undefined ? '' : ` (${reader} reads it)`}`,
      ...(key !== undefined && { key }),
      met: ({ world }) => world.facts?.includes(name) || told.includes(name),
    };
  });
}

/** The method or shaping, in words, that makes rewards of its own, so that nothing added to them reaches the advantages. */
function deafToPrices({ credit }: TrainConfig, catalogue: Catalogue): string | undefined {
  if (catalogue.credit.find(credit.method).ownRewards) return `credit method "${credit.method}"`;
  const shaping = Object.keys(credit.shape).find((name) => catalogue.shapings.find(name).ownRewards);
  return shaping === undefined ? undefined : `reward shaping "${shaping}"`;
}

/** What training itself knows of every episode. */
const KNOWN_ANYWHERE: readonly CreditField[] = [
  'outcome',
  'success',
  'parent',
  'sharedTurns',
  'turns[].reward',
  'turns[].tokens',
  'turns[].anchor',
  'turns[].valid',
  'turns[].value',
  'turns[].values',
  'turns[].entropies',
  // The estimator makes it of states.
  'turns[].progress',
];

/** Who reads a field, where it is not the recipe itself, and the setting that names it. */
interface NeededField {
  readonly field: CreditField;
  readonly key?: string;
  readonly reader?: string;
}

/** Fields of the rollout file that only an environment can give. */
function factsNeeded(recipe: Recipe, { credit }: TrainConfig, catalogue: Catalogue): readonly NeededField[] {
  const { needs } = catalogue.credit.find(credit.method);
  const ofMethod = { key: 'credit.method', reader: `credit method "${credit.method}"` };
  const fields: NeededField[] = [
    ...(recipe.needs?.facts ?? []).map((field) => ({ field })),
    ...needs.map((field) => ({ field, ...ofMethod })),
    ...Object.keys(credit.shape).flatMap((name) =>
      catalogue.shapings
        .find(name)
        .needs.map((field) => ({ field, key: `credit.shape.${name}`, reader: `reward shaping "${name}"` })),
    ),
  ];
  const found = [...KNOWN_ANYWHERE, ...(recipe.turnFacts?.fields ?? [])];
  const first = new Map<CreditField, NeededField>();
  for (const one of fields)
    if (!first.has(one.field) && !found.includes(one.field)) first.set(one.field, one);
  return [...first.values()];
}
