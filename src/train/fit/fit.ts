/** Whether an engine and an environment can serve a recipe: asked before anything runs. */

import { TurnwiseError } from '../../core/errors.ts';
import { differences } from '../../core/json/differences.ts';
import { builtIns, type Catalogue } from '../config/catalogue.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Recipe } from '../recipes/recipe.ts';
import { needsOfCredit, needsOfFacts } from './credit-needs.ts';
import { needsOfLoss } from './loss-needs.ts';
import type { Need, Place } from './need.ts';
import { needsOfParts, needsOfPlay } from './play-needs.ts';
import { needsOfSettings, needsOfWorld } from './recipe-needs.ts';

/** What a recipe with its settings needs, each with whether it is there, in words that end a sentence. */
export function needsOf(
  recipe: Recipe,
  config: TrainConfig,
  catalogue: Catalogue = builtIns,
): readonly Need[] {
  if (config.prompts.alone)
    return [onlyPrompts(config), ...needsOfPlay(recipe, config, catalogue), ...needsOfWorld(recipe, config)];
  return [
    ...needsOfSettings(recipe, config),
    ...(recipe.learn === undefined ? needsOfLoss(recipe, config, catalogue) : []),
    ...needsOfCredit(recipe, config, catalogue),
    ...needsOfPlay(recipe, config, catalogue),
    ...needsOfParts(recipe, config, catalogue),
    ...needsOfWorld(recipe, config),
    ...needsOfFacts(recipe, config, catalogue),
  ];
}

/** Where the weights stay as they are, nothing is asked of a loss, of credit, or of an engine that learns. */
function onlyPrompts({ prompts }: TrainConfig): Need {
  const what =
    'a source of prompts, since prompts.alone=true leaves the weights as they are (prompts=population names one)';
  return { of: 'recipe', what, key: 'prompts.alone', met: () => prompts.name !== 'none' };
}

/** The first thing that is missing, in words; undefined where the recipe can be served. */
export function obstacle(
  recipe: Recipe,
  config: TrainConfig,
  place: Place,
  catalogue: Catalogue = builtIns,
): string | undefined {
  return unmet(recipe, config, place, catalogue)?.what;
}

function unmet(
  recipe: Recipe,
  config: TrainConfig,
  place: Place,
  catalogue: Catalogue = builtIns,
): Need | undefined {
  return needsOf(recipe, config, catalogue).find((need) => !need.met(place));
}

/** A recipe with the configuration that the settings of another one give it. */
export interface Alternative {
  readonly recipe: Recipe;
  readonly config: TrainConfig;
  /** Those that it does not read. */
  readonly unread: readonly string[];
}

/**
 * Refuse a recipe that cannot be served here, and name the nearest that can: the one that reads most of the settings, then the one
 * whose configuration differs least.
 *
 * @param alternatives other recipes with the configuration that the same settings would give them
 * @throws TurnwiseError `recipe-unfit`
 */
export function requireFit(
  recipe: Recipe,
  config: TrainConfig,
  place: Place,
  alternatives: () => readonly Alternative[],
  catalogue: Catalogue = builtIns,
): void {
  const missing = unmet(recipe, config, place, catalogue);
  if (missing === undefined) return;
  // A recipe whose credit was set to another method is hardly that recipe any more.
  const overruled = (other: Alternative): number =>
    other.recipe.settings.credit?.method === other.config.credit.method ? 0 : 1;
  const distance = (other: Alternative): number => differences(config, other.config).length;
  const [near] = alternatives()
    .filter(
      (other) =>
        other.recipe !== recipe && obstacle(other.recipe, other.config, place, catalogue) === undefined,
    )
    .sort(
      (a, b) => a.unread.length - b.unread.length || overruled(a) - overruled(b) || distance(a) - distance(b),
    );
  throw new TurnwiseError('recipe-unfit', {
    what: `The recipe "${recipe.name}" cannot be used for ${place.world.name}: it needs ${missing.what}`,
    next: near
      ? `The nearest that can is "${near.recipe.name}"${near.unread.length > 0 ? `, which does not read ${near.unread.join(', ')}` : ''}: ${near.recipe.summary}`
      : 'No other recipe can be used with these settings either: change them, or choose another environment',
    fields: {
      recipe: recipe.name,
      environment: place.world.name,
      ...(missing.key !== undefined && { key: missing.key }),
      ...(near && { nearest: near.recipe.name }),
    },
  });
}
