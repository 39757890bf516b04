/** A file in place of a built-in name: the agent, environment, game, world or mix that it exports. */

import { dirname } from 'node:path';
import type { WorldFactory } from '../../env/factory.ts';
import { isMix, type Mix } from '../../env/mix/mix.ts';
import { tasksIn } from '../../env/tasks/tasks.ts';
import { loadExport } from './load-export.ts';
import { mixFactory } from './mix.ts';
import { factoryOf } from './world-object.ts';

/**
 * The agent, environment, game or world that a file exports: the only one, or the one named as in `./file.ts#name`. Its
 * `source` is the absolute path with that name, so that a run can be resumed from any folder. Its files of tasks are looked for
 * beside it.
 *
 * @param find loads the worlds that a mix names
 * @throws TurnwiseError `file-unknown`, `file-unusable`
 */
export async function loadFile(
  name: string,
  find: (name: string) => Promise<WorldFactory> = (other) => loadFile(other),
): Promise<WorldFactory> {
  const { value, source, file } = await loadExport<WorldFactory | Mix>(name, {
    noun: 'agent, environment, game or world',
    makers:
      'defineAgent, defineEnvironment, defineGame, defineTools, defineSession, defineWorld, fromEnvironment, fromGame or mix',
    of: (exported) => (isMix(exported) ? exported : factoryOf(exported)),
  });
  const folder = dirname(file);
  const factory = isMix(value) ? await mixFactory(value, find, folder) : value;
  return { ...factory, source, create: (options) => tasksIn(factory.create(options), folder) };
}
