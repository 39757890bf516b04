/** A recipe taken apart: what it plays, keeps, credits, minimises and schedules, with the settings of an environment. */

import { findCreditMethod } from '../credit/methods.ts';
import { curationRegistry, tasksRegistry } from '../curation/registry.ts';
import { promptsRegistry } from '../prompts/registry.ts';
import { contextRegistry } from '../rollout/context/contexts.ts';
import { turnsRegistry } from '../rollout/turns/turn-controls.ts';
import { placeOf } from '../run/prepare-run.ts';
import type { TrainConfig } from '../train/config/config.ts';
import { needsOf } from '../train/fit/fit.ts';
import type { Place } from '../train/fit/need.ts';
import { playsEpisodes } from '../train/kit/learner.ts';
import { lossOptions } from '../train/kit/policy-objective.ts';
import type { Recipe } from '../train/recipes/recipe.ts';

export interface RecipePart {
  readonly part: 'rollout' | 'curation' | 'credit' | 'objective' | 'memory' | 'critic' | 'schedule';
  readonly text: string;
}

/** One line for each part of a step, as the configuration has it. */
export function recipeParts(recipe: Recipe, config: TrainConfig): readonly RecipePart[] {
  const { rollout, context, objective, optimizer, credit } = config;
  const { method, rewardScale, shape, ...options } = credit;
  const { summary, level } = findCreditMethod(method);
  const shapings = Object.entries(shape).map(([name, settings]) => `${name}: ${pairs(settings as object)}`);
  const terms = [
    lossText(config),
    ...(objective.entropyCoefficient > 0
      ? [
          `entropy bonus ${objective.entropyCoefficient}${objective.entropySmoothing > 0 ? `, smoothed with ${objective.entropySmoothing}` : ''}`,
        ]
      : []),
    ...(objective.klCoefficient > 0
      ? [`KL (${objective.klEstimator}) to the warm start ${objective.klCoefficient}`]
      : []),
    ...(recipe.critic
      ? [
          `value loss ${objective.valueCoefficient}${objective.valueLoss === 'squared' ? '' : ` (${objective.valueLoss})`}${objective.valueLoss === 'squared' && objective.valueClip > 0 ? `, value clip ${objective.valueClip}` : ''}${objective.valueWarmup > 0 ? `, ${objective.valueWarmup} steps for the value head alone` : ''}`,
        ]
      : []),
    objective.aggregation,
  ];
  return [
    {
      part: 'rollout',
      text: !playsEpisodes({ config, recipe })
        ? `none: learns from ${config.data === 'demonstrations' ? `${config.clone.demonstrations} scripted episodes` : /[/\\]/.test(config.data) ? `the training episodes in ${config.data}` : `the episodes that run ${config.data} stored`}; all turns in context`
        : `${rollout.tasks} tasks × ${rollout.group} episodes a step, temperature ${rollout.temperature}, ${contextRegistry.get(context.name)?.summary ?? context.name} in context${rollout.exchangeEvery > 0 ? `; agents exchange roles every ${rollout.exchangeEvery} steps` : ''}${branchingText(recipe, config)}`,
    },
    {
      part: 'curation',
      text: playsEpisodes({ config, recipe }) ? curationText(config) : 'none',
    },
    {
      part: 'credit',
      text: !goesByCredit(recipe)
        ? `none; rewards${rewardScale === 1 ? '' : ` × ${rewardScale}`} as they are`
        : `${method}, per ${level}: ${summary}${Object.keys(options).length > 0 ? ` (${pairs(options)})` : ''}${shapings.length > 0 ? `; on rewards shaped by ${shapings.join('; ')}` : ''}${rewardScale === 1 ? '' : `; rewards × ${rewardScale}`}`,
    },
    {
      part: 'objective',
      text: recipe.lossOptions ? pairs(objective.options) || 'no options' : terms.join('; '),
    },
    ...memoryParts(recipe, config),
    {
      part: 'schedule',
      text: `learning rate ${optimizer.learningRate}, ${optimizer.schedule}, ${optimizer.warmupSteps} steps of warm-up; ${optimizer.minibatches} optimizer steps a batch, ${optimizer.epochs} epoch${optimizer.epochs === 1 ? '' : 's'}`,
    },
  ];
}

