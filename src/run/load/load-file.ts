/** A file in place of a built-in name: the agent, environment, game or world that it exports. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { nearest, TurnwiseError } from '../../core/errors.ts';
import type { WorldFactory } from '../../env/factory.ts';
import { importFile } from './import-file.ts';
import { factoryOf } from './world-object.ts';

/**
 * The agent, environment, game or world that a file exports: the only one, or the one named as in `./file.ts#name`. Its
 * `source` is the absolute path with that name, so that a run can be resumed from any folder.
 *
 * @throws TurnwiseError `file-unknown`, `file-unusable`
 */
export async function loadFile(name: string): Promise<WorldFactory> {
  const { path, wanted } = splitName(name);
  const file = resolve(path);
  if (!existsSync(file)) {
    throw new TurnwiseError('file-unknown', {
      what: `There is no file ${path}`,
      seen: file,
      fields: { path },
    });
  }
  const exports = await importFile(path, file);
  const found = Object.entries(exports).flatMap(([key, value]) => {
    const factory = factoryOf(value);
    return factory ? [{ key, factory }] : [];
  });
  if (wanted !== undefined) {
    const chosen = found.find(({ key }) => key === wanted);
    if (chosen) return { ...chosen.factory, source: `${file}#${wanted}` };
    const names = found.map(({ key }) => key);
    throw exportMissing(path, wanted, names, Object.hasOwn(exports, wanted));
  }
  // A default export beside a named one is usually the same object.
  const factories = new Map(found.map(({ key, factory }) => [exports[key], factory]));
  const [factory] = factories.values();
  if (factory && factories.size === 1) return { ...factory, source: file };
  throw new TurnwiseError('file-unusable', {
    what: `${path} must export one agent, environment, game or world`,
    seen:
      found.length === 0
        ? `none (exports: ${Object.keys(exports).join(', ') || 'nothing'})`
        : found.map(({ key }) => key).join(', '),
    allowed:
      'what defineAgent, defineEnvironment, defineGame, defineWorld, fromEnvironment or fromGame return',
    next: found[0] ? `Name the one you mean: ${path}#${found[0].key}` : 'Export exactly one of them',
    fields: { path },
  });
}

/** A path may have a "#" of its own, so an existing file wins. */
function splitName(name: string): { readonly path: string; readonly wanted?: string } {
  const at = name.lastIndexOf('#');
  if (at < 0 || existsSync(resolve(name))) return { path: name };
  return { path: name.slice(0, at), wanted: name.slice(at + 1) };
}

function exportMissing(
  path: string,
  wanted: string,
  names: readonly string[],
  isExported: boolean,
): TurnwiseError {
  const near = nearest(wanted, names);
  return new TurnwiseError('file-unusable', {
    what: isExported
      ? `${path}#${wanted} is not an agent, environment, game or world`
      : `${path} has no export "${wanted}"`,
    allowed: names.join(', ') || 'none, because the file exports no agent, environment, game or world',
    ...(near !== undefined && { next: `Did you mean ${path}#${near}?` }),
    fields: { path },
  });
}
