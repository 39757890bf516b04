/** All reward shapings, and how a method is put together with them. */

import { nearest, TurnwiseError } from '../../core/errors.ts';
import { jointReward } from '../cory.ts';
import { entityAware } from '../e-grpo.ts';
import { gatedAccumulation } from '../g-ra.ts';
import { findCreditMethod } from '../methods.ts';
import { isNameOf } from '../names.ts';
import type { Credit } from '../rollouts.ts';
import { progressAttribution } from '../spa-rl.ts';
import { aiSearchPlanner } from './ai-search-planner.ts';
import { apo } from './apo.ts';
import { explorationBonus } from './exploration-bonus.ts';
import { invalidActionPenalty } from './invalid-action-penalty.ts';
import { mind } from './mind.ts';
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
  toolPenalty,
  spearToolBonus,
  explorationBonus,
  gatedAccumulation,
  entityAware,
  progressAttribution,
  jointReward,
];

/** The shaping of that name or alias, whatever its case and hyphens, or an error that names the nearest. */
export function findRewardShaping(name: string): RewardShaping {
  const found = rewardShapings.find((shaping) => isNameOf(name, shaping));
  if (found) return found;
  const names = rewardShapings.map((shaping) => shaping.name);
  const suggestion = nearest(name, names);
  throw new TurnwiseError('unknown-reward-shaping', {
    what: 'There is no such reward shaping',
    seen: `"${name}"`,
    allowed: names.join(', '),
    ...(suggestion !== undefined && { next: `Did you mean "${suggestion}"?` }),
    fields: { shaping: name },
  });
}

/** A method and the shapings before it, by name, each with its options. */
export interface CreditChoice {
  readonly method: string;
  readonly options?: unknown;
  /** In the order in which they are applied. */
  readonly shape?: Readonly<Record<string, unknown>>;
}

/** The method on rewards that the shapings made, and all settings with defaults filled in. */
export function composeCredit({ method, options = {}, shape = {} }: CreditChoice): {
  readonly credit: Credit;
  readonly options: object;
  readonly shape: Readonly<Record<string, object>>;
} {
  const made = findCreditMethod(method).create(options);
  const shapings = Object.entries(shape).map(([name, given]) => {
    const shaping = findRewardShaping(name);
    return { name: shaping.name, ...shaping.create(given) };
  });
  return {
    credit: shapings.reduceRight((credit, shaping) => shapedCredit(shaping.shape, credit), made.credit),
    options: made.options,
    shape: Object.fromEntries(shapings.map((shaping) => [shaping.name, shaping.options])),
  };
}
