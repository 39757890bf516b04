/** AdamW in place (arXiv 1412.6980, 1711.05101), four weights at a time, with clipping of the global gradient norm. */

import { TurnwiseError } from '../../../core/errors.ts';
import type { Weights } from '../../../model/checkpoint/safetensors.ts';
import type { AdamOptions } from '../../engine.ts';
import { adamKernel } from './adam-kernel.ts';

/** Moments of every parameter, and the number of steps applied to it, which the bias correction needs. */
export interface AdamState {
  readonly steps: ReadonlyMap<string, number>;
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
  readonly Instance: new (module: object, imports: object) => { readonly exports: Kernel };
};

/** Addresses are in bytes, counts in floats. See adam-kernel.wat. */
interface Kernel {
  add(sum: number, values: number, count: number): void;
  addSquares(sums: number, values: number, count: number): void;
  step(
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
  ): void;
}

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
  readonly #squares: Float64Array;
  readonly #kernel: Kernel;
  readonly #steps = new Map<string, number>();

  constructor(weights: Weights) {
    const padded = (length: number): number => Math.ceil(length / 4) * 4;
    let floats = 2 * pieceLength + 8;
    for (const { data } of weights.values()) floats += 2 * padded(data.length);
    if (floats * 4 > largestBytes) throw tooLarge(floats / 2);
    const memory = new WebAssembly.Memory({ initial: Math.ceil((floats * 4) / pageBytes) });
    const instance = new WebAssembly.Instance(new WebAssembly.Module(adamKernel), { host: { memory } });
    this.#kernel = instance.exports;
    let offset = 0;
    const place = (length: number): Float32Array => {
      const view = new Float32Array(memory.buffer, offset * 4, length);
      offset += padded(length);
      return view;
    };
    this.#gradientPiece = place(pieceLength);
    this.#weightPiece = place(pieceLength);
    this.#squares = new Float64Array(memory.buffer, place(8).byteOffset, 4);
    for (const [name, { data }] of weights) {
      this.first.set(name, place(data.length));
      this.second.set(name, place(data.length));
      this.#steps.set(name, 0);
    }
  }

  /** Steps applied so far, by parameter: groups may have moved alone. */
  get steps(): ReadonlyMap<string, number> {
    return this.#steps;
  }

  /** Back to the state of a new optimizer. */
  reset(): void {
    for (const moment of [...this.first.values(), ...this.second.values()]) moment.fill(0);
    for (const name of this.#steps.keys()) this.#steps.set(name, 0);
  }

  /** Goes on from the state of another optimizer of the same weights. */
  restore({ steps, first, second }: AdamState): void {
    for (const name of this.#steps.keys()) this.#steps.set(name, steps.get(name)!);
    for (const [name, moment] of this.first) moment.set(first.get(name)!);
    for (const [name, moment] of this.second) moment.set(second.get(name)!);
  }

  /**
   * The sum of squares of a gradient, after what others found for the same weights has been added to it. Squares are
   * summed in 64 bits, in four sums side by side.
   */
  gather(gradient: Float32Array, others: readonly Float32Array[] = []): number {
    this.#squares.fill(0);
    for (let start = 0; start < gradient.length; start += pieceLength) {
      const count = Math.min(pieceLength, gradient.length - start);
      const padded = Math.ceil(count / 4) * 4;
      this.#gradientPiece.fill(0, count, padded).set(gradient.subarray(start, start + count));
      for (const other of others) {
        this.#weightPiece.fill(0, count, padded).set(other.subarray(start, start + count));
        this.#kernel.add(this.#gradientPiece.byteOffset, this.#weightPiece.byteOffset, padded);
      }
      if (others.length > 0) gradient.set(this.#gradientPiece.subarray(0, count), start);
      this.#kernel.addSquares(this.#squares.byteOffset, this.#gradientPiece.byteOffset, padded);
    }
    const [a, b, c, d] = this.#squares as unknown as readonly [number, number, number, number];
    return a + b + c + d;
  }

  /**
   * One step on the gradients of `weights`, written into them, and into `mirror`. `gradientNorm` is that of all
   * parameters, of which these may be a part. Weight decay is decoupled and touches matrices only, unless `decayAll`. The
   * arithmetic is that of 32-bit floats.
   */
  apply(
    weights: Weights,
    gradients: ReadonlyMap<string, Float32Array>,
    { learningRate, beta1, beta2, epsilon, weightDecay, decayAll, clipNorm }: AdamOptions,
    gradientNorm: number,
    mirror?: Weights,
  ): void {
    const scale = clipNorm > 0 && gradientNorm > clipNorm ? clipNorm / gradientNorm : 1;
    for (const [name, { shape, data }] of weights) {
      const step = this.#steps.get(name)! + 1;
      this.#steps.set(name, step);
      const stepSize = learningRate / (1 - beta1 ** step);
      const secondCorrection = 1 / (1 - beta2 ** step);
      const gradient = gradients.get(name)!;
      const first = this.first.get(name)!;
      const second = this.second.get(name)!;
      const keep = shape.length >= 2 || decayAll ? 1 - learningRate * weightDecay : 1;
      for (let start = 0; start < data.length; start += pieceLength) {
        const count = Math.min(pieceLength, data.length - start);
        this.#gradientPiece.set(gradient.subarray(start, start + count));
        this.#weightPiece.set(data.subarray(start, start + count));
        this.#kernel.step(
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
        const updated = this.#weightPiece.subarray(0, count);
        data.set(updated, start);
        mirror?.get(name)?.data.set(updated, start);
      }
    }
  }
}

function tooLarge(weights: number): TurnwiseError {
  return new TurnwiseError('model-too-large', {
    what: 'The model has too many trained weights for the embedded optimizer',
    seen: `${Math.round(weights / 1e6)} million`,
    allowed: `at most ${Math.floor(largestBytes / 8e6)} million`,
    next: 'Train adapters (lora), or use another engine',
  });
}
