/** A file in place of a built-in name: the agent, environment, game or world that it exports. */

import type { WorldFactory } from '../../env/factory.ts';
import { loadExport } from './load-export.ts';
import { factoryOf } from './world-object.ts';

/**
 * The agent, environment, game or world that a file exports: the only one, or the one named as in `./file.ts#name`. Its
 * `source` is the absolute path with that name, so that a run can be resumed from any folder.
 *
 * @throws TurnwiseError `file-unknown`, `file-unusable`
 */
export async function loadFile(name: string): Promise<WorldFactory> {
  const { value, source } = await loadExport(name, {
    noun: 'agent, environment, game or world',
    makers: 'defineAgent, defineEnvironment, defineGame, defineWorld, fromEnvironment or fromGame',
    of: factoryOf,
  });
  return { ...value, source };
}
