/**
 * Models that Ollama has downloaded, by the names that it gives them: `manifests/<host>/<namespace>/<model>/<tag>` says which
 * of the `blobs` is the GGUF file.
 */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { z } from 'zod';
import { nearest, TurnwiseError } from '../../core/errors.ts';
import type { HubEnvironment } from '../hub/hub-cache.ts';

const HOST = 'registry.ollama.ai';
const NAMESPACE = 'library';
const TAG = 'latest';

/** Newer versions first. */
const MANIFESTS = ['manifests-v2', 'manifests'] as const;

/** Far more than a manifest has; a larger file is none. */
const MANIFEST_BYTES = 2 ** 20;

const digest = z.string().regex(/^sha256[:-][0-9a-f]{64}$/);
const manifestSchema = z.object({
  layers: z.array(z.object({ mediaType: z.string(), digest })).optional(),
  /** One for each kind of runner. */
  manifests: z.array(z.object({ digest, format: z.string().optional() })).optional(),
});
type Manifest = z.output<typeof manifestSchema>;

function modelsFolder({ OLLAMA_MODELS, HOME }: HubEnvironment): string {
  return OLLAMA_MODELS || join(HOME || homedir(), '.ollama', 'models');
}

/** `[[host/]namespace/]model[:tag]`. */
const NAME = /^(?:(?:([\w.-]+(?::\d+)?)\/)?([\w-][\w.-]*)\/)?([\w-][\w.-]*)(?::([\w-][\w.-]*))?$/;

/**
 * The GGUF file of the model of this name; undefined where there is none of it.
 * @throws TurnwiseError `model-unsupported`, `model-file-invalid`
 */
export function ollamaModel(environment: HubEnvironment, name: string): string | undefined {
  const [, host = HOST, namespace = NAMESPACE, model, tag = TAG] = NAME.exec(name) ?? [];
  if (model === undefined || host === '..' || host === '.') return undefined;
  const folder = modelsFolder(environment);
  const path = MANIFESTS.map((kind) => join(folder, kind, host, namespace, model, tag)).find(existsSync);
  return path === undefined ? undefined : weightsOf(folder, readManifest(path), name, path);
}

/** What `ollama list` would name. */
export function ollamaNames(environment: HubEnvironment): readonly string[] {
  const folder = modelsFolder(environment);
  const names = MANIFESTS.flatMap((kind) => {
    const root = join(folder, kind);
    if (!existsSync(root)) return [];
    return readdirSync(root, { recursive: true, withFileTypes: true }).flatMap((entry) => {
      const parts = relative(root, join(entry.parentPath, entry.name)).split(sep);
      if (parts.length !== 4) return [];
      const [host, namespace, model, tag] = parts as [string, string, string, string];
      const place = host !== HOST ? `${host}/${namespace}/` : namespace === NAMESPACE ? '' : `${namespace}/`;
      return [`${place}${model}:${tag}`];
    });
  });
  return [...new Set(names)].sort();
}

/** That there is no such model, and which ones there are. */
export function notInOllama(environment: HubEnvironment, name: string): TurnwiseError {
  const names = ollamaNames(environment);
  const near = nearest(name, names);
  return new TurnwiseError('model-unknown', {
    what: `Ollama has no model "${name}" here`,
    seen: names.length === 0 ? `none in ${modelsFolder(environment)}` : names.join(', '),
    next: near === undefined ? `Fetch it with: ollama pull ${name}` : `Did you mean ollama:${near}?`,
    fields: { model: name },
  });
}

function weightsOf(folder: string, manifest: Manifest, name: string, path: string): string {
  const kinds = manifest.manifests;
  if (kinds !== undefined) {
    const gguf = kinds.find(({ format }) => format === 'gguf');
    if (gguf === undefined) throw unusable(name, kinds.map(({ format }) => format ?? 'unnamed').join(', '));
    const inner = blob(folder, gguf.digest, name);
    return weightsOf(folder, { ...readManifest(inner), manifests: undefined }, name, inner);
  }
  const layers = manifest.layers ?? [];
  const layer = (kind: string) =>
    layers.find(({ mediaType }) => mediaType === `application/vnd.ollama.image.${kind}`);
  if (layer('adapter') !== undefined) throw unusable(name, 'a model with an adapter');
  const model = layer('model');
  if (model !== undefined) return blob(folder, model.digest, name);
  throw unusable(
    name,
    layer('tensor') === undefined ? `no model in ${path}` : 'safetensors, tensor by tensor',
  );
}

function blob(folder: string, digest: string, name: string): string {
  const path = join(folder, 'blobs', digest.replace(':', '-'));
  if (existsSync(path)) return path;
  throw new TurnwiseError('checkpoint-missing', {
    what: `Ollama's model "${name}" is not whole: a file of it is missing`,
    seen: path,
    next: `Fetch it again with: ollama pull ${name}`,
    fields: { file: path },
  });
}

function readManifest(path: string): Manifest {
  try {
    if (statSync(path).size > MANIFEST_BYTES) throw new Error(`more than ${MANIFEST_BYTES} bytes`);
    const { data, error } = manifestSchema.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    if (data !== undefined) return data;
    const [issue] = error.issues;
    throw new Error(`${issue!.path.join('.')}: ${issue!.message}`);
  } catch (cause) {
    throw new TurnwiseError('model-file-invalid', {
      what: `${path} is not a manifest of Ollama's that can be read`,
      seen: cause instanceof Error ? cause.message.slice(0, 200) : String(cause),
      next: 'Fetch the model again with ollama pull, or name its GGUF file',
      fields: { file: path },
      cause,
    });
  }
}

function unusable(name: string, seen: string): TurnwiseError {
  return new TurnwiseError('model-unsupported', {
    what: `Ollama does not keep "${name}" as one GGUF file`,
    seen,
    allowed: 'models in GGUF',
    next: 'Name a GGUF file or a checkpoint folder of the model',
    fields: { model: name },
  });
}
