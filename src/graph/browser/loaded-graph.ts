/**
 * Runs a written graph in a browser: the twin of node/loaded-graph.ts, over onnxruntime-web. Whoever opens a run brings the
 * runtime, so that this package needs none of its own.
 */

import type { InferenceSession, Tensor } from 'onnxruntime-common';
import type { Feed, LoadOptions } from '../node/loaded-graph.ts';

export type { Feed, LoadOptions } from '../node/loaded-graph.ts';

/** What is used of `onnxruntime-web`. */
export interface WebRuntime {
  readonly InferenceSession: {
    create(bytes: Uint8Array, options?: InferenceSession.SessionOptions): Promise<InferenceSession>;
  };
  readonly Tensor: {
    new (type: 'float32', data: Float32Array, dims: readonly number[]): Tensor;
    new (type: 'int64', data: BigInt64Array, dims: readonly number[]): Tensor;
  };
}

export type Provider = 'wasm' | 'webgpu';

let open: { readonly runtime: WebRuntime; readonly provider: Provider } | undefined;
/** The runtime answers one call after the other; what is asked at once waits here. */
let last: Promise<unknown> = Promise.resolve();

/** To be called before the first graph is loaded. */
export function useRuntime(runtime: WebRuntime, provider: Provider = 'wasm'): void {
  open = { runtime, provider };
}

/** What computes, once it was chosen. */
export const usedProvider = (): Provider | undefined => open?.provider;

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const result = last.then(work);
  last = result.catch(() => undefined);
  return result;
}

/** Lets messages and timers of this thread have their turn: a call blocks it. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A graph ready to run. */
export class LoadedGraph {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly #session: InferenceSession;
  readonly #runtime: WebRuntime;

  constructor(session: InferenceSession, runtime: WebRuntime) {
    this.#session = session;
    this.#runtime = runtime;
    this.inputNames = session.inputNames;
    this.outputNames = session.outputNames;
  }

  /** As in Node, but that the results for `into` are copied there. */
  async run(
    feeds: Readonly<Record<string, Feed>>,
    outputs: readonly string[] = this.outputNames,
    into: Readonly<Record<string, Feed>> = {},
  ): Promise<Record<string, Float32Array>> {
    const tensors = Object.fromEntries(
      Object.entries(feeds).map(([name, feed]) => [name, this.#tensorOf(feed)]),
    );
    await nextTurn();
    const results = await inTurn(() => this.#session.run(tensors, outputs));
    const dataOf = (name: string): Float32Array => {
      const result = results[name]!;
      const data = result.data as Float32Array;
      const place = into[name]?.data as Float32Array | undefined;
      place?.set(data);
      return place ?? data;
    };
    return Object.fromEntries(outputs.map((name) => [name, dataOf(name)]));
  }

  async close(): Promise<void> {
    await inTurn(() => this.#session.release());
  }

  #tensorOf({ data, shape }: Feed): Tensor {
    const { Tensor } = this.#runtime;
    return data instanceof BigInt64Array
      ? new Tensor('int64', data, shape)
      : new Tensor('float32', data, shape);
  }
}

/** Prepares the bytes of a model for running. Threads are the runtime's own: `env.wasm.numThreads`, before it is used. */
export async function loadGraph(bytes: Uint8Array, options: LoadOptions = {}): Promise<LoadedGraph> {
  if (open === undefined) throw new Error('useRuntime() comes before loadGraph()');
  const { runtime, provider } = open;
  await nextTurn();
  const session = await inTurn(() =>
    runtime.InferenceSession.create(bytes, {
      executionProviders: provider === 'webgpu' ? ['webgpu', 'wasm'] : ['wasm'],
      graphOptimizationLevel: 'all',
      enableMemPattern: options.plansMemory ?? true,
      logSeverityLevel: 3,
    }),
  );
  return new LoadedGraph(session, runtime);
}
