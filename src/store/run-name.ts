/** Names of runs: folder names, chosen or numbered. */

import { join } from 'node:path';
import { TurnwiseError } from '../core/errors.ts';
import { errnoOf } from '../core/write-error.ts';
import type { Disk } from './disk.ts';
import { commandIn, runNames } from './runs.ts';

export interface NamedRun {
  readonly name?: string;
  readonly world: { readonly name: string };
  readonly recipe: string;
  readonly recipeName?: string;
}

/** @throws TurnwiseError `run-name` */
export function checkName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._+-]*$/.test(name)) return;
  throw new TurnwiseError('run-name', {
    what: 'The run name cannot be a folder name',
    seen: JSON.stringify(name),
    allowed: 'letters, digits, ".", "_", "+" and "-", starting with a letter or digit',
    next: 'Choose another name',
  });
}

/** Gives the folder `starting` the wanted name, or the next free number. @throws TurnwiseError `run-exists` */
export function claimName(root: string, starting: string, request: NamedRun, disk: Disk): string {
  const { name, world, recipe, recipeName = recipe } = request;
  // An address such as openenv:ws://host:8000 makes no folder name.
  const prefix = `${world.name.replaceAll(/[^\w.-]+/g, '-')}-${recipeName.replaceAll(/[^\w.+-]+/g, '-')}-`;
  const numbers = runNames(root)
    .filter((other) => other.startsWith(prefix))
    .map((other) => Number(other.slice(prefix.length)))
    .filter(Number.isInteger);
  for (let number = Math.max(0, ...numbers) + 1; ; number++) {
    const candidate = name ?? `${prefix}${number}`;
    try {
      // Fails where the folder exists, unless it is empty.
      disk.rename(starting, join(root, candidate));
      return candidate;
    } catch (error) {
      if (!['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(errnoOf(error) ?? '')) throw error;
      if (name !== undefined) throw runExists(root, name);
    }
  }
}

function runExists(root: string, name: string): TurnwiseError {
  return new TurnwiseError('run-exists', {
    what: `A run named "${name}" already exists`,
    seen: join(root, name),
    next: `Continue it with "${commandIn(root, `resume ${name}`)}", choose another --name, or delete the folder`,
    fields: { run: name },
  });
}
