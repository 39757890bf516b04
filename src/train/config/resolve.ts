/** From a recipe, an environment's suggestions and a person's settings to one complete, strict configuration. */

import type { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import { parseStrict } from '../../core/json/parse-strict.ts';
import { optionsForReaders } from '../../env/wording.ts';
import { ownOptions } from '../kit/policy-objective.ts';
import { playsWith, type Recipe } from '../recipes/recipe.ts';
import { requireBatches } from './batch-settings.ts';
import { builtIns, type Catalogue } from './catalogue.ts';
import { spelledOut, type TrainConfig, type TrainSettings, trainConfigSchema } from './config.ts';
import { choicesIn, readBy, requireRead, runSchema } from './run-schema.ts';

type Plain = { readonly [key: string]: unknown };

/** Groups whose other keys are the options of what `name` says: a layer with another name leaves nothing of those below. */
const NAMED = ['tasks', 'turns'];

/** Later layers win, key by key. */
export function mergeSettings(...layers: readonly (Plain | undefined)[]): Plain {
  const merged: Record<string, unknown> = {};
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer ?? {})) {
      const below = merged[key];
      merged[key] =
        isPlain(value) && isPlain(below) && !isOther(key, below, value) ? mergeSettings(below, value) : value;
    }
  }
  return merged;
}

function isOther(key: string, { name: below }: Plain, { name }: Plain): boolean {
  return NAMED.includes(key) && name !== undefined && below !== undefined && name !== below;
}

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Sizes for a model that knows language already: adapters, few demonstrations of the expert, and few episodes at a time.
 * docs/real-models.md has the figures behind them.
 */
const PRETRAINED: TrainSettings = {
  lora: { rank: 16 },
  clone: {
    demonstrations: 48,
    beginnerShare: 0,
    randomRate: 0.3,
    imitateRandom: false,
    steps: 16,
    untilValid: 0.95,
    batch: 8,
    learningRate: 1e-3,
    schedule: 'constant',
    warmupSteps: 3,
  },
  rollout: { tasks: 8, group: 8, concurrency: 64, choices: true },
  optimizer: { learningRate: 1e-4, tokenBudget: 2048 },
  evaluation: { tasks: 0, finalTasks: 0 },
};

/** All weights at once bear smaller steps than an adapter. */
const ALL_WEIGHTS: TrainSettings = { clone: { learningRate: 3e-5 }, optimizer: { learningRate: 1e-5 } };

/** A server is not timed, and imitation there has a price of its own. */
const ON_SERVER: TrainSettings = {
  clone: { steps: 0 },
  rollout: { choices: false },
  evaluation: { tasks: 32, finalTasks: 64 },
};

/** A pretrained model imitates no script, but what was recorded for it. */
function recordedFirst({ data = '', lora }: TrainSettings): Plain | undefined {
  if (data === '' || data === 'demonstrations') return undefined;
  return { clone: { steps: 40, untilValid: 0, batch: 16, learningRate: lora?.rank === 0 ? 1e-5 : 2e-4 } };
}

/** `owner/name`: models on servers are called by what they are called on the hub. */
const HUB_NAME = /^[\w-][\w.-]*\/[\w.-]+$/;

/** What a small model is made of; a pretrained one has it in its own files. */
const SMALL_MODEL_KEYS = ['width', 'layers', 'heads', 'hidden'] as const;

/** The layer of settings that a pretrained model brings, where the person names one. */
function pretrainedSettings(settings: TrainSettings): TrainSettings | undefined {
  const { model, chat, lora } = settings;
  const misplaced = (key: string, why: string): TurnwiseError =>
    new TurnwiseError('config-invalid', {
      what: `${key} ${why}`,
      seen: `model.pretrained=${model?.pretrained ?? ''}`,
      next: 'Leave one of them out',
      fields: { key },
    });
  if (settings.engine === 'tinker') return serverSettings(settings);
  const [server] = keysOf('tinker', settings.tinker);
  if (server !== undefined) {
    throw new TurnwiseError('config-invalid', {
      what: `${server} is for training on a server`,
      seen: 'engine=embedded',
      next: 'Add --engine tinker, or leave it out',
      fields: { key: server },
    });
  }
  if (model?.pretrained === undefined || model.pretrained === '') {
    const [key] = [...keysOf('chat', chat), ...keysOf('lora', lora)];
    if (key !== undefined) throw misplaced(key, 'is for a pretrained model, and none is named');
    return undefined;
  }
  const idle = SMALL_MODEL_KEYS.find((key) => model[key] !== undefined);
  if (idle !== undefined) throw misplaced(`model.${idle}`, 'shapes a small model, not a pretrained one');
  return lora?.rank === 0
    ? (mergeSettings(PRETRAINED as Plain, ALL_WEIGHTS as Plain) as TrainSettings)
    : PRETRAINED;
}

