/** Gradients that are summed over micro-batches and passes, in arrays that are used again step after step. */

import type { Feed } from '../../../graph/node/loaded-graph.ts';
import type { Weights } from '../../../model/checkpoint/safetensors.ts';

const outputName = /^(gradient|rows)\.(.*)$/;

export class GradientSums {
  /** Of the step; empty after it: the first gradients to come are kept as they are, which spares three passes over memory. */
  readonly #sums = new Map<string, Float32Array>();
  /** Of the pass that goes on. */
  readonly #pass = new Map<string, Float32Array>();
  /** Arrays of earlier gradients, for the runtime to write the next into: new ones would cost a copy and fresh memory. */
  readonly #spare = new Map<string, Float32Array[]>();
  /** For the rows of a pass, of which there is one lookup: as arrays of their own they would be garbage after each. */
  #rows = new Float32Array(0);
  readonly #weights: Weights;

  constructor(weights: Weights) {
    this.#weights = weights;
  }

  /** Of every weight: zeros where nothing was added. */
  get sums(): ReadonlyMap<string, Float32Array> {
    for (const name of this.#weights.keys())
      if (!this.#sums.has(name)) this.#sums.set(name, this.#zeros(name));
    return this.#sums;
  }

  /** Where the runtime writes these outputs for [B, T] tokens: gradients, as far as there are arrays to spare, and rows. */
  places(outputs: readonly string[], [rows, length]: readonly [number, number]): Record<string, Feed> {
    const places: Record<string, Feed> = {};
    for (const output of outputs) {
      const [, kind, name] = outputName.exec(output) ?? [];
      if (kind === undefined) continue;
      const { shape } = this.#weights.get(name!)!;
      const isRows = kind === 'rows';
      const data = isRows ? this.#room(rows * length * shape[1]!) : this.#spare.get(name!)?.pop();
      if (data) places[output] = { data, shape: isRows ? [rows, length, shape[1]!] : shape };
    }
    return places;
  }

  /** Adds the gradients among the outputs for these ids; the arrays are kept. They wait for `settle`. */
  add(outputs: Readonly<Record<string, Float32Array>>, ids: BigInt64Array): void {
    for (const [output, values] of Object.entries(outputs)) {
      const [, kind, name] = outputName.exec(output) ?? [];
      if (kind === 'gradient') this.#addInto(this.#pass, name!, values);
      else if (kind === 'rows') this.#addRows(name!, ids, values);
    }
  }

  /** Adds what waits to the gradients of the step, or forgets it. */
  settle(keep: boolean): void {
    for (const [name, gradient] of this.#pass) {
      if (keep) this.#addInto(this.#sums, name, gradient);
      else this.#giveBack(name, gradient);
    }
    this.#pass.clear();
  }

  clear(): void {
    for (const [name, gradient] of this.#sums) this.#giveBack(name, gradient);
    this.#sums.clear();
  }

  #addInto(sums: Map<string, Float32Array>, name: string, values: Float32Array): void {
    const sum = sums.get(name);
    if (sum === undefined) {
      sums.set(name, values);
      return;
    }
    for (let i = 0; i < sum.length; i++) sum[i]! += values[i]!;
    this.#giveBack(name, values);
  }

  /** Adds row i of `rows` to that row of the gradient which the i-th id names: the gradient of a lookup. */
  #addRows(name: string, ids: BigInt64Array, rows: Float32Array): void {
    const sum = this.#pass.get(name) ?? this.#zeros(name);
    this.#pass.set(name, sum);
    const width = this.#weights.get(name)!.shape[1]!;
    for (let index = 0; index < ids.length; index++) {
      const to = Number(ids[index]) * width;
      const from = index * width;
      for (let i = 0; i < width; i++) sum[to + i]! += rows[from + i]!;
    }
  }

  #room(length: number): Float32Array {
    if (this.#rows.length < length) this.#rows = new Float32Array(length);
    return this.#rows.subarray(0, length);
  }

  #giveBack(name: string, gradient: Float32Array): void {
    const spare = this.#spare.get(name) ?? [];
    this.#spare.set(name, spare);
    spare.push(gradient);
  }

  #zeros(name: string): Float32Array {
    return this.#spare.get(name)?.pop()?.fill(0) ?? new Float32Array(this.#weights.get(name)!.data.length);
  }
}
