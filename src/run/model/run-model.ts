/** The model of a run, small or pretrained, and the engine that holds it. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Group } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { createEmbeddedEngine, EmbeddedEngine } from '../../engine/embedded/embedded-engine.ts';
import type { Engine } from '../../engine/engine.ts';
import { createTinkerEngine } from '../../engine/tinker/create-tinker-engine.ts';
import type { TinkerEngine } from '../../engine/tinker/tinker-engine.ts';
import type { World } from '../../env/world.ts';
import { isFile, type ModelCheckpoint, openCheckpoint } from '../../model/checkpoint/checkpoint.ts';
import { modelDigest } from '../../model/checkpoint/model-digest.ts';
import { readModelJson } from '../../model/checkpoint/model-files.ts';
import { elementCount } from '../../model/checkpoint/safetensors-header.ts';
import { type DecoderShape, type ParameterShape, parameterShapes } from '../../model/decoder/decoder.ts';
import { adapterShapes, type LoraOptions, resolveLora } from '../../model/decoder/lora.ts';
import { type DownloadProgress, findModel } from '../../model/hub/find-model.ts';
import { loadPretrainedLanguage } from '../../model/tokenizer/pretrained-language.ts';
import { taskInstructions } from '../../synth/task-instructions.ts';
import type { Catalogue } from '../../train/config/catalogue.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import { criticShape, designModel, headsOf } from '../../train/design/design-model.ts';
import { type BaseModel, isLocal, type ModelCard, type RemoteShape } from '../../train/model-card.ts';
import type { Recipe } from '../../train/recipes/recipe.ts';
import { tinkerKey } from './tinker-key.ts';

export interface ModelSearch {
  readonly signal: AbortSignal;
  /** A model is being downloaded. */
  readonly onDownload?: (model: string, progress: DownloadProgress) => void;
}

/** A pretrained model, found and checked; its weights are read by the engine, or are on a server. */
export interface OpenBase {
  readonly base: BaseModel;
  readonly shape: DecoderShape | RemoteShape;
  readonly checkpoint?: ModelCheckpoint;
}

/** Longest conversation with a model on a server, where neither the person nor the server says less. */
const remoteContextLength = 4096;

/**
 * The pretrained model that the configuration names; undefined where it names none. Everything that can be wrong with its
 * files, short of the values of weights, is found here.
 */
export async function openBase(config: TrainConfig, search: ModelSearch): Promise<OpenBase | undefined> {
  const reference = config.model.pretrained;
  if (reference === '') return undefined;
  const isRemote = config.engine === 'tinker';
  const folder = await findPretrained(reference, search, { weights: !isRemote });
  const { contextLength } = config.chat;
  const { shape, checkpoint } = isRemote
    ? { shape: await remoteShape(folder, contextLength), checkpoint: undefined }
    : await localModel(folder, contextLength);
  await loadPretrainedLanguage(folder, shape.vocabulary);
  const digest = await modelDigest(folder, { weights: !isRemote });
  return { base: { reference, folder, digest }, shape, ...(checkpoint && { checkpoint }) };
}

async function localModel(folder: string, contextLength: number): Promise<Required<Omit<OpenBase, 'base'>>> {
  const checkpoint = await openCheckpoint(folder, contextLength === 0 ? {} : { contextLength });
  return { shape: checkpoint.shape, checkpoint };
}

/** A server may hold models of families that are not known here: only their number of tokens is asked for. */
async function remoteShape(folder: string, contextLength: number): Promise<RemoteShape> {
  if (isFile(folder)) {
    const { shape } = await openCheckpoint(folder);
    return { vocabulary: shape.vocabulary, contextLength: contextLength || remoteContextLength };
  }
  const config = await readModelJson(folder, 'config.json');
  const text = config?.text_config as { vocab_size?: unknown } | undefined;
  const vocabulary = config?.vocab_size ?? text?.vocab_size;
  if (typeof vocabulary === 'number')
    return { vocabulary, contextLength: contextLength || remoteContextLength };
  throw new TurnwiseError('model-invalid', {
    what: `config.json of ${folder} does not say how many tokens the model has`,
    seen: JSON.stringify(vocabulary) ?? 'nothing',
    allowed: 'a number as vocab_size',
    next: 'Use the config.json that belongs to the model on the server',
    fields: { file: 'config.json', key: 'vocab_size' },
  });
}

/**
 * The pretrained model that a checkpoint was trained from, wherever it is now.
 *
 * @throws TurnwiseError `base-model-changed`
 */
export async function reopenBase(card: ModelCard, search: ModelSearch): Promise<OpenBase | undefined> {
  if ('words' in card) return undefined;
  const { reference, folder: before, digest } = card.base;
  const weights = isLocal(card.shape);
  const folder = existsSync(before) ? before : await findPretrained(reference, search, { weights });
  const seen = await modelDigest(folder, { weights });
  if (seen !== digest) {
    throw new TurnwiseError('base-model-changed', {
      what: `The files of the model ${folder} are not those that this run started from`,
      seen: `digest ${seen.slice(0, 16)}`,
      allowed: digest.slice(0, 16),
      next: 'Restore them, or start a new run from the present model',
      fields: { folder },
    });
  }
  const base = { reference, folder, digest };
  if (!weights) return { base, shape: card.shape };
  return { base, ...(await localModel(folder, card.shape.contextLength)) };
}

