/** The GGUF file of a folder that holds nothing else of a model. */

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';

/** Files beside a model that are none: what encodes images, and all parts but the first. */
const NO_MODEL = /^mmproj-|-(?!00001-of-)\d{5}-of-\d{5}\.gguf$/;

/** GGUF files of the folder that are a model each. */
export function ggufNames(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.gguf') && !NO_MODEL.test(name))
    .sort();
}

/**
 * An existing path as a model: a file as it is, a folder with its one GGUF file where it has no `config.json`.
 * @throws TurnwiseError `model-ambiguous` where there are several
 */
export function modelAt(path: string): string {
  const absolute = resolve(path);
  if (!statSync(absolute).isDirectory() || existsSync(join(absolute, 'config.json'))) return absolute;
  const names = ggufNames(absolute);
  return names.length === 0 ? absolute : join(absolute, onlyOne(names, absolute, absolute));
}

/** The name, where there is one. */
export function onlyOne(names: readonly string[], folder: string, prefix: string): string {
  const [first] = names;
  if (names.length === 1 && first !== undefined) return first;
  throw new TurnwiseError('model-ambiguous', {
    what: `There are ${names.length} models in ${folder}`,
    seen: names.join(', '),
    next: `Name one of them, such as ${prefix}/${first}`,
    fields: { folder },
  });
}
