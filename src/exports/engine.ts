/** What holds weights: the contract, and the engine that needs nothing but this process. @module */

export { createEmbeddedEngine, type EmbeddedEngineOptions } from '../engine/embedded/embedded-engine.ts';
export type * from '../engine/engine.ts';
export { type ModelCheckpoint, openCheckpoint } from '../model/checkpoint-folder.ts';
export type { DecoderShape, RopeScaling, ValueBins } from '../model/decoder.ts';