/**
 * The layer that a server brings. Its model is spoken to by a tokenizer and chat template, which a name of the hub stands for as
 * well; a model without either is taught the words of the environment.
 */
function serverSettings({ model, tinker, chat, lora, rollout }: TrainSettings): TrainSettings {
  const invalid = (key: string, what: string, next: string, seen?: string): TurnwiseError =>
    new TurnwiseError('config-invalid', { what, ...(seen !== undefined && { seen }), next, fields: { key } });
  const { baseUrl = '', baseModel = '' } = tinker ?? {};
  if (baseUrl === '')
    throw invalid('tinker.baseUrl', 'Training on a server needs its address', 'Give it with --base-url');
  if (baseModel === '')
    throw invalid(
      'tinker.baseModel',
      'Training on a server needs the name of a model that it has',
      'Give it with --base-model',
    );
  const idle = [
    ...SMALL_MODEL_KEYS.filter((key) => model?.[key] !== undefined).map((key) => `model.${key}`),
    ...keysOf('lora', lora).filter((key) => key !== 'lora.rank'),
  ][0];
  if (idle !== undefined)
    throw invalid(idle, `${idle} is decided by the server`, 'Leave it out', `engine=tinker`);
  if (rollout?.choices)
    throw invalid(
      'rollout.choices',
      'The Tinker API cannot restrict completions to choices',
      'Leave it out, or train with the embedded engine',
      'engine=tinker',
    );
  const pretrained = model?.pretrained ?? (HUB_NAME.test(baseModel) ? baseModel : '');
  if (pretrained !== '')
    return mergeSettings(PRETRAINED as Plain, ON_SERVER as Plain, { model: { pretrained } }) as TrainSettings;
  const [spoken] = keysOf('chat', chat);
  if (spoken !== undefined)
    throw invalid(
      spoken,
      `${spoken} is for a model with a chat template, and none is named`,
      'Name a folder with its tokenizer and template with --model, or leave it out',
    );
  return { lora: { rank: 16 } };
}

function keysOf(group: string, settings: Plain | undefined): string[] {
  return Object.keys(settings ?? {}).map((key) => `${group}.${key}`);
}

/**
 * Schema defaults < recipe < environment < pretrained model or server < person. Unknown keys and bad values are errors that name the key, the nearest
 * valid one and what is allowed. Options of the environment,
 * of the credit method, of its shapings, of the loss, of tasks, turns and curations are checked by their own schemas.
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
    readBy(parts.recipe, suggested as TrainSettings, choices, catalogue) as Plain,
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
  const shapes = Object.entries(shape).map(([name, given]) => {
    const shaping = catalogue.shapings.find(name);
    return [
      shaping.name,
      parseStrict(shaping.options, given, `Reward shaping "${shaping.name}"`, ['credit', 'shape', name]),
    ] as const;
  });
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
  const curations = Object.entries(config.curation).flatMap(([name, given]) => {
    if (given === false) return [];
    const curation = catalogue.curations.find(name);
    return [
      [
        curation.name,
        parseStrict(curation.options, given, `Curation "${curation.name}"`, ['curation', name]),
      ] as const,
    ];
  });
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
  if (config.model.width % (2 * config.model.heads) !== 0) {
    throw new TurnwiseError('config-invalid', {
      what: 'model.heads does not fit model.width',
      seen: `heads ${config.model.heads}, width ${config.model.width}`,
      allowed: 'a width that is a multiple of twice the heads, since positions rotate pairs of channels',
      next: 'Change one of them with --set',
    });
  }
  return {
    ...config,
    environment: environment as TrainConfig['environment'],
    context: { name: contextName, trained, ...(ownContext as Record<string, Json>) },
    tasks: { name: source, ...(tasks as Record<string, Json>) },
    turns: { name: control, ...(turns as Record<string, Json>) },
    curation: Object.fromEntries(curations) as TrainConfig['curation'],
    objective: { ...config.objective, options: objectiveOptions(parts.recipe, config, catalogue) },
    credit: {
      method,
      rewardScale,
      shape: Object.fromEntries(shapes) as TrainConfig['credit']['shape'],
      ...(creditOptions as Record<string, Json>),
    },
  };
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
