/** What a program gives as `world`, as the factory that runs are made with. */

import { TurnwiseError } from '../../core/errors.ts';
import type { WorldFactory } from '../../env/factory.ts';
import { isMix } from '../../env/mix/mix.ts';
import { findEnvironment } from './environments.ts';
import { mixFactory } from './mix.ts';
import { factoryOf } from './world-object.ts';

/**
 * The factory of a world that a program names or made.
 *
 * @throws TurnwiseError `config-invalid` for an object that is none; as `findEnvironment` for a name
 */
export async function resolveWorld(world: unknown): Promise<WorldFactory> {
  if (typeof world === 'string') return findEnvironment(world);
  const factory = isMix(world) ? await mixFactory(world, findEnvironment, process.cwd()) : factoryOf(world);
  if (factory) return factory;
  throw new TurnwiseError('config-invalid', {
    what: '"world" is not a world',
    seen: world === null ? 'null' : typeof world,
    allowed:
      'what defineEnvironment, defineGame, defineAgent, defineTools, defineSession, defineWorld, fromEnvironment, fromGame or mix return; a built-in name, a path or an address',
    next: 'Pass one of them as "world"',
    fields: { key: 'world' },
  });
}
