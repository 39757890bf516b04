/** All reward shapings, and how a method is put together with them. */

import { TurnwiseError } from '../../core/errors.ts';
import { createRegistry, type Registry } from '../../core/registry.ts';
import type { CreditMethod } from '../contract/method.ts';
import { jointReward } from '../methods/roles/cory.ts';
import { entityAware } from '../methods/turn/e-grpo.ts';
import { gatedAccumulation } from '../methods/turn/g-ra.ts';
import { progressAttribution } from '../methods/turn/spa-rl.ts';
import { creditRegistry } from '../methods.ts';
import type { Credit } from '../report/rollouts.ts';
import { aiSearchPlanner } from './ai-search-planner.ts';
import { anyHorizon } from './any-horizon.ts';
import { apo } from './apo.ts';
import { denseRewards } from './dense.ts';
import { explorationBonus } from './exploration-bonus.ts';
import { invalidActionPenalty } from './invalid-action-penalty.ts';
import { mind } from './mind.ts';
import { novelty } from './novelty.ts';
import { overlong } from './overlong.ts';
import { score } from './score.ts';
import { type RewardShaping, shapedCredit } from './shaping.ts';
import { spearToolBonus } from './spear-tool-bonus.ts';
import { toolPenalty } from './tool-penalty.ts';
import { ufo } from './ufo.ts';
import { wmact } from './wmact.ts';

export const rewardShapings: readonly RewardShaping[] = [
  overlong,
  invalidActionPenalty,
  ufo,
  score,
  wmact,
  mind,
  aiSearchPlanner,
  apo,
  anyHorizon,
  toolPenalty,
  spearToolBonus,
  explorationBonus,
  novelty,
  denseRewards,
  gatedAccumulation,
  entityAware,
  progressAttribution,
  jointReward,
];

export const shapingRegistry: Registry<RewardShaping> = createRegistry(
  {
    noun: 'reward shaping',
    field: 'shaping',
    lenient: true,
    unknown: (parts) => new TurnwiseError('unknown-reward-shaping', parts),
  },
  rewardShapings,
);

/** The built-in shaping of that name or alias, whatever its case and hyphens, or an error that names the nearest. */
export function findRewardShaping(name: string): RewardShaping {
  return shapingRegistry.find(name);
}

/** Where the names of methods and shapings are looked up. */
export interface CreditCatalogue {
  readonly credit: Registry<CreditMethod>;
  readonly shapings: Registry<RewardShaping>;
}

export const builtInCredit: CreditCatalogue = { credit: creditRegistry, shapings: shapingRegistry };

/** A method and the shapings before it, by name, each with its options. */
export interface CreditChoice {
  readonly method: string;
  readonly options?: unknown;
  /** In the order in which they are applied. */
  readonly shape?: Readonly<Record<string, unknown>>;
}

/** The method on rewards that the shapings made, and all settings with defaults filled in. */
export function composeCredit(
  { method, options = {}, shape = {} }: CreditChoice,
  catalogue: CreditCatalogue = builtInCredit,
): {
  readonly credit: Credit;
  readonly options: object;
  readonly shape: Readonly<Record<string, object>>;
} {
  const made = catalogue.credit.find(method).create(options);
  const shapings = Object.entries(shape).map(([name, given]) => {
    const shaping = catalogue.shapings.find(name);
    return { name: shaping.name, ...shaping.create(given) };
  });
  return {
    credit: shapings.reduceRight((credit, shaping) => shapedCredit(shaping.shape, credit), made.credit),
    options: made.options,
    shape: Object.fromEntries(shapings.map((shaping) => [shaping.name, shaping.options])),
  };
}