/** The folder or GGUF file of a pretrained model, downloaded where it has to be. */
export function findPretrained(
  reference: string,
  { signal, onDownload }: ModelSearch,
  { weights = true }: { readonly weights?: boolean } = {},
): Promise<string> {
  return findModel(reference, {
    environment: process.env,
    signal,
    weights,
    ...(onDownload && { onProgress: (progress) => onDownload(reference, progress) }),
  });
}

/** What every checkpoint of the run says of its model. */
export function designCard(
  world: World,
  { shown, ofStages }: { readonly shown: readonly Group[]; readonly ofStages: readonly Group[] },
  config: TrainConfig,
  recipe: Recipe,
  open: OpenBase | undefined,
  catalogue: Catalogue,
): ModelCard {
  if (open === undefined) return designModel([...shown, ...ofStages], config, recipe, world, catalogue);
  return {
    shape: { ...open.shape, ...headsOf(recipe, config) },
    base: open.base,
    // An agent's own messages say what to do.
    system: world.agent ? '' : config.chat.system || taskInstructions(world, shown),
  };
}

export interface EngineWatch {
  /** A server lets us wait, and why. */
  readonly onWait: (reason: string) => void;
}

/** An engine that is open, and the pretrained model that it holds: another adapter may share its frozen weights. */
export interface HeldBase {
  readonly engine: Engine;
  readonly open: OpenBase | undefined;
}

/** @param held by another engine: its weights are shared where both train adapters over the same model */
export function openEngine(
  { shape }: ModelCard,
  config: TrainConfig,
  open: OpenBase | undefined,
  watch?: EngineWatch,
  held?: HeldBase,
): Promise<EmbeddedEngine | TinkerEngine> {
  // Words are few; what else the model of the server may say has no meaning, but is nothing wrong.
  if (!isLocal(shape))
    return openTinker(open ? shape : { contextLength: shape.contextLength }, config, watch);
  return openEmbedded(shape, config, open, held);
}

function openEmbedded(
  shape: DecoderShape,
  config: TrainConfig,
  open: OpenBase | undefined,
  held: HeldBase | undefined,
): Promise<EmbeddedEngine> {
  // A conversation that loses its row between two turns is read again from its beginning.
  const slots = config.rollout.concurrency;
  const { seed, threads } = config;
  const common = { seed, threads, tokenBudget: config.optimizer.tokenBudget, slots };
  if (open?.checkpoint === undefined) return createEmbeddedEngine({ ...common, shape });
  const { contextLength, valueHead, extraHeads, guidance } = shape;
  const lora = loraOf(config);
  const own = {
    ...(valueHead && { valueHead }),
    ...(extraHeads && { extraHeads }),
    ...(guidance && { guidance }),
    ...(lora && { lora }),
  };
  const shared = held?.open?.base.digest === open.base.digest ? held.engine : undefined;
  if (lora && shared instanceof EmbeddedEngine && shared.lora)
    return shared.attach({ seed, contextLength, slots, ...own });
  const model = { ...open.checkpoint, shape: { ...open.checkpoint.shape, contextLength } };
  return createEmbeddedEngine({ ...common, model, ...own });
}

function openTinker(
  shape: Partial<RemoteShape>,
  config: TrainConfig,
  watch?: EngineWatch,
): Promise<TinkerEngine> {
  const { baseUrl, baseModel, lossScale, protobuf } = config.tinker;
  const apiKey = tinkerKey();
  return createTinkerEngine({
    ...shape,
    baseUrl,
    baseModel,
    loraRank: config.lora.rank,
    seed: config.seed,
    protobuf,
    concurrency: config.rollout.concurrency,
    ...(lossScale !== 'auto' && { lossScale }),
    ...(apiKey !== undefined && { apiKey }),
    ...watch,
  });
}

/** The critic's own model, where the recipe has one: as large as the policy's, with other first weights. */
export async function openCritic(
  card: ModelCard,
  config: TrainConfig,
  recipe: Recipe,
  open: OpenBase | undefined,
  held?: HeldBase,
): Promise<EmbeddedEngine | undefined> {
  const shape = isLocal(card.shape) ? criticShape(recipe, card.shape) : undefined;
  return shape && openEmbedded(shape, { ...config, seed: config.seed + 1_000_003 }, open, held);
}

/** The adapter that the configuration asks for; undefined where all weights are trained. */
export function loraOf({ lora: { rank, alpha, targets } }: TrainConfig): LoraOptions | undefined {
  return rank === 0 ? undefined : { rank, targets, ...(alpha > 0 && { alpha }) };
}

/** Short enough for a message: equal for equal models, wherever their files are. */
export function identityOf(card: ModelCard): string {
  const lasting = 'words' in card ? card : { ...card, base: card.base.digest };
  return createHash('sha256').update(JSON.stringify(lasting)).digest('hex').slice(0, 16);
}

/** Weights of the model, and those of its adapter, which alone are trained; nothing is known of a model on a server. */
export function countParameters(
  { shape }: ModelCard,
  config: TrainConfig,
): { readonly parameters?: number; readonly adapter?: number } {
  if (!isLocal(shape)) return {};
  const count = (list: readonly ParameterShape[]): number =>
    list.reduce((sum, parameter) => sum + elementCount(parameter.shape), 0);
  const parameters = count(parameterShapes(shape));
  const lora = loraOf(config);
  return lora
    ? { parameters, adapter: count(adapterShapes(shape, resolveLora(shape, lora))) }
    : { parameters };
}
