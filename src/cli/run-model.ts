/** The model of a run, small or pretrained, and the engine that holds it. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { TurnwiseError } from '../core/errors.ts';
import type { Trajectory } from '../core/trajectory.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../engine/embedded/embedded-engine.ts';
import type { World } from '../env/world.ts';
import { type ModelCheckpoint, openCheckpoint } from '../model/checkpoint-folder.ts';
import { type ParameterShape, parameterShapes } from '../model/decoder.ts';
import { type DownloadProgress, findModel } from '../model/hub/find-model.ts';
import { adapterShapes, type LoraOptions, resolveLora } from '../model/lora.ts';
import { modelDigest } from '../model/model-digest.ts';
import { loadPretrainedLanguage } from '../model/pretrained-language.ts';
import { elementCount } from '../model/safetensors.ts';
import { taskInstructions } from '../synth/task-instructions.ts';
import type { TrainConfig } from '../train/config.ts';
import { designModel } from '../train/learner.ts';
import type { BaseModel, ModelCard } from '../train/model-card.ts';
import type { Recipe } from '../train/recipes/recipe.ts';

export interface ModelSearch {
  readonly signal: AbortSignal;
  /** A model is being downloaded. */
  readonly onDownload?: (model: string, progress: DownloadProgress) => void;
}

/** A pretrained model, found and checked; its weights are read by the engine. */
export interface OpenBase {
  readonly base: BaseModel;
  readonly checkpoint: ModelCheckpoint;
}

/**
 * The pretrained model that the configuration names; undefined where it names none. Everything that can be wrong with its
 * files, short of the values of weights, is found here.
 */
export async function openBase(config: TrainConfig, search: ModelSearch): Promise<OpenBase | undefined> {
  const reference = config.model.pretrained;
  if (reference === '') return undefined;
  const folder = await findFolder(reference, search);
  const { contextLength } = config.chat;
  const checkpoint = await openCheckpoint(folder, contextLength === 0 ? {} : { contextLength });
  await loadPretrainedLanguage(folder, checkpoint.shape.vocabulary);
  return { base: { reference, folder, digest: await modelDigest(folder) }, checkpoint };
}

/**
 * The pretrained model that a checkpoint was trained from, wherever it is now.
 *
 * @throws TurnwiseError `base-model-changed`
 */
export async function reopenBase(card: ModelCard, search: ModelSearch): Promise<OpenBase | undefined> {
  if ('words' in card) return undefined;
  const { reference, folder: before, digest } = card.base;
  const folder = existsSync(before) ? before : await findFolder(reference, search);
  const seen = await modelDigest(folder);
  if (seen !== digest) {
    throw new TurnwiseError('base-model-changed', {
      what: `The files of the model ${folder} are not those that this run started from`,
      seen: `digest ${seen.slice(0, 16)}`,
      allowed: digest.slice(0, 16),
      next: 'Restore them, or start a new run from the model as it is now',
      fields: { folder },
    });
  }
  const { contextLength } = card.shape;
  return { base: { reference, folder, digest }, checkpoint: await openCheckpoint(folder, { contextLength }) };
}

function findFolder(reference: string, { signal, onDownload }: ModelSearch): Promise<string> {
  return findModel(reference, {
    environment: process.env,
    signal,
    ...(onDownload && { onProgress: (progress) => onDownload(reference, progress) }),
  });
}

/** What every checkpoint of the run says of its model. */
export function designCard(
  world: World,
  demonstrations: readonly Trajectory[],
  config: TrainConfig,
  recipe: Recipe,
  open: OpenBase | undefined,
): ModelCard {
  if (open === undefined) return designModel(demonstrations, config, recipe, world);
  return {
    shape: { ...open.checkpoint.shape, ...(recipe.critic ? { valueHead: true } : {}) },
    base: open.base,
    // An agent's own messages say what to do.
    system: world.agent ? '' : config.chat.system || taskInstructions(world, demonstrations),
  };
}

export function openEngine(
  card: ModelCard,
  config: TrainConfig,
  open: OpenBase | undefined,
): Promise<EmbeddedEngine> {
  const common = { seed: config.seed, threads: config.threads, tokenBudget: config.optimizer.tokenBudget };
  if (open === undefined) {
    return createEmbeddedEngine({ ...common, shape: card.shape, slots: config.rollout.concurrency });
  }
  const { valueHead } = card.shape;
  const lora = loraOf(config);
  return createEmbeddedEngine({
    ...common,
    model: open.checkpoint,
    ...(valueHead && { valueHead }),
    ...(lora && { lora }),
  });
}

/** The adapter that the configuration asks for; undefined where all weights are trained. */
function loraOf({ lora: { rank, alpha, targets } }: TrainConfig): LoraOptions | undefined {
  return rank === 0 ? undefined : { rank, targets, ...(alpha > 0 && { alpha }) };
}

/** Short enough for a message: equal for equal models, wherever their files are. */
export function identityOf(card: ModelCard): string {
  const lasting = 'words' in card ? card : { ...card, base: card.base.digest };
  return createHash('sha256').update(JSON.stringify(lasting)).digest('hex').slice(0, 16);
}

/** Weights of the model, and those of its adapter, which alone are trained. */
export function countParameters(
  { shape }: ModelCard,
  config: TrainConfig,
): { readonly parameters: number; readonly adapter?: number } {
  const count = (list: readonly ParameterShape[]): number =>
    list.reduce((sum, parameter) => sum + elementCount(parameter.shape), 0);
  const parameters = count(parameterShapes(shape));
  const lora = loraOf(config);
  return lora
    ? { parameters, adapter: count(adapterShapes(shape, resolveLora(shape, lora))) }
    : { parameters };
}
