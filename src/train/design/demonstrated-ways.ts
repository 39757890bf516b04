/** How the demonstrations of a run are played: as its settings say, and once more for each stage that shows or asks something else. */

import { canonicalJson, type JsonObject } from '../../core/json/json.ts';
import type { World } from '../../env/world.ts';
import type { Context } from '../../rollout/context/strategy.ts';
import { demonstratedRules, type TurnRules } from '../../rollout/turns/turn-control.ts';
import { builtIns, type Catalogue, openTurns } from '../config/catalogue.ts';
import type { TrainConfig } from '../config/config.ts';
import { configsOf } from '../config/stages.ts';
import { contextOf } from '../kit/learner.ts';

/** What a player of demonstrations reads, is asked for and may take. */
export interface DemonstratedWay {
  readonly context: Context;
  readonly maxTurns: number;
  readonly turns?: TurnRules;
  readonly turnTimeoutMs: number;
}

type Timed = Pick<World, 'maxTurns'>;

/** The turns of an episode that no control limits otherwise. */
export const usualTurns = ({ rollout }: Pick<TrainConfig, 'rollout'>, { maxTurns }: Timed): number =>
  rollout.maxTurns === 0 ? maxTurns : rollout.maxTurns;

/** The first is that of the run's own settings, which is imitated; the others only show a new model what it will read. */
export function demonstratedWays(
  config: TrainConfig,
  world: Timed,
  catalogue: Catalogue = builtIns,
): readonly [DemonstratedWay, ...DemonstratedWay[]] {
  const [own, ...others] = configsShown(config, world, catalogue).map((one): DemonstratedWay => {
    const maxTurns = usualTurns(one, world);
    const turns = demonstratedRules(openTurns(one.turns, catalogue), { seed: one.seed, usual: maxTurns });
    const { turnTimeoutMs } = one.rollout;
    return { context: contextOf(one, catalogue), maxTurns, ...(turns && { turns }), turnTimeoutMs };
  });
  return [own!, ...others];
}

/** The settings of the run, then those of stages that show or ask something else. */
function configsShown(config: TrainConfig, world: Timed, catalogue: Catalogue): readonly TrainConfig[] {
  const seen = new Set<string>();
  return [config, ...configsOf(config)].filter((one) => {
    const facts = canonicalJson(shownFacts(one, world, catalogue));
    const isNew = !seen.has(facts);
    seen.add(facts);
    return isNew;
  });
}

function shownFacts(one: TrainConfig, world: Timed, catalogue: Catalogue): JsonObject {
  const isDemonstrated = openTurns(one.turns, catalogue).demonstrated;
  return {
    context: one.context as JsonObject,
    ...(isDemonstrated && { turns: one.turns as JsonObject }),
    maxTurns: usualTurns(one, world),
  };
}

/** What the stages of a run show beside its own settings: a model that is made for it depends on that. */
export const shownByStages = (config: TrainConfig, world: Timed, catalogue: Catalogue): JsonObject[] =>
  configsShown(config, world, catalogue)
    .slice(1)
    .map((one) => shownFacts(one, world, catalogue));
