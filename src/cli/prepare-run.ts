/** A recipe in an environment with a person's settings: resolved and found to fit, or refused, before anything runs. */

import { TurnwiseError } from '../core/errors.ts';
import { embeddedAbilities } from '../engine/embedded/embedded-engine.ts';
import type { EngineAbilities } from '../engine/engine.ts';
import { tinkerAbilities } from '../engine/tinker/tinker-engine.ts';
import { requireServerAddress } from '../engine/tinker/transport.ts';
import type { WorldFactory } from '../env/factory.ts';
import type { World } from '../env/world.ts';
import type { TrainConfig, TrainSettings } from '../train/config.ts';
import { type Place, requireFit } from '../train/recipes/fit.ts';
import type { Recipe } from '../train/recipes/recipe.ts';
import { recipes } from '../train/recipes/recipes.ts';
import { resolveConfig } from '../train/resolve.ts';

export interface PreparedRun {
  readonly recipe: Recipe;
  readonly config: TrainConfig;
  readonly world: World;
}

/** @throws TurnwiseError `config-unknown-key`, `config-invalid`, `recipe-unfit` */
export function prepareRun(factory: WorldFactory, recipe: Recipe, settings: TrainSettings): PreparedRun {
  const config = configOf(factory, recipe, settings);
  if (config.engine === 'tinker') requireServerAddress(config.tinker.baseUrl);
  const world = factory.create(config.environment);
  requireFit(recipe, config, placeOf(world, config.engine), () =>
    recipes.flatMap((other) => {
      try {
        return [{ recipe: other, config: configOf(factory, other, settings) }];
      } catch (error) {
        // These settings make no sense for that recipe, so it is no alternative.
        if (TurnwiseError.isInstance(error)) return [];
        throw error;
      }
    }),
  );
  return { recipe, config, world };
}

const abilities: Readonly<Record<TrainConfig['engine'], EngineAbilities>> = {
  embedded: embeddedAbilities,
  tinker: tinkerAbilities,
};

export function placeOf(
  world: Pick<World, 'name' | 'roles'>,
  engine: TrainConfig['engine'] = 'embedded',
): Place {
  return { world, engine: abilities[engine] };
}

export function configOf(factory: WorldFactory, recipe: Recipe, settings: TrainSettings): TrainConfig {
  return resolveConfig({
    recipe,
    environmentOptions: factory.options,
    ...(factory.settings ? { environmentSettings: factory.settings } : {}),
    settings,
  });
}
