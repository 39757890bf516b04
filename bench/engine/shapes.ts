/** The models that the engine is measured on, and the same in the words of pytorch.py. */

import type { DecoderShape } from '../../src/model/decoder/decoder.ts';

const common = { ropeTheta: 10_000, normEpsilon: 1e-6 } as const;

/** 3.4 million parameters. */
export const small: DecoderShape = {
  ...common,
  vocabulary: 512,
  width: 256,
  layers: 4,
  heads: 4,
  keyValueHeads: 4,
  headWidth: 64,
  hidden: 1024,
  activation: 'gelu',
  tiedHead: true,
  contextLength: 512,
};

/** 29 million parameters. */
export const medium: DecoderShape = {
  ...common,
  vocabulary: 4096,
  width: 512,
  layers: 8,
  heads: 8,
  keyValueHeads: 8,
  headWidth: 64,
  hidden: 2048,
  activation: 'gelu',
  tiedHead: false,
  contextLength: 512,
};

/** The shape of SmolLM2-135M. */
export const smol: DecoderShape = {
  ...common,
  vocabulary: 49_152,
  width: 576,
  layers: 30,
  heads: 9,
  keyValueHeads: 3,
  headWidth: 64,
  hidden: 1536,
  activation: 'swiglu',
  tiedHead: true,
  ropeTheta: 100_000,
  contextLength: 1024,
};

/** The shape of Qwen3-0.6B. */
export const large: DecoderShape = {
  ...common,
  vocabulary: 151_936,
  width: 1024,
  layers: 28,
  heads: 16,
  keyValueHeads: 8,
  headWidth: 128,
  hidden: 3072,
  activation: 'swiglu',
  tiedHead: true,
  queryKeyNorm: true,
  ropeTheta: 1_000_000,
  contextLength: 512,
};

/** SmolLM2-135M with the norms of Qwen3, so that one form of checkpoint serves all sizes. */
export const smolCheckpoint: DecoderShape = { ...smol, queryKeyNorm: true };

/** The sizes of Qwen2.5-1.5B, with the norms of Qwen3 in place of its biases. */
export const larger: DecoderShape = {
  ...large,
  width: 1536,
  layers: 28,
  heads: 12,
  keyValueHeads: 2,
  hidden: 8960,
};

/** The size of model that the demonstrations train: 0.6 million parameters. */
export const demo: DecoderShape = {
  ...common,
  vocabulary: 64,
  width: 128,
  layers: 3,
  heads: 4,
  keyValueHeads: 4,
  headWidth: 32,
  hidden: 352,
  activation: 'swiglu',
  tiedHead: false,
  contextLength: 128,
};