/** The policy loss: the clip that most have, or its name and options. */
function lossText({ objective }: TrainConfig): string {
  const { name, clipLow, clipHigh, dualClip } = objective;
  if (name !== 'ppo-clip') {
    const { policy: _, ...options } = lossOptions(objective);
    const own = pairs(options);
    return own === '' ? name : `${name} (${own})`;
  }
  return `clip −${clipLow} to +${clipHigh}${dualClip > 0 ? `, dual clip ${dualClip}` : ''}`;
}

/** Whether advantages of the credit method enter: recipes that learn in another way say so by naming one. */
function goesByCredit({ learn, settings }: Recipe): boolean {
  return learn === undefined || settings.credit?.method !== undefined;
}

/** What recipes that learn off-policy keep, and how their critics learn. */
function memoryParts(recipe: Recipe, config: TrainConfig): RecipePart[] {
  const { replay, critic } = config;
  const plays = playsEpisodes({ config, recipe });
  const strength = recipe.actsBy ? [`acts by them with strength ${critic.strength}`] : [];
  return [
    ...(recipe.learnsFrom === undefined
      ? []
      : [
          {
            part: 'memory',
            text: `${plays ? `the latest ${replay.size} episodes` : 'all recorded episodes'}; ${replay.batch} at a time`,
          } as const,
        ]),
    ...(recipe.criticHeads === undefined
      ? []
      : [
          {
            part: 'critic',
            text: `a separate model; ${critic.updates} updates a step, ${critic.warmupSteps} steps alone, learning rate ${critic.learningRate}, discount ${critic.discount}, target rate ${critic.targetRate}`,
          } as const,
        ]),
    ...(recipe.heads === undefined
      ? []
      : [
          {
            part: 'critic',
            text: [`heads ${Object.keys(recipe.heads).join(', ')}`, ...strength].join('; '),
          } as const,
        ]),
  ];
}

function curationText({ rollout, tasks, turns, curation, prompts }: TrainConfig): string {
  return [
    'failed episodes left out',
    ...(rollout.minimumMembers > 1 ? [`groups of fewer than ${rollout.minimumMembers} dropped`] : []),
    ...(tasks.name === 'uniform' ? [] : [`tasks of ${named(tasks)}`]),
    ...(turns.name === 'usual' ? [] : [`turns of ${named(turns)}`]),
    ...(prompts.name === 'none' ? [] : [`prompts of ${named(prompts)}`]),
    ...Object.entries(curation).map(([name, options]) => named({ name, ...(options as object) })),
  ].join(', ');
}

/** A name with its options, and with what it does where it is built in. */
function named({ name, ...options }: { readonly name: string }): string {
  const known = [tasksRegistry, turnsRegistry, curationRegistry, promptsRegistry].flatMap(
    (all) => all.get(name) ?? [],
  )[0];
  const told = [pairs(options), known?.summary ?? ''].filter(Boolean).join('; ');
  return told === '' ? name : `${name} (${told})`;
}

const pairs = (options: object): string =>
  Object.entries(options)
    .map(([key, value]) => `${key} ${JSON.stringify(value)}`)
    .join(', ');

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
  world: Place['world'] | undefined,
): readonly ListedNeed[] {
  return needsOf(recipe, config).map((need) => ({
    of: need.of,
    what: need.what,
    ...(need.of === 'environment' && world === undefined
      ? {}
      : { met: need.met(placeOf(world ?? { name: 'any environment', roles: [] })) }),
  }));
}

/** Those of the settings of branching that the recipe reads. */
function branchingText({ playReads }: Recipe, { branching }: TrainConfig): string {
  const reads = playReads?.branching;
  if (reads === undefined) return '';
  return `; branching: ${pairs(Object.fromEntries(Object.entries(branching).filter(([name]) => reads === true || name in reads)))}`;
}
