/** How a world is loaded, in one place: written into `config.json`, compared between runs, and typed in commands. */

import { isAbsolute, relative, sep } from 'node:path';
import { isAddress } from '../../core/reference.ts';
import { shellWord } from '../../core/shell.ts';
import type { WorldFactory } from '../../env/factory.ts';
import type { World } from '../../env/world.ts';
import type { RunWorld } from '../../store/run-file.ts';

/**
 * The name of a built-in world; the absolute path of a file, with `#export` where one of several was named; an address; or
 * `code`, for an object that a program made and nobody else can load.
 */
export type WorldSource = string;

export const CODE: WorldSource = 'code';

export type SourceKind = 'built-in' | 'file' | 'address' | 'code';

export function sourceKind(source: WorldSource): SourceKind {
  if (source === CODE) return 'code';
  // Before addresses: a drive of Windows has a colon too.
  if (isAbsolute(source)) return 'file';
  return isAddress(source) ? 'address' : 'built-in';
}

export function sourceOf(factory: WorldFactory): WorldSource {
  return factory.source ?? CODE;
}

/** What a run keeps of its world. */
export function runWorldOf(factory: WorldFactory, world: Pick<World, 'name'>): RunWorld {
  return { name: world.name, source: sourceOf(factory) };
}

/**
 * Whether two runs have the same world. Names decide where one was made in code or is served at an address, since neither
 * can be compared; elsewhere it must also be loaded from the same place, whichever way its export was named.
 */
export function isSameWorld(one: RunWorld, other: RunWorld): boolean {
  if (one.name !== other.name) return false;
  const byName = [one, other].some(({ source }) => ['code', 'address'].includes(sourceKind(source)));
  return byName || placeOf(one.source) === placeOf(other.source);
}

function placeOf(source: WorldSource): string {
  return sourceKind(source) === 'file' ? source.replace(/#[^#/\\]*$/, '') : source;
}

/** What a person types for this world in the current folder; undefined for one that was made in code. */
export function typedSource(source: WorldSource): string | undefined {
  switch (sourceKind(source)) {
    case 'code':
      return undefined;
    case 'file': {
      const path = relative(process.cwd(), source);
      return shellWord(path.startsWith('..') || isAbsolute(path) ? source : `.${sep}${path}`);
    }
    default:
      return shellWord(source);
  }
}
