/** A recipe in an environment with a person's settings: resolved and found to fit, or refused, before anything runs. */

import { TurnwiseError } from '../core/errors.ts';
import { embeddedAbilities } from '../engine/embedded/embedded-engine.ts';
import type { EngineAbilities } from '../engine/engine.ts';
import { tinkerAbilities } from '../engine/tinker/abilities.ts';
import { requireServerAddress } from '../engine/tinker/transport.ts';
import type { WorldFactory } from '../env/factory.ts';
import type { World } from '../env/world.ts';
import { builtIns, type Catalogue, openTasks } from '../train/config/catalogue.ts';
import type { TrainConfig, TrainSettings } from '../train/config/config.ts';
import { catalogueWith } from '../train/config/own-definitions.ts';
import { resolveConfig } from '../train/config/resolve.ts';
import { choicesIn, readBy, unread } from '../train/config/run-schema.ts';
import { configsOf, inStage } from '../train/config/stages.ts';
import { type Alternative, obstacle, requireFit } from '../train/fit/fit.ts';
import type { Place } from '../train/fit/need.ts';
import type { Recipe } from '../train/recipes/recipe.ts';
import { recipes } from '../train/recipes/recipes.ts';
import { namesRecorded } from './data/recorded-data.ts';
import { createWorld } from './load/environments.ts';
import { noTeacher } from './model/agent-run.ts';
import { requireProposer } from './players/open-proposer.ts';
import { seatedSources, unseatedIn } from './players/player-source.ts';

export interface PreparedRun {
  readonly recipe: Recipe;
  readonly config: TrainConfig;
  readonly catalogue: Catalogue;
  readonly world: World;
}

/** @throws TurnwiseError `config-unknown-key`, `config-invalid`, `recipe-unfit`, `no-script` */
export function prepareRun(
  factory: WorldFactory,
  recipe: Recipe,
  settings: TrainSettings,
  given: Catalogue = builtIns,
): PreparedRun {
  const catalogue = catalogueWith(recipe, given);
  const wanted = configOf(factory, recipe, settings, catalogue);
  const world = factory.create(wanted.environment);
  const config = withPlayersOfTasks(imitatingWhereItCan(wanted, settings, world), catalogue);
  if (config.engine === 'tinker') requireServerAddress(config.tinker.baseUrl);
  const alternatives = () => recipes.flatMap((other) => alternativeOf(factory, other, settings, given));
  const place = placeOf(world, config.engine);
  for (const [index, one] of configsOf(config).entries())
    inStage(index < config.stages.length ? index : undefined, () =>
      requireFit(recipe, one, place, alternatives, catalogue),
    );
  requireScripts(world, config);
  requireProposer(config, catalogue);
  seatedSources(world, config, unseatedIn(config, catalogue));
  return { recipe, config, catalogue, world };
}

/** A pretrained model imitates by default, but only where there is a scripted player that it can imitate. */
function imitatingWhereItCan(config: TrainConfig, { clone }: TrainSettings, world: World): TrainConfig {
  const isDefault = config.model.pretrained !== '' && clone?.steps === undefined;
  if (!isDefault || (world.script !== undefined && world.agent === undefined)) return config;
  return { ...config, clone: { ...config.clone, steps: 0 } };
}

/** The players that the source of tasks brings, beside those of the settings. */
function withPlayersOfTasks(config: TrainConfig, catalogue: Catalogue): TrainConfig {
  const { players } = openTasks(config.tasks, catalogue);
  return Object.keys(players).length === 0
    ? config
    : { ...config, players: { ...players, ...config.players } };
}

/** Another recipe with those of the settings that it reads; none where they make no sense for it. */
function alternativeOf(
  factory: WorldFactory,
  recipe: Recipe,
  settings: TrainSettings,
  catalogue: Catalogue,
): Alternative[] {
  const choices = choicesIn(recipe.settings, factory.settings, settings);
  try {
    const own = readBy(recipe, settings, choices, catalogue);
    return [
      {
        recipe,
        config: configOf(factory, recipe, own, catalogue),
        unread: unread(recipe, choices, settings, catalogue),
      },
    ];
  } catch (error) {
    if (TurnwiseError.isInstance(error)) return [];
    throw error;
  }
}

/** A model from nothing learns its words from demonstrations, so an environment without players cannot teach one. */
function requireScripts(world: World, config: TrainConfig): void {
  if (world.script !== undefined) return;
  if (config.model.pretrained !== '' || config.start !== '' || namesRecorded(config.data)) return;
  if (world.agent !== undefined) {
    if (world.agent.demonstrate === undefined) throw noTeacher(world.agent);
    return;
  }
  throw new TurnwiseError('no-script', {
    what: `${world.name} has no scripted player, so there is nothing that a new model could learn its words from`,
    next: 'Train a model that can read already (--model), record a model that can play (turnwise eval ENVIRONMENT --policy openai:URL --record FILE) and train with --set data=FILE, or give the environment solve() and actions(); a remote one takes recorded actions: --set environment.demonstrations=FILE',
    fields: { environment: world.name },
  });
}

/** What is missing for the recipe in an environment as it is, with the embedded engine; undefined where it can be used. */
export function obstacleIn(factory: WorldFactory, recipe: Recipe): string | undefined {
  const world = createWorld(factory, []);
  // Which teacher it is says nothing about the environment.
  const settings = recipe.needs?.teacher ? { teacher: 'RUN' } : {};
  return obstacle(recipe, configOf(factory, recipe, settings), placeOf(world), catalogueWith(recipe));
}

const abilities: Readonly<Record<TrainConfig['engine'], EngineAbilities>> = {
  embedded: embeddedAbilities,
  tinker: tinkerAbilities,
};

export function placeOf(world: Place['world'], engine: TrainConfig['engine'] = 'embedded'): Place {
  return { world, engine: abilities[engine] };
}

export function configOf(
  factory: WorldFactory,
  recipe: Recipe,
  settings: TrainSettings,
  catalogue: Catalogue = builtIns,
): TrainConfig {
  return resolveConfig({
    recipe,
    catalogue: catalogueWith(recipe, catalogue),
    environmentOptions: factory.options,
    ...(factory.settings ? { environmentSettings: factory.settings } : {}),
    settings,
  });
}
