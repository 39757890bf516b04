/** A recipe taken apart: what it plays, keeps, credits, minimises and schedules, with the settings of an environment. */

import { findCreditMethod } from '../credit/methods.ts';
import type { World } from '../env/world.ts';
import type { TrainConfig } from '../train/config.ts';
import { needsOf } from '../train/recipes/fit.ts';
import type { Recipe } from '../train/recipes/recipe.ts';
import { placeOf } from './prepare-run.ts';

export interface RecipePart {
  readonly part: 'rollout' | 'curation' | 'credit' | 'objective' | 'schedule';
  readonly text: string;
}

/** One line for each part of a step, as the configuration has it. */
export function recipeParts(recipe: Recipe, config: TrainConfig): readonly RecipePart[] {
  const { rollout, model, objective, optimizer, credit } = config;
  const { method, rewardScale, ...options } = credit;
  const { summary, level } = findCreditMethod(method);
  const settings = Object.entries(options).map(([key, value]) => `${key} ${JSON.stringify(value)}`);
  const terms = [
    `clip −${objective.clipLow} to +${objective.clipHigh}${objective.dualClip > 0 ? `, dual clip ${objective.dualClip}` : ''}`,
    ...(objective.entropyCoefficient > 0 ? [`entropy bonus ${objective.entropyCoefficient}`] : []),
    ...(objective.klCoefficient > 0 ? [`KL to the warm start ${objective.klCoefficient}`] : []),
    ...(recipe.critic
      ? [
          `value loss ${objective.valueCoefficient}${objective.valueClip > 0 ? `, value clip ${objective.valueClip}` : ''}${objective.valueWarmup > 0 ? `, ${objective.valueWarmup} steps for the value head alone` : ''}`,
        ]
      : []),
    objective.aggregation,
  ];
  return [
    {
      part: 'rollout',
      text: `${rollout.tasks} tasks × ${rollout.group} episodes a step, temperature ${rollout.temperature}, ${model.context === 'full' ? 'all turns' : 'the latest turn'} in context`,
    },
    {
      part: 'curation',
      text: `failed episodes left out, groups of fewer than ${rollout.minimumMembers} dropped${rollout.revisit > 0 ? `, ${Math.round(100 * rollout.revisit)}% unsolved tasks again` : ''}`,
    },
    {
      part: 'credit',
      text: `${method}, per ${level}: ${summary}${settings.length > 0 ? ` (${settings.join(', ')})` : ''}${rewardScale === 1 ? '' : `; rewards × ${rewardScale}`}`,
    },
    { part: 'objective', text: terms.join('; ') },
    {
      part: 'schedule',
      text: `learning rate ${optimizer.learningRate}, ${optimizer.schedule}, ${optimizer.warmupSteps} steps of warm-up; ${optimizer.minibatches} optimizer steps a batch, ${optimizer.epochs} epoch${optimizer.epochs === 1 ? '' : 's'}`,
    },
  ];
}

export interface ListedNeed {
  readonly of: string;
  readonly what: string;
  /** Absent where no environment was named and the need is one of those. */
  readonly met?: boolean;
}

/** What it needs, and whether it is there: from the embedded engine, and from an environment where one is named. */
export function listNeeds(
  recipe: Recipe,
  config: TrainConfig,
  world: Pick<World, 'name' | 'roles'> | undefined,
): readonly ListedNeed[] {
  return needsOf(recipe, config).map((need) => ({
    of: need.of,
    what: need.what,
    ...(need.of === 'environment' && world === undefined
      ? {}
      : { met: need.met(placeOf(world ?? { name: 'any environment', roles: [] })) }),
  }));
}
