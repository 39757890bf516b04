/** Runs a written graph: a thin layer over onnxruntime that takes and gives typed arrays. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { Tensor as RuntimeTensor } from 'onnxruntime-common';
import { createNativeSession, type NativeSession } from './binding.ts';
import { nativeCall } from './native-calls.ts';

/** A value for an input: int64 data as BigInt64Array, float32 data as Float32Array. */
export interface Feed {
  readonly data: Float32Array | BigInt64Array;
  readonly shape: readonly number[];
}

export interface LoadOptions {
  /** Threads inside one operator. */
  readonly threads?: number;
  /**
   * After a first run, one block is laid out for all intermediate values of a run with inputs of the same sizes. Without
   * it large graphs take up to a third less memory, as fast. Default true.
   */
  readonly plansMemory?: boolean;
}

/** A graph ready to run. Calls block the thread they are made on until the result is there. */
export class LoadedGraph {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly #session: NativeSession;

  constructor(session: NativeSession) {
    this.#session = session;
    this.inputNames = session.inputMetadata.map(({ name }) => name);
    this.outputNames = session.outputMetadata.map(({ name }) => name);
  }

  /**
   * All outputs, or those named, for the inputs. The arrays given are read in place; those returned are new, except of
   * the outputs that `into` has an array for, which are written there.
   */
  async run(
    feeds: Readonly<Record<string, Feed>>,
    outputs: readonly string[] = this.outputNames,
    into: Readonly<Record<string, Feed>> = {},
  ): Promise<Record<string, Float32Array>> {
    const tensors = Object.fromEntries(Object.entries(feeds).map(([name, feed]) => [name, tensorOf(feed)]));
    const places = Object.fromEntries(
      outputs.map((name) => [name, into[name] === undefined ? null : tensorOf(into[name])]),
    );
    // Each call blocks, so what waits for this thread has its turn in between.
    await nextTurn();
    const results = nativeCall(() => this.#session.run(tensors, places, {}));
    // The runtime writes into the arrays given, and returns copies all the same.
    const dataOf = (name: string): Float32Array => (into[name] ?? results[name]!).data as Float32Array;
    return Object.fromEntries(outputs.map((name) => [name, dataOf(name)]));
  }

  async close(): Promise<void> {
    nativeCall(() => this.#session.dispose());
  }
}

function tensorOf({ data, shape }: Feed): RuntimeTensor {
  return data instanceof BigInt64Array
    ? new RuntimeTensor('int64', data, shape)
    : new RuntimeTensor('float32', data, shape);
}

/** Prepares the bytes of a model for running. */
export async function loadGraph(bytes: Uint8Array, options: LoadOptions = {}): Promise<LoadedGraph> {
  await nextTurn();
  return nativeCall(() => {
    const session = createNativeSession();
    session.loadModel(bytes.buffer, bytes.byteOffset, bytes.byteLength, {
      executionProviders: ['cpu'],
      executionMode: 'sequential',
      graphOptimizationLevel: 'all',
      enableCpuMemArena: true,
      enableMemPattern: options.plansMemory ?? true,
      logSeverityLevel: 3,
      ...(options.threads !== undefined && { intraOpNumThreads: options.threads }),
    });
    return new LoadedGraph(session);
  });
}
