/** What holds weights: the contract, and the engine that needs nothing but this process. @module */

export { createEmbeddedEngine, type EmbeddedEngineOptions } from '../engine/embedded/embedded-engine.ts';
export type * from '../engine/engine.ts';
export type { DecoderShape } from '../model/decoder.ts';
