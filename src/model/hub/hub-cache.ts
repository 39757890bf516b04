/**
 * The folder in which Hugging Face libraries keep downloaded models, so that what one program fetched serves all:
 * `models--owner--name/` with `refs/<revision>` (a commit), `snapshots/<commit>/<file>` (links) and `blobs/<etag>` (content).
 */

import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** What is read of the environment: `HF_HUB_CACHE`, `HF_HOME`, `HF_ENDPOINT`, `HF_TOKEN`, `HF_HUB_OFFLINE`. */
export type HubEnvironment = Readonly<Record<string, string | undefined>>;

/** A model on the hub, at a branch, tag or commit. */
export interface HubReference {
  /** `owner/name`. */
  readonly repository: string;
  readonly revision: string;
}

export function cacheFolder(environment: HubEnvironment): string {
  const { HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME } = environment;
  if (HF_HUB_CACHE) return HF_HUB_CACHE;
  return join(HF_HOME || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface'), 'hub');
}

/** Where the cache keeps one model. */
export function repositoryFolder(environment: HubEnvironment, { repository }: HubReference): string {
  return join(cacheFolder(environment), `models--${repository.replaceAll('/', '--')}`);
}

/** The folder of a whole snapshot in the cache; undefined where it has none, or only a part of what is asked for. */
export function cachedSnapshot(
  environment: HubEnvironment,
  reference: HubReference,
  { weights = true }: { readonly weights?: boolean } = {},
): string | undefined {
  const folder = repositoryFolder(environment, reference);
  const pointer = join(folder, 'refs', reference.revision);
  const commit = existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : reference.revision;
  const snapshot = join(folder, 'snapshots', commit);
  return isComplete(snapshot, weights) ? snapshot : undefined;
}

/** Whether the folder has a configuration, a tokenizer and, where they are asked for, every weight file. */
function isComplete(folder: string, weights: boolean): boolean {
  const has = (name: string): boolean => existsSync(join(folder, name));
  if (!has('config.json') || !has('tokenizer.json')) return false;
  if (!weights) return true;
  if (has('model.safetensors')) return true;
  if (!has(INDEX_FILE)) return false;
  return shardsOf(readFileSync(join(folder, INDEX_FILE), 'utf8')).every(has);
}

export const INDEX_FILE = 'model.safetensors.index.json';

/** The weight files that an index names. */
export function shardsOf(index: string): string[] {
  const content = JSON.parse(index) as { readonly weight_map?: Readonly<Record<string, string>> } | null;
  return [...new Set(Object.values(content?.weight_map ?? {}))].sort();
}
