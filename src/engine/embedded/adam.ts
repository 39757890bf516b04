/** AdamW in place (arXiv 1412.6980, 1711.05101), four weights at a time, with clipping of the global gradient norm. */

import { TurnwiseError } from '../../core/errors.ts';
import type { Weights } from '../../model/safetensors.ts';
import type { AdamOptions, OptimStepResult } from '../engine.ts';
import { adamKernel } from './adam-kernel.ts';

/** Moments of every parameter, and the number of steps applied, which the bias correction needs. */
export interface AdamState {
  readonly step: number;
  readonly first: ReadonlyMap<string, Float32Array>;
  readonly second: ReadonlyMap<string, Float32Array>;
}

/** Floats of a piece of gradient and weights that is copied in front of the kernel: both fit in a second-level cache. */
const pieceLength = 16_384;
const pageBytes = 65_536;
/** What a WebAssembly memory can address. */
const largestBytes = 65_535 * pageBytes;

/** The part used here: the type library of Node lacks it. */
declare const WebAssembly: {
  readonly Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer };
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: { readonly step: Kernel } };
};

type Kernel = (
  first: number,
  second: number,
  gradient: number,
  weight: number,
  count: number,
  beta1: number,
  beta2: number,
  scale: number,
  keep: number,
  stepSize: number,
  secondCorrection: number,
  epsilon: number,
) => void;

/**
 * The optimizer of one set of weights. The moments live in the kernel's memory; gradients and weights, which belong to
 * others, pass through it in pieces.
 * @throws TurnwiseError `model-too-large` above 536 million trained weights, which is what the kernel can address.
 */
export class Adam implements AdamState {
  readonly first = new Map<string, Float32Array>();
  readonly second = new Map<string, Float32Array>();
  readonly #gradientPiece: Float32Array;
  readonly #weightPiece: Float32Array;
  readonly #kernel: Kernel;
  #step = 0;

  constructor(weights: Weights) {
    const padded = (length: number): number => Math.ceil(length / 4) * 4;
    let floats = 2 * pieceLength;
    for (const { data } of weights.values()) floats += 2 * padded(data.length);
    if (floats * 4 > largestBytes) throw tooLarge(floats / 2);
    const memory = new WebAssembly.Memory({ initial: Math.ceil((floats * 4) / pageBytes) });
    const instance = new WebAssembly.Instance(new WebAssembly.Module(adamKernel), { host: { memory } });
    this.#kernel = instance.exports.step;
    let offset = 0;
    const place = (length: number): Float32Array => {
      const view = new Float32Array(memory.buffer, offset * 4, length);
      offset += padded(length);
      return view;
    };
    this.#gradientPiece = place(pieceLength);
    this.#weightPiece = place(pieceLength);
    for (const [name, { data }] of weights) {
      this.first.set(name, place(data.length));
      this.second.set(name, place(data.length));
    }
  }

  /** Steps applied so far. */
  get step(): number {
    return this.#step;
  }

  /** Back to the state of a new optimizer. */
  reset(): void {
    for (const moment of [...this.first.values(), ...this.second.values()]) moment.fill(0);
    this.#step = 0;
  }

  /** Goes on from the state of another optimizer of the same weights. */
  restore({ step, first, second }: AdamState): void {
    this.#step = step;
    for (const [name, moment] of this.first) moment.set(first.get(name)!);
    for (const [name, moment] of this.second) moment.set(second.get(name)!);
  }

  /**
   * One step on `gradients`, written into `weights`. A gradient that is not finite changes nothing. Weight decay is
   * decoupled and touches matrices only, unless `decayAll`. The arithmetic is that of 32-bit floats.
   */
  apply(
    weights: Weights,
    gradients: ReadonlyMap<string, Float32Array>,
    { learningRate, beta1, beta2, epsilon, weightDecay, decayAll, clipNorm }: AdamOptions,
  ): OptimStepResult {
    let squares = 0;
    for (const gradient of gradients.values()) squares += sumOfSquares(gradient);
    const gradientNorm = Math.sqrt(squares);
    if (!Number.isFinite(gradientNorm)) return { gradientNorm, applied: false };

    const scale = clipNorm > 0 && gradientNorm > clipNorm ? clipNorm / gradientNorm : 1;
    this.#step++;
    const stepSize = learningRate / (1 - beta1 ** this.#step);
    const secondCorrection = 1 / (1 - beta2 ** this.#step);
    for (const [name, { shape, data }] of weights) {
      const gradient = gradients.get(name)!;
      const first = this.first.get(name)!;
      const second = this.second.get(name)!;
      const keep = shape.length >= 2 || decayAll ? 1 - learningRate * weightDecay : 1;
      for (let start = 0; start < data.length; start += pieceLength) {
        const count = Math.min(pieceLength, data.length - start);
        this.#gradientPiece.set(gradient.subarray(start, start + count));
        this.#weightPiece.set(data.subarray(start, start + count));
        this.#kernel(
          first.byteOffset + start * 4,
          second.byteOffset + start * 4,
          this.#gradientPiece.byteOffset,
          this.#weightPiece.byteOffset,
          count,
          beta1,
          beta2,
          scale,
          keep,
          stepSize,
          secondCorrection,
          epsilon,
        );
        data.set(this.#weightPiece.subarray(0, count), start);
      }
    }
    return { gradientNorm, applied: true };
  }
}

/** In four sums side by side, since each addition of a single sum would wait for the one before. */
function sumOfSquares(values: Float32Array): number {
  const whole = values.length - (values.length % 4);
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < whole; i += 4) {
    a += values[i]! * values[i]!;
    b += values[i + 1]! * values[i + 1]!;
    c += values[i + 2]! * values[i + 2]!;
    d += values[i + 3]! * values[i + 3]!;
  }
  for (let i = whole; i < values.length; i++) a += values[i]! * values[i]!;
  return a + b + c + d;
}

function tooLarge(weights: number): TurnwiseError {
  return new TurnwiseError('model-too-large', {
    what: 'The model has too many trained weights for the embedded optimizer',
    seen: `${Math.round(weights / 1e6)} million`,
    allowed: `at most ${Math.floor(largestBytes / 8e6)} million`,
    next: 'Train adapters (lora), or use another engine',
  });
}
