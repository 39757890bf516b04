/** One of the exports of a user's file, chosen by what it is, or by its name as in `./file.ts#name`. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { DEFINITION_WORDS, kindOf } from '../../core/definition.ts';
import { nearest, TurnwiseError } from '../../core/errors.ts';
import { type Exports, importFile } from './import-file.ts';

/** What is looked for among the exports. */
export interface Wanted<T> {
  /** `credit method` */
  readonly noun: string;
  /** The functions that make one. */
  readonly makers: string;
  /** The value as what is looked for; undefined where it is something else. */
  of(value: unknown): T | undefined;
}

export interface FromFile<T> {
  readonly value: T;
  /** The absolute path, with the `#name` that was given: how it is found again from any folder. */
  readonly source: string;
  /** The absolute path alone. */
  readonly file: string;
}

/**
 * The only export of this kind, or the one that is named.
 *
 * @param base the folder that a relative path starts from
 * @throws TurnwiseError `file-unknown`, `file-unusable`
 */
export async function loadExport<T>(
  name: string,
  wanted: Wanted<T>,
  base: string = process.cwd(),
): Promise<FromFile<T>> {
  const { path, chosen } = splitName(name, base);
  const file = resolve(base, path);
  if (!existsSync(file)) {
    throw new TurnwiseError('file-unknown', {
      what: `There is no file ${path}`,
      seen: file,
      fields: { path },
    });
  }
  const exports = await importFile(path, file);
  const found = Object.entries(exports).flatMap(([key, value]) => {
    const known = wanted.of(value);
    return known === undefined ? [] : [{ key, value, known }];
  });
  if (chosen !== undefined) {
    const one = found.find(({ key }) => key === chosen);
    if (one) return { value: one.known, source: `${file}#${chosen}`, file };
    throw exportMissing(path, chosen, wanted.noun, found, exports);
  }
  // A default export beside a named one is usually the same object.
  const different = new Map(found.map(({ value, known }) => [value, known]));
  const [only] = different.values();
  if (only !== undefined && different.size === 1) return { value: only, source: file, file };
  throw new TurnwiseError('file-unusable', {
    what: `${path} must export one ${wanted.noun}`,
    seen:
      found.length === 0
        ? `none (exports: ${Object.entries(exports).map(exportText).join(', ') || 'nothing'})`
        : found.map(({ key }) => key).join(', '),
    allowed: `what ${wanted.makers} ${/,| or /.test(wanted.makers) ? 'return' : 'returns'}`,
    next: found[0] ? `Name the one you mean: ${path}#${found[0].key}` : 'Export exactly one of them',
    fields: { path },
  });
}

/** A path may have a "#" of its own, so an existing file wins. */
function splitName(name: string, base: string): { readonly path: string; readonly chosen?: string } {
  const at = name.lastIndexOf('#');
  if (at < 0 || existsSync(resolve(base, name))) return { path: name };
  return { path: name.slice(0, at), chosen: name.slice(at + 1) };
}

/** `halves`, or `halves (a credit method)`. */
function exportText([key, value]: readonly [string, unknown]): string {
  const kind = kindOf(value);
  return kind === undefined ? key : `${key} (${withArticle(DEFINITION_WORDS[kind].noun)})`;
}

function exportMissing(
  path: string,
  chosen: string,
  noun: string,
  found: readonly { readonly key: string }[],
  exports: Exports,
): TurnwiseError {
  const names = found.map(({ key }) => key);
  const near = nearest(chosen, names);
  return new TurnwiseError('file-unusable', {
    what: Object.hasOwn(exports, chosen)
      ? `${path}#${chosen} is not ${withArticle(noun)}`
      : `${path} has no export "${chosen}"`,
    allowed: names.join(', ') || `none, because the file exports no ${noun}`,
    ...(near !== undefined && { next: `Did you mean ${path}#${near}?` }),
    fields: { path },
  });
}

export const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
