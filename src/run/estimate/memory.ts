/** How much memory a run needs, from shapes alone: weights, optimizer, and what a pass keeps for its gradients. */

import { TurnwiseError } from '../../core/errors.ts';
import { writtenBytesLimit } from '../../engine/embedded/sampling/decode-program.ts';
import { elementCount } from '../../model/checkpoint/safetensors-header.ts';
import { type DecoderShape, type ParameterShape, parameterShapes } from '../../model/decoder/decoder.ts';
import { adapterShapes, type LoraOptions, resolveLora } from '../../model/decoder/lora.ts';
import type { TrainConfig } from '../../train/config/config.ts';

/** In bytes. */
export interface MemoryEstimate {
  readonly weights: number;
  /** Gradients and both moments of the weights that are trained. */
  readonly optimizer: number;
  /** What a micro-batch of `optimizer.tokenBudget` tokens keeps. */
  readonly activations: number;
  /** Keys and values of the conversations under way. */
  readonly cache: number;
  /** All of them, and the program itself. */
  readonly total: number;
}

const FLOAT = 4;
/**
 * Copies of the weights. A small base is read, written into the session that samples, and laid out there once more; a large one
 * is fed from where it was read. Weights that are trained are also those that were published.
 */
function copies(bytes: number, isAdapted: boolean): number {
  if (bytes <= writtenBytesLimit) return 3;
  return isAdapted ? 1.1 : 2;
}
/** Node.js and the runtime with nothing loaded. */
const PROGRAM = 250e6;

/** @param longest tokens of the longest sequence */
export function memoryOf(
  shape: DecoderShape,
  config: Pick<TrainConfig, 'optimizer' | 'rollout' | 'objective'>,
  lora: LoraOptions | undefined,
  longest: number,
): MemoryEstimate {
  const all = count(parameterShapes(shape));
  const trained = lora ? count(adapterShapes(shape, resolveLora(shape, lora))) : all;
  const { layers, width, hidden, heads, keyValueHeads, headWidth, vocabulary } = shape;
  const tokens = Math.max(config.optimizer.tokenBudget, longest);
  // Inputs of the products, the two halves of the feed-forward layer, and attention weights: rows that begin alike are one
  // tree, so that every token of a micro-batch may have a weight for every other.
  const perToken = layers * (6 * width + 4 * hidden + 2 * heads * tokens);
  // Logits and their gradients, of the tokens that are trained: an eighth is more than answers behind prompts have.
  const logits = 3 * vocabulary * Math.ceil(tokens / 8);
  const reference = config.objective.klCoefficient > 0 ? trained : 0;
  const parts = {
    weights: FLOAT * (copies(FLOAT * all, lora !== undefined) * all + reference),
    optimizer: FLOAT * 3 * trained,
    activations: FLOAT * (perToken * tokens + logits),
    cache: FLOAT * 2 * layers * keyValueHeads * headWidth * longest * config.rollout.concurrency,
  };
  const total = PROGRAM + parts.weights + parts.optimizer + parts.activations + parts.cache;
  return { ...parts, total };
}

const count = (shapes: readonly ParameterShape[]): number =>
  shapes.reduce((sum, { shape }) => sum + elementCount(shape), 0);

/** Bytes that this process may still take, also within a container. */
export function freeMemory(): number {
  return process.availableMemory();
}

/**
 * Refuse a model whose weights alone do not fit.
 *
 * @throws TurnwiseError `memory-insufficient`
 */
export function requireMemory({ weights }: MemoryEstimate, free: number, reference: string): void {
  if (weights + PROGRAM <= free) return;
  throw new TurnwiseError('memory-insufficient', {
    what: `The model ${reference} does not fit into memory`,
    seen: `${gigabytes(free)} free`,
    allowed: `${gigabytes(weights + PROGRAM)} for its weights alone, which are held in 32 bits`,
    next: 'Take a smaller model, close other programs, or train on a server with --engine tinker',
    fields: { model: reference },
  });
}

/** Which settings to lower where a run needs more than is free; undefined where it fits. */
export function memoryWarning(memory: MemoryEstimate, free: number, config: TrainConfig): string | undefined {
  if (memory.total <= free) return undefined;
  const { tokenBudget } = config.optimizer;
  const { concurrency } = config.rollout;
  const lower =
    memory.activations >= memory.cache
      ? `--set optimizer.tokenBudget=${Math.max(128, tokenBudget >> 2)}`
      : `--set rollout.concurrency=${Math.max(1, concurrency >> 2)}`;
  return `this run needs about ${gigabytes(memory.total)} of memory, and ${gigabytes(free)} are free: it may be stopped by the system. Lower it with ${lower}`;
}

export const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(bytes < 10e9 ? 1 : 0)} GB`;
