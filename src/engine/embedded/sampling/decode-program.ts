/** The session that samples, and the weights that are fed to it at every call. */

import { type Feed, type LoadedGraph, loadGraph } from '../../../graph/node/loaded-graph.ts';
import { toOnnx, withInitializers } from '../../../graph/onnx.ts';
import type { Weights } from '../../../model/checkpoint/safetensors.ts';
import { decodeGraph, decodeWeights, sampledWeights } from '../../../model/decoder/decode.ts';
import type { DecoderShape } from '../../../model/decoder/decoder.ts';
import type { LoraShape } from '../../../model/decoder/lora.ts';
import type { BaseModel } from '../weights/base-model.ts';

export interface DecodeSource {
  readonly shape: DecoderShape;
  readonly base: BaseModel;
  readonly lora?: LoraShape | undefined;
  readonly threads: number;
}

export interface DecodeProgram {
  readonly session: LoadedGraph;
  /** Weights that are not written into the session. */
  readonly feeds: Readonly<Record<string, Feed>>;
  /** The model without its weights, where they are written anew at every publish. */
  readonly model?: Uint8Array | undefined;
  close(): Promise<void>;
}

/**
 * Weights of more bytes than this are fed rather than written into a session: a model file cannot hold more than 2 GiB,
 * and a session keeps a second copy, in the order that its kernels like.
 */
export const writtenBytesLimit: number = 2 ** 30;

/**
 * Without an adapter the trained weights are written into the graph, so that onnxruntime lays them out for its kernels
 * once; as inputs they would make publishing free, and every call of few tokens 1.3 to 1.5 times slower. Under LoRA that
 * is done with the base, whose session all adapters of one shape share, and only the adapter is fed. `known` is the model
 * of an earlier program of the same source.
 */
export async function createDecodeProgram(
  source: DecodeSource,
  trained: Weights,
  known?: Uint8Array,
): Promise<DecodeProgram> {
  const { shape, base, lora, threads } = source;
  if (lora === undefined) {
    const weights = decodeWeights(shape, sampledWeights(shape, trained));
    const isWritten = bytesOf(weights) <= writtenBytesLimit;
    const model = known ?? modelBytes(shape, undefined, isWritten ? weights : undefined);
    const session = await loadGraph(isWritten ? withInitializers(model, weights) : model, { threads });
    return { session, feeds: isWritten ? {} : copies(weights), model, close: () => session.close() };
  }
  const isWritten = bytesOf(base.weights) <= writtenBytesLimit;
  const session = await base.session(`decode ${keyOf(shape, lora)}`, () => {
    if (!isWritten) return modelBytes(shape, lora, undefined);
    const weights = decodeWeights(shape, base.weights);
    return withInitializers(modelBytes(shape, lora, weights), weights);
  });
  const frozen = isWritten ? {} : Object.fromEntries(decodeWeights(shape, base.weights));
  const program = { session, feeds: frozen, close: async () => undefined };
  return withAdapter(source, program, trained);
}

/** The program with other trained weights; the one before must not be used any more. */
export async function setDecodeWeights(
  source: DecodeSource,
  program: DecodeProgram,
  trained: Weights,
): Promise<DecodeProgram> {
  if (source.lora !== undefined) return withAdapter(source, program, trained);
  const next = await createDecodeProgram(source, trained, program.model);
  await program.close();
  return next;
}

function withAdapter({ shape }: DecodeSource, program: DecodeProgram, trained: Weights): DecodeProgram {
  const adapter = copies(decodeWeights(shape, sampledWeights(shape, trained)));
  return { ...program, feeds: { ...program.feeds, ...adapter } };
}

/** What sets sessions over the same base apart. */
function keyOf({ contextLength, guidance, extraHeads }: DecoderShape, lora: LoraShape): string {
  return JSON.stringify([lora, contextLength, guidance && [guidance, extraHeads]]);
}

/** The model that lacks the values of what is to be written. */
function modelBytes(
  shape: DecoderShape,
  lora: LoraShape | undefined,
  written: Weights | undefined,
): Uint8Array {
  return toOnnx(decodeGraph(shape, lora), { initializers: new Set(written?.keys()) });
}

/** What is trained changes in place, and a policy that has been published must not. */
function copies(weights: Weights): Record<string, Feed> {
  return Object.fromEntries(
    [...weights].map(([name, { shape, data }]) => [name, { shape, data: data.slice() }]),
  );
}

function bytesOf(weights: Weights): number {
  return [...weights.values()].reduce((total, { data }) => total + data.byteLength, 0);
}
