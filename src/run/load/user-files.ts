/** The code of a user that a run stands on: its files as they were when it began, and which of them have changed since. */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Json } from '../../core/json/json.ts';
import type { RunFile } from '../../store/run-file.ts';
import type { StoredEvent } from '../../train/loop/events.ts';
import { reachedFrom } from './module-files.ts';

/** SHA-256 of files by their paths. */
export type FileHashes = Readonly<Record<string, string>>;

/** Files that the world, the recipe and the settings name, with all that they import by relative paths. */
export function userFiles({
  world,
  recipe,
  config,
}: Pick<RunFile, 'world' | 'recipe' | 'config'>): FileHashes {
  const named = [world.source, recipe, ...wordsIn(config as Json)].flatMap(codeFileOf);
  return Object.fromEntries(
    [...reachedFrom(named.filter(existsSync))].sort().map((path) => [path, hashOf(path)]),
  );
}

/** What is said of a run that goes on with other code than it began with. */
export function changedCode({
  files = {},
}: Pick<RunFile, 'files'>): Extract<StoredEvent, { type: 'warning' }>[] {
  const changed = Object.entries(files).filter(([path, hash]) => !existsSync(path) || hashOf(path) !== hash);
  return changed.map(([path]) => ({
    type: 'warning',
    code: 'code-changed',
    message: `${path} ${existsSync(path) ? 'has changed' : 'is gone'} since this run began: what follows is learned with other code than what came before`,
  }));
}

/** The path of a code file where a word names one, with or without `#export`. */
function codeFileOf(word: string): string[] {
  const path = word.replace(/#[^#/\\]*$/, '');
  return isAbsolute(path) && /\.[cm]?[jt]sx?$/.test(path) ? [path] : [];
}

/** All strings and keys of plain JSON. */
function wordsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(wordsIn)];
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
