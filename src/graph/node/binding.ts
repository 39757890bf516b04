/**
 * The native part of onnxruntime: which package has it, and what it offers. It is loaded when the first graph is to run,
 * once in each thread, and comes from a package for this kind of machine, so that installing fetches no other's.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { env, Tensor } from 'onnxruntime-common';
import { TurnwiseError } from '../../core/errors.ts';

/** One graph, prepared. Calls block the thread. */
export interface NativeSession {
  readonly inputMetadata: readonly { readonly name: string }[];
  readonly outputMetadata: readonly { readonly name: string }[];
  loadModel(
    buffer: ArrayBufferLike,
    byteOffset: number,
    byteLength: number,
    options: Readonly<Record<string, unknown>>,
  ): void;
  run(
    feeds: Readonly<Record<string, Tensor>>,
    fetches: Readonly<Record<string, Tensor | null>>,
    options: Readonly<Record<string, unknown>>,
  ): Record<string, { readonly data: unknown }>;
  dispose(): void;
}

interface Binding {
  readonly InferenceSession: new () => NativeSession;
  initOrtOnce(logLevel: number, tensor: typeof Tensor, isMainThread: boolean): void;
}

/** Where a binding may lie, and for which kinds of machine there is one. */
export interface Places {
  /** Of this machine, as `linux-x64`. */
  readonly platform: string;
  /** As `require.resolve`. */
  readonly resolve: (path: string) => string;
  readonly load: (path: string) => unknown;
}

/** The version of onnxruntime: its kernels decide the last bits of every result. */
export const runtimeVersion: string = env.versions.common;

/** Kinds of machine that a package is made for; tools/pack-runtime.mjs makes them. */
export const runtimePlatforms: readonly string[] = [
  'linux-x64',
  'linux-arm64',
  'darwin-arm64',
  'win32-x64',
  'win32-arm64',
];

const file = 'onnxruntime_binding.node';
/** Warnings and worse, as onnxruntime itself chooses. */
const logLevel = 2;

const require = createRequire(import.meta.url);
const here: Places = {
  platform: `${process.platform}-${process.arch}`,
  resolve: require.resolve,
  load: require,
};

let loaded: Binding | undefined;

/** @throws TurnwiseError `runtime-missing` or `runtime-unloadable` */
export function createNativeSession(): NativeSession {
  if (loaded === undefined) {
    const binding = loadBinding(here);
    binding.initOrtOnce(logLevel, Tensor, isMainThread);
    loaded = binding;
  }
  return new loaded.InferenceSession();
}

/** The package for this kind of machine, or else onnxruntime-node, which has the binaries of all. */
export function loadBinding({ platform, resolve, load }: Places): Binding {
  const [system, processor] = platform.split('-') as [string, string];
  const own = `@turnwise/onnxruntime-${platform}`;
  const candidates = [
    { name: own, path: file },
    { name: 'onnxruntime-node', path: join('bin', 'napi-v6', system, processor, file) },
  ];
  const unfit: string[] = [];
  for (const { name, path } of candidates) {
    const manifest = resolved(`${name}/package.json`, resolve);
    if (manifest === undefined) continue;
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
    const binary = resolved(join(dirname(manifest), path), resolve);
    if (version !== runtimeVersion) unfit.push(`${name} ${version}`);
    else if (binary === undefined) unfit.push(`${name} without a binary for it`);
    else return loadFile(binary, platform, load);
  }
  throw missing(platform, own, unfit);
}

function resolved(path: string, resolve: Places['resolve']): string | undefined {
  try {
    return resolve(path);
  } catch {
    return undefined;
  }
}

function loadFile(path: string, platform: string, load: Places['load']): Binding {
  try {
    return load(path) as Binding;
  } catch (cause) {
    throw new TurnwiseError('runtime-unloadable', {
      what: 'The system does not load the native part of onnxruntime',
      seen: `${cause instanceof Error ? cause.message : String(cause)} (${path})`,
      allowed: needs(platform),
      next: 'Install the missing part, or use another machine',
      fields: { platform, path },
      cause,
    });
  }
}

function needs(platform: string): string {
  if (platform.startsWith('linux'))
    return 'Linux with glibc 2.28 or later and libstdc++ (Alpine has neither)';
  if (platform.startsWith('win32')) return 'Windows with the Visual C++ 2015-2022 runtime libraries';
  return 'macOS on Apple silicon';
}

function missing(platform: string, own: string, unfit: readonly string[]): TurnwiseError {
  const exists = runtimePlatforms.includes(platform);
  const found = unfit.length === 0 ? 'no package that has it' : unfit.join(', ');
  return new TurnwiseError('runtime-missing', {
    what: `The native part of onnxruntime ${runtimeVersion} is not installed for this machine`,
    seen: `${platform}, and ${found}`,
    allowed: runtimePlatforms.join(', '),
    next: exists
      ? `Run \`npm install ${own}@${runtimeVersion}\`; npm leaves it out with --omit=optional, and when node_modules comes from another kind of machine`
      : 'Use one of these, or train on a server with `--engine tinker`',
    fields: { platform, version: runtimeVersion },
  });
}
