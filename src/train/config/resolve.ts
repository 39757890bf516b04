/** From a recipe, an environment's suggestions and a person's settings to one complete, strict configuration. */

import type { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import { parseStrict } from '../../core/json/parse-strict.ts';
import { optionsForReaders } from '../../env/wording.ts';
import { ownOptions } from '../kit/policy-objective.ts';
import { playsWith, type Recipe } from '../recipes/recipe.ts';
import { requireBatches } from './batch-settings.ts';
import { builtIns, type Catalogue, openTurns } from './catalogue.ts';
import { spelledOut, type TrainConfig, type TrainSettings, trainConfigSchema } from './config.ts';
import { mergeSettings } from './merge.ts';
import { pretrainedSettings, recordedFirst } from './model-layers.ts';
import { choicesIn, readBy, requireRead, runSchema } from './run-schema.ts';
import { resolveStages } from './stages.ts';

type Plain = { readonly [key: string]: unknown };

/**
 * Schema defaults < recipe < environment < pretrained model or server < person. Unknown keys and bad values are errors that name the key, the nearest
 * valid one and what is allowed. Options of the environment,
 * of the credit method, of its shapings, of the loss, of tasks, turns, prompts and curations are checked by their own schemas.
 */
export function resolveConfig(parts: {
  readonly recipe: Recipe;
  readonly environmentOptions: z.ZodType;
  readonly environmentSettings?: Plain;
  readonly settings: TrainSettings;
  /** Default: what is built in. */
  readonly catalogue?: Catalogue;
}): TrainConfig {
  const { catalogue = builtIns } = parts;
  const settings = spelledOut(parts.settings);
  const pretrained = pretrainedSettings(settings);
  const reads = (settings.model?.pretrained ?? pretrained?.model?.pretrained ?? '') !== '';
  const suggested = mergeSettings(
    spelledOut(parts.recipe.settings) as Plain,
    parts.environmentSettings && spelledOut(parts.environmentSettings),
    pretrained as Plain | undefined,
    reads && playsWith(parts.recipe, settings.data ?? '') ? recordedFirst(settings) : undefined,
    reads ? { environment: optionsForReaders(parts.environmentOptions) } : undefined,
  );
  const choices = choicesIn(suggested as TrainSettings, settings);
  requireRead(parts.recipe, choices, settings, catalogue);
  // What an environment or a model suggests to every recipe, each takes as far as it reads it.
  const layered = mergeSettings(
    ofChosenLoss(
      parts.recipe,
      readBy(parts.recipe, suggested as TrainSettings, choices, catalogue),
      settings,
    ),
    settings as Plain,
  );
  const read = parseStrict(runSchema(parts.recipe, choices, catalogue), layered, 'A run');
  const config = withOwn(parts.recipe, read as Plain);
  const environment = parseStrict(parts.environmentOptions, config.environment, 'This environment', [
    'environment',
  ]);
  const { method, rewardScale, shape, ...options } = config.credit;
  const creditOptions = parseStrict(
    catalogue.credit.find(method).options,
    options,
    `Credit method "${method}"`,
    ['credit'],
  );
  const shapes = namedOptions(shape, catalogue.shapings, 'Reward shaping', ['credit', 'shape']);
  const { name: contextName, trained, ...contextOptions } = config.context;
  const ownContext = parseStrict(
    catalogue.contexts.find(contextName).options,
    contextOptions,
    `Context "${contextName}"`,
    ['context'],
  );
  const { name: source, ...taskOptions } = config.tasks;
  const { name: control, ...turnOptions } = config.turns;
  const tasks = parseStrict(
    catalogue.tasks.find(source).options,
    taskOptions,
    `Source of tasks "${source}"`,
    ['tasks'],
  );
  const turns = parseStrict(catalogue.turns.find(control).options, turnOptions, `Turn control "${control}"`, [
    'turns',
  ]);
  const { name: instructing, proposer, alone, ...promptOptions } = config.prompts;
  const prompts = parseStrict(
    catalogue.prompts.find(instructing).options,
    promptOptions,
    `Source of prompts "${instructing}"`,
    ['prompts'],
  );
  const curations = namedOptions(config.curation, catalogue.curations, 'Curation', ['curation']);
  requireBatches(config);
  if (!reads && (config.evaluation.tasks === 0 || config.evaluation.finalTasks === 0)) {
    throw new TurnwiseError('config-invalid', {
      what: 'An evaluation needs tasks',
      seen: `evaluation.tasks ${config.evaluation.tasks}, evaluation.finalTasks ${config.evaluation.finalTasks}`,
      allowed: 'at least 1; 0 with --model, where their number follows from an estimate',
      next: 'Set a number, or evaluation.every=0 for no evaluations during training',
      fields: { key: 'evaluation' },
    });
  }
  if (config.evaluation.constrained && config.model.pretrained === '') {
    throw new TurnwiseError('config-invalid', {
      what: 'A small model writes words of its task, not JSON that could be held to a schema',
      seen: 'evaluation.constrained true without a pretrained model',
      next: 'Leave it out, or name a model with --model',
      fields: { key: 'evaluation.constrained' },
    });
  }
  if (config.evaluation.turnControl && !openTurns({ ...turns, name: control }, catalogue).demonstrated) {
    throw new TurnwiseError('config-invalid', {
      what: 'Demonstrations are not played under the turn control, so it holds in training alone',
      seen: `evaluation.turnControl true, turns ${control}`,
      allowed:
        'controls that speak to the policy or ask it for more, such as extended, modes, retry and two-attempts',
      next: 'Leave it out: evaluations have the usual limit',
      fields: { key: 'evaluation.turnControl' },
    });
  }
  if (config.model.width % (2 * config.model.heads) !== 0) {
    throw new TurnwiseError('config-invalid', {
      what: 'model.heads does not fit model.width',
      seen: `heads ${config.model.heads}, width ${config.model.width}`,
      allowed: 'a width that is a multiple of twice the heads, since positions rotate pairs of channels',
      next: 'Change one of them with --set',
    });
  }
  const resolved: TrainConfig = {
    ...config,
    environment: environment as TrainConfig['environment'],
    context: { name: contextName, trained, ...(ownContext as Record<string, Json>) },
    tasks: { name: source, ...(tasks as Record<string, Json>) },
    turns: { name: control, ...(turns as Record<string, Json>) },
    prompts: { name: instructing, proposer, alone, ...(prompts as Record<string, Json>) },
    curation: curations as TrainConfig['curation'],
    objective: { ...config.objective, options: objectiveOptions(parts.recipe, config, catalogue) },
    credit: {
      method,
      rewardScale,
      shape: shapes as TrainConfig['credit']['shape'],
      ...(creditOptions as Record<string, Json>),
    },
  };
  if (config.stages.length === 0) return resolved;
  const { stages: _, ...steady } = parts.settings;
  const facts = {
    own: Object.keys(parts.recipe.options?.shape ?? {}),
    places: catalogue.tasks.find(source).places,
  };
  const stages = resolveStages(resolved, facts, (set) =>
    resolveConfig({ ...parts, settings: mergeSettings(steady as Plain, set) as TrainSettings }),
  );
  return { ...resolved, stages };
}

/** All options of what stands beside each other, by name and in order, without what was left out at last. */
function namedOptions(
  group: Plain,
  known: { find(name: string): { readonly name: string; readonly options: z.ZodType } },
  noun: string,
  path: readonly string[],
): Plain {
  const named = new Map<string, unknown>();
  for (const [given, options] of Object.entries(group)) {
    const { name, options: schema } = known.find(given);
    if (options === false) named.delete(name);
    else named.set(name, parseStrict(schema, options, `${noun} "${name}"`, [...path, given]));
  }
  return Object.fromEntries(named);
}

/** Options go with the name of a loss; those of a recipe's own loss have none. */
function ofChosenLoss(
  { lossOptions }: Recipe,
  suggested: TrainSettings,
  { objective }: TrainSettings,
): Plain {
  const { options, ...own } = suggested.objective ?? {};
  const isOther = objective?.name !== undefined && objective.name !== (own.name ?? 'ppo-clip');
  return (isOther && !lossOptions && options ? { ...suggested, objective: own } : suggested) as Plain;
}

/** The configuration, complete, with what only this recipe reads. */
function withOwn({ options }: Recipe, read: Plain): TrainConfig {
  const own = Object.keys(options?.shape ?? {});
  const entries = Object.entries(read);
  const common = Object.fromEntries(entries.filter(([key]) => !own.includes(key)));
  return {
    ...trainConfigSchema.parse(common),
    ...Object.fromEntries(entries.filter(([key]) => own.includes(key))),
  };
}

/** The options of what is minimised, all of them: of the policy loss, or of the recipe's own. */
function objectiveOptions(
  { name, lossOptions: schema }: Recipe,
  { objective }: TrainConfig,
  catalogue: Catalogue,
): TrainConfig['objective']['options'] {
  const subject = schema ? `The objective of recipe "${name}"` : `Objective "${objective.name}"`;
  return parseStrict(schema ?? ownOptions(objective.name, catalogue), objective.options, subject, [
    'objective',
    'options',
  ]) as TrainConfig['objective']['options'];
}
