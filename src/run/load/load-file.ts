/** A file in place of a built-in name: the agent, environment, game or world that it exports. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { nearest, TurnwiseError } from '../../core/errors.ts';
import { isAgent } from '../../env/agent.ts';
import type { Environment } from '../../env/environment.ts';
import type { WorldFactory } from '../../env/factory.ts';
import { fromAgent } from '../../env/from-agent.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import { fromGame } from '../../env/from-game.ts';
import type { Game } from '../../env/game.ts';
import type { World } from '../../env/world.ts';
import { importFile } from './import-file.ts';

/** Whether a name on the command line means a file, with or without the `#name` of an export. */
export function isPath(name: string): boolean {
  return /[/\\]/.test(name) || /\.[cm]?[jt]sx?(#[^#]*)?$/.test(name);
}

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
    const factory = asFactory(value);
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

function asFactory(value: unknown): WorldFactory | undefined {
  if (isAgent(value)) return fixed(fromAgent(value), value.settings);
  if (typeof value !== 'object' || value === null) return undefined;
  const has = (...members: readonly string[]): boolean =>
    members.every((member) => typeof (value as Record<string, unknown>)[member] === 'function');
  if (has('create') && 'options' in value) return value as WorldFactory;
  if (has('tasks', 'open') && 'protocol' in value) return fixed(value as World);
  if (has('tasks', 'start', 'step', 'toMove')) return fixed(fromGame(value as Game));
  if (has('tasks', 'start', 'step')) return fixed(fromEnvironment(value as Environment));
  return undefined;
}

/** A world without options. */
function fixed(world: World, settings?: WorldFactory['settings']): WorldFactory {
  const { name, description } = world;
  return {
    name,
    description,
    options: z.strictObject({}),
    create: () => world,
    ...(settings && { settings }),
  };
}
