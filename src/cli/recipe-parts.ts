/** A recipe taken apart: what it plays, keeps, credits, minimises and schedules, with the settings of an environment. */

import { findCreditMethod } from '../credit/methods.ts';
import { curationRegistry, tasksRegistry } from '../curation/registry.ts';
import { promptsRegistry } from '../prompts/registry.ts';
import { contextRegistry } from '../rollout/context/contexts.ts';
import { turnsRegistry } from '../rollout/turns/turn-controls.ts';
import { placeOf } from '../run/prepare-run.ts';
import type { TrainConfig, TrainSettings } from '../train/config/config.ts';
import { choicesIn, leavesOf, runSchema } from '../train/config/run-schema.ts';
import { needsOf } from '../train/fit/fit.ts';
import type { Place } from '../train/fit/need.ts';
import { playsEpisodes } from '../train/kit/learner.ts';
import { lossOptions } from '../train/kit/policy-objective.ts';
import type { Recipe } from '../train/recipes/recipe.ts';

export interface RecipePart {
  readonly part: 'rollout' | 'curation' | 'credit' | 'objective' | 'memory' | 'critic' | 'schedule';
  readonly text: string;
}

/** Whether the recipe reads a setting. */
type Reads = (key: string) => boolean;

function readsOf(recipe: Recipe, config: TrainConfig): Reads {
  const choices = choicesIn(recipe.settings, config as TrainSettings);
  const read = new Set(leavesOf(runSchema(recipe, choices)));
  return (key) => read.has(key);
}

/** One line for each part of a step, as the configuration has it: only of settings that the recipe reads. */
export function recipeParts(recipe: Recipe, config: TrainConfig): readonly RecipePart[] {
  const { rollout, context, credit } = config;
  const { method, rewardScale, shape, ...options } = credit;
  const { summary, level } = findCreditMethod(method);
  const shapings = Object.entries(shape).map(([name, settings]) => `${name}: ${pairs(settings as object)}`);
  const reads = readsOf(recipe, config);
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
    { part: 'objective', text: lossTerms(recipe, config, reads).join('; ') || 'no options' },
    ...memoryPart(recipe, config, reads),
    ...criticPart(recipe, config, reads),
    { part: 'schedule', text: scheduleText(config, reads) },
  ];
}

/** What is minimised: the policy loss, the options of the recipe's own, and the terms beside it. */
function lossTerms(recipe: Recipe, config: TrainConfig, reads: Reads): string[] {
  const { objective } = config;
  const { entropyCoefficient, entropySmoothing, klCoefficient, klEstimator, aggregation } = objective;
  return [
    ...policyTerms(config, reads),
    ...(recipe.lossOptions ? [pairs(objective.options)] : []),
    ...(reads('objective.entropyCoefficient') && entropyCoefficient > 0
      ? [
          `entropy bonus ${entropyCoefficient}${entropySmoothing > 0 ? `, smoothed with ${entropySmoothing}` : ''}`,
        ]
      : []),
    ...(reads('objective.klCoefficient') && klCoefficient > 0
      ? [`KL (${klEstimator}) to the warm start ${klCoefficient}`]
      : []),
    ...(reads('objective.valueCoefficient') ? [valueText(config, reads)] : []),
    ...(reads('objective.aggregation') ? [aggregation] : []),
  ].filter((term) => term !== '');
}

/** The policy loss: its name and options, unless it is the one that most have, and the clip. */
function policyTerms({ objective }: TrainConfig, reads: Reads): string[] {
  const { name, clipLow, clipHigh, dualClip } = objective;
  const clip = `clip −${clipLow} to +${clipHigh}${dualClip > 0 ? `, dual clip ${dualClip}` : ''}`;
  const clips = reads('objective.clipLow') ? [clip] : [];
  if (!reads('objective.name') || name === 'ppo-clip') return clips;
  const { policy: _, ...options } = lossOptions(objective);
  const own = pairs(options);
  return [own === '' ? name : `${name} (${own})`, ...('clipLow' in options ? [] : clips)];
}

function valueText({ objective }: TrainConfig, reads: Reads): string {
  const { valueCoefficient, valueLoss, valueClip, valueWarmup } = objective;
  const isSquared = !reads('objective.valueLoss') || valueLoss === 'squared';
  return [
    `value loss ${valueCoefficient}${isSquared ? '' : ` (${valueLoss})`}`,
    ...(reads('objective.valueClip') && isSquared && valueClip > 0 ? [`value clip ${valueClip}`] : []),
    ...(reads('objective.valueWarmup') && valueWarmup > 0
      ? [`${valueWarmup} steps for the value head alone`]
      : []),
  ].join(', ');
}

function scheduleText({ optimizer, replay }: TrainConfig, reads: Reads): string {
  const { learningRate, schedule, warmupSteps, minibatches, epochs } = optimizer;
  return [
    `learning rate ${learningRate}, ${schedule}, ${warmupSteps} steps of warm-up`,
    ...(reads('replay.updates') ? [`${replay.updates} updates a step`] : []),
    ...(reads('optimizer.minibatches')
      ? [
          `${minibatches} optimizer step${minibatches === 1 ? '' : 's'} a batch, ${epochs} epoch${epochs === 1 ? '' : 's'}`,
        ]
      : []),
  ].join('; ');
}

/** Whether advantages of the credit method enter: recipes that learn in another way say so by naming one. */
function goesByCredit({ learn, settings }: Recipe): boolean {
  return learn === undefined || settings.credit?.method !== undefined;
}

/** What is learned from again, or from what was recorded. */
function memoryPart(recipe: Recipe, config: TrainConfig, reads: Reads): RecipePart[] {
  const { replay, objective } = config;
  const { replayAge } = objective.options;
  const isRecorded = !playsEpisodes({ config, recipe }) || recipe.learnsFrom === 'both';
  const isDrawn = reads('replay.batch');
  if (!isRecorded && !isDrawn) return [];
  const kept = isRecorded
    ? 'all recorded episodes'
    : reads('replay.size')
      ? `the latest ${replay.size} episodes`
      : `episodes that it chooses${replayAge === undefined ? '' : `, of the last ${String(replayAge)} steps`}`;
  return [{ part: 'memory', text: isDrawn ? `${kept}; ${replay.batch} at a time` : kept }];
}

/** How values are learned beside what is minimised, and what they are for. */
function criticPart(recipe: Recipe, { critic }: TrainConfig, reads: Reads): RecipePart[] {
  const learning = [
    ...(reads('critic.updates') ? [`${critic.updates} updates a step`] : []),
    ...(reads('critic.warmupSteps') ? [`${critic.warmupSteps} steps alone`] : []),
    ...(reads('critic.learningRate') ? [`learning rate ${critic.learningRate}`] : []),
    ...(reads('critic.discount') ? [`discount ${critic.discount}`] : []),
    ...(reads('critic.targetRate') ? [`target rate ${critic.targetRate}`] : []),
    ...(reads('critic.candidates') ? [`${critic.candidates} candidates`] : []),
  ].join(', ');
  const strength = reads('critic.strength') ? `acts by them with strength ${critic.strength}` : '';
  if (learning === '' && strength === '') return [];
  const who = recipe.criticHeads
    ? 'a separate model'
    : recipe.heads
      ? `heads ${Object.keys(recipe.heads).join(', ')}`
      : 'a value head';
  return [{ part: 'critic', text: [who, learning, strength].filter((text) => text !== '').join('; ') }];
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
