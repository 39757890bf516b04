/** The runtime that the page brings: WebAssembly, with threads where the headers allow it; WebGPU where it computes well. */

import type { Provider, WebRuntime } from '../../graph/browser/loaded-graph.ts';
import { gradientsAgree } from '../gradient-check.ts';

/** `onnxruntime-web` with what its build is told before its first use. */
type LoadedRuntime = WebRuntime & {
  readonly env: { readonly wasm: { wasmPaths?: string; numThreads?: number } };
};

export interface OpenRuntime {
  readonly runtime: WebRuntime;
  readonly provider: Provider;
  readonly threads: number;
  /** Why it is not what was asked for. */
  readonly note?: string;
}

const builds: Readonly<Record<Provider, string>> = {
  wasm: 'ort.wasm.min.mjs',
  webgpu: 'ort.webgpu.min.mjs',
};

/** Files of the runtime lie beside the worker, in `ort/`. */
export async function openRuntime(
  { provider, threads: wanted }: { readonly provider: Provider; readonly threads: number },
  here: string,
): Promise<OpenRuntime> {
  const threads = crossOriginIsolated ? wanted : 1;
  const note =
    threads < wanted ? 'One thread: this page was served without the headers that threads need.' : undefined;
  const load = async (build: Provider): Promise<LoadedRuntime> => {
    const folder = new URL('ort/', here).href;
    const runtime = (await import(folder + builds[build])) as LoadedRuntime;
    runtime.env.wasm.wasmPaths = folder;
    runtime.env.wasm.numThreads = threads;
    return runtime;
  };
  const onWasm = async (why?: string): Promise<OpenRuntime> => {
    const said = [why, note].filter(Boolean).join(' ');
    return { runtime: await load('wasm'), provider: 'wasm', threads, ...(said && { note: said }) };
  };
  if (provider === 'wasm') return onWasm();
  const adapter = 'gpu' in navigator ? await adapterOf(navigator.gpu as Gpu) : undefined;
  if (adapter === undefined) return onWasm('This browser offers no WebGPU.');
  try {
    const runtime = await load('webgpu');
    const { agree, largest, parameter } = await gradientsAgree(runtime);
    const off = `${Number((100 * largest).toPrecision(2))} %`;
    if (!agree) return await onWasm(`Not WebGPU, whose gradient of ${parameter} is off by ${off} here.`);
    if (adapter.info?.isFallbackAdapter)
      return await onWasm(`Not WebGPU, which is software here; its gradients agree within ${off}.`);
    return { runtime, provider: 'webgpu', threads };
  } catch (error) {
    return onWasm(`WebGPU failed its check: ${error instanceof Error ? error.message : error}`);
  }
}

interface Adapter {
  readonly info?: { readonly isFallbackAdapter?: boolean };
}

interface Gpu {
  requestAdapter(): Promise<Adapter | null>;
}

const adapterOf = async (gpu: Gpu): Promise<Adapter | undefined> =>
  (await gpu.requestAdapter().catch(() => null)) ?? undefined;
