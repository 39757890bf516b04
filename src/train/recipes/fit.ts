/** Whether an engine and an environment can serve a recipe: asked before anything runs. */

import { differences } from '../../core/differences.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { findCreditMethod } from '../../credit/methods.ts';
import type { EngineAbilities } from '../../engine/engine.ts';
import type { World } from '../../env/world.ts';
import type { TrainConfig } from '../config.ts';
import type { Recipe } from './recipe.ts';

export interface Place {
  readonly world: Pick<World, 'name' | 'roles'>;
  readonly engine: EngineAbilities;
}

/** What a recipe with its settings needs, each with whether it is there, in words that end a sentence. */
export function needsOf(recipe: Recipe, config: TrainConfig): readonly Need[] {
  const needs: Need[] = [
    {
      of: 'engine',
      what: 'an engine that runs any loss, not only those it knows by name',
      met: ({ engine }) => engine.customObjectives,
    },
  ];
  if (recipe.critic) {
    needs.push({ of: 'engine', what: 'an engine with a value head', met: ({ engine }) => engine.valueHead });
  }
  if (config.objective.entropyCoefficient > 0) {
    needs.push({
      of: 'engine',
      what: 'an engine that computes entropies (objective.entropyCoefficient is above 0)',
      met: ({ engine }) => engine.entropies,
    });
  }
  if (config.rollout.temperature !== 1) {
    needs.push({
      of: 'engine',
      what: `an engine that trains at other temperatures than 1 (rollout.temperature is ${config.rollout.temperature})`,
      met: ({ engine }) => engine.temperatures,
    });
  }
  const method = findCreditMethod(config.credit.method);
  if (method.needs.includes('turns[].entropies')) {
    needs.push({
      of: 'engine',
      what: `an engine that computes entropies (credit method "${config.credit.method}" reads them)`,
      met: ({ engine }) => engine.entropies,
    });
  }
  if (method.critic) {
    needs.push({
      of: 'recipe',
      what: `a recipe that trains a critic (credit method "${config.credit.method}" reads its values)`,
      met: () => recipe.critic,
    });
  }
  if (recipe.needs?.severalRoles) {
    needs.push({
      of: 'environment',
      what: 'an environment with several roles',
      met: ({ world }) => world.roles.length > 1,
    });
  }
  return needs;
}

export interface Need {
  readonly of: 'engine' | 'environment' | 'recipe';
  readonly what: string;
  met(place: Place): boolean;
}

/** The first thing that is missing, in words; undefined where the recipe can be served. */
export function obstacle(recipe: Recipe, config: TrainConfig, place: Place): string | undefined {
  return needsOf(recipe, config).find((need) => !need.met(place))?.what;
}

/**
 * Refuse a recipe that cannot be served here, and name the nearest that can: the one whose configuration differs least.
 *
 * @param alternatives other recipes with the configuration that the same settings would give them
 * @throws TurnwiseError `recipe-unfit`
 */
export function requireFit(
  recipe: Recipe,
  config: TrainConfig,
  place: Place,
  alternatives: () => readonly { readonly recipe: Recipe; readonly config: TrainConfig }[],
): void {
  const missing = obstacle(recipe, config, place);
  if (missing === undefined) return;
  const distance = (other: TrainConfig): number => differences(config, other).length;
  const [near] = alternatives()
    .filter((other) => other.recipe !== recipe && obstacle(other.recipe, other.config, place) === undefined)
    .sort((a, b) => distance(a.config) - distance(b.config));
  throw new TurnwiseError('recipe-unfit', {
    what: `The recipe "${recipe.name}" cannot be used for ${place.world.name}: it needs ${missing}`,
    next: near
      ? `The nearest that can is "${near.recipe.name}": ${near.recipe.summary}`
      : 'No other recipe can be used with these settings either: change them, or choose another environment',
    fields: {
      recipe: recipe.name,
      environment: place.world.name,
      ...(near && { nearest: near.recipe.name }),
    },
  });
}
