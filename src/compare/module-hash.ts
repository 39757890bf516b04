/** The contents of the modules that a run loads, as one hash: a run is cached as long as none of them changes. */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reachedFrom } from '../run/load/module-files.ts';
import { sourceKind, type WorldSource } from '../run/load/world-source.ts';

/** `.ts` from source, `.js` as built. */
const extension = extname(fileURLToPath(import.meta.url));
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Environments are loaded by name: those of other names are no part of a run. */
const environments = join(root, 'envs');

/**
 * Of everything that training imports, of the world, and of further files (an arm's own). Packages count by the lock file
 * only, where there is one.
 */
export function moduleHash(source: WorldSource, files: readonly string[] = []): string {
  const entries = [join(root, 'src', 'run', `training-run${extension}`), ...worldFiles(source)];
  const reached = reachedFrom(entries.filter(existsSync), isPart);
  const hash = createHash('sha256');
  for (const path of [...reached].sort()) {
    hash
      .update(`${relative(root, path)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  // An arm's own files by what they are, not by where they lie.
  for (const path of [...reachedFrom(files.flatMap(filesIn), isPart)].sort())
    hash.update(readFileSync(path)).update('\0');
  return hash.digest('hex');
}

function worldFiles(source: WorldSource): readonly string[] {
  switch (sourceKind(source)) {
    case 'built-in':
      return [join(environments, source, `index${extension}`)];
    case 'file':
      return [source.replace(/#[^#/\\]*$/, '')];
    default:
      return [];
  }
}

function filesIn(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [resolve(path)];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => resolve(entry.parentPath, entry.name));
}

/** From the list of environments no other environment is reached. */
function isPart(next: string, from: string): boolean {
  const inside = (path: string): boolean => path.startsWith(`${environments}/`);
  return !inside(next) || inside(from);
}
