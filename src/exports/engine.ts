/** What holds weights: the contract, the engine that needs nothing but this process, and the one on a server. @module */

export type { AllowedIds } from '../core/choices.ts';
export {
  type AdapterOptions,
  type AttachOptions,
  createEmbeddedEngine,
  type EmbeddedEngine,
  type EmbeddedEngineOptions,
} from '../engine/embedded/embedded-engine.ts';
export type * from '../engine/engine.ts';
export { createTinkerEngine } from '../engine/tinker/create-tinker-engine.ts';
export type { LossScale } from '../engine/tinker/loss-scale.ts';
export type { TinkerEngine, TinkerEngineOptions } from '../engine/tinker/tinker-engine.ts';
export { batchOf, scoredRows, type TokenRow } from '../engine/token-batch.ts';
export { type ChatRenderer, type ChatRendererOptions, chatRenderer } from '../model/chat/chat-renderer.ts';
export { idsOfPrompt, type Prompt, promptAfter, type TokenPath } from '../model/chat/token-path.ts';
export { type ModelCheckpoint, openCheckpoint } from '../model/checkpoint/checkpoint.ts';
export type { Weight, Weights } from '../model/checkpoint/safetensors.ts';
export type { DecoderShape, RopeScaling, ValueBins } from '../model/decoder/decoder.ts';
export type { LoraOptions, LoraShape } from '../model/decoder/lora.ts';
export { type DownloadProgress, type FindOptions, findModel } from '../model/hub/find-model.ts';
export { loadPretrainedLanguage } from '../model/tokenizer/pretrained-language.ts';
