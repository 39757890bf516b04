/** The layer of settings that a pretrained model or a server brings, where a person names one. */

import { TurnwiseError } from '../../core/errors.ts';
import type { TrainSettings } from './config.ts';
import { mergeSettings } from './merge.ts';

type Plain = { readonly [key: string]: unknown };

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
  optimizer: { learningRate: 1e-4, tokenBudget: 1024 },
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
export function recordedFirst({ data = '', lora }: TrainSettings): Plain | undefined {
  if (data === '' || data === 'demonstrations') return undefined;
  return { clone: { steps: 40, untilValid: 0, batch: 16, learningRate: lora?.rank === 0 ? 1e-5 : 2e-4 } };
}

/** `owner/name`: models on servers are called by what they are called on the hub. */
const HUB_NAME = /^[\w-][\w.-]*\/[\w.-]+$/;

/** What a small model is made of; a pretrained one has it in its own files. */
const SMALL_MODEL_KEYS = ['width', 'layers', 'heads', 'hidden'] as const;

/** The layer of settings that a pretrained model brings, where the person names one. */
export function pretrainedSettings(settings: TrainSettings): TrainSettings | undefined {
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
function serverSettings({ model, tinker, chat, lora, rollout, evaluation }: TrainSettings): TrainSettings {
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
  if (evaluation?.constrained)
    throw invalid(
      'evaluation.constrained',
      'The Tinker API cannot hold completions to a schema',
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
