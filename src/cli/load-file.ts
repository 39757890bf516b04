/** A file of one's own in place of a built-in name: an agent, an environment, a game or a world, in TypeScript or JavaScript. */

import { existsSync } from 'node:fs';
import { register } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { TurnwiseError } from '../core/errors.ts';
import { isAgent } from '../env/agent.ts';
import type { Environment } from '../env/environment.ts';
import type { WorldFactory } from '../env/factory.ts';
import { fromAgent } from '../env/from-agent.ts';
import { fromEnvironment } from '../env/from-environment.ts';
import { fromGame } from '../env/from-game.ts';
import type { Game } from '../env/game.ts';
import type { World } from '../env/world.ts';

/** Whether a name on the command line means a file. */
export function isPath(name: string): boolean {
  return /[/\\]/.test(name) || /\.[cm]?[jt]s$/.test(name);
}

/**
 * The one agent, environment, game or world that the file exports. Its `source` is the absolute path, so that a run can
 * be resumed from anywhere.
 *
 * @throws TurnwiseError `file-unknown`, `file-unusable`
 */
export async function loadFile(path: string): Promise<WorldFactory> {
  const file = resolve(path);
  if (!existsSync(file)) {
    throw new TurnwiseError('file-unknown', {
      what: `There is no file ${path}`,
      seen: file,
      fields: { path },
    });
  }
  const exports = await importFile(path, file);
  const found = Object.entries(exports).flatMap(([name, value]) => {
    const factory = asFactory(value);
    return factory ? [{ name, factory }] : [];
  });
  // A default export beside a named one is usually the same thing.
  const factories = new Map(found.map(({ name, factory }) => [exports[name], factory]));
  const [factory] = factories.values();
  if (factory && factories.size === 1) return { ...factory, source: file };
  throw new TurnwiseError('file-unusable', {
    what: `${path} must export one agent, environment, game or world`,
    seen:
      found.length === 0
        ? `none (exports: ${Object.keys(exports).join(', ') || 'nothing'})`
        : found.map(({ name }) => name).join(', '),
    allowed:
      'what defineAgent, defineEnvironment, defineGame, defineWorld, fromEnvironment or fromGame return',
    next: 'Export exactly one of them',
    fields: { path },
  });
}

async function importFile(path: string, file: string): Promise<Record<string, unknown>> {
  registerTypeScript();
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (cause) {
    throw new TurnwiseError('file-unusable', {
      what: `${path} cannot be loaded`,
      seen: cause instanceof Error ? cause.message : String(cause),
      next: 'Run it with "node" to see where it fails. TypeScript is run by leaving out its types: no enums, no namespaces, and imports with their extensions',
      fields: { path },
      cause,
    });
  }
}

let registered = false;

/**
 * Node 22.18 and later leave types out by themselves; before that, a small loader does. Where this file is TypeScript
 * itself, something else runs TypeScript already.
 */
function registerTypeScript(): void {
  const native = (process.features as { readonly typescript?: unknown }).typescript;
  if (registered || native || import.meta.url.endsWith('.ts')) return;
  registered = true;
  register('./typescript-loader.js', import.meta.url);
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
