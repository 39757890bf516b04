/** What a test gives as a world, as the factory that runs are made with. */

import { TurnwiseError } from '../core/errors.ts';
import type { Environment } from '../env/environment.ts';
import type { WorldFactory } from '../env/factory.ts';
import type { Game } from '../env/game.ts';
import type { World } from '../env/world.ts';
import { factoryOf } from '../run/load/world-object.ts';

/** Whatever `defineEnvironment`, `defineGame`, `defineWorld`, `fromEnvironment` or `fromGame` returned. */
export type TestedWorld<Task, State> = Environment<Task, State> | Game<Task, State> | World | WorldFactory;

/** @throws TurnwiseError `config-invalid` */
export function factoryUnderTest<Task, State>(world: TestedWorld<Task, State>): WorldFactory {
  const factory = factoryOf(world);
  if (factory) return factory;
  throw new TurnwiseError('config-invalid', {
    what: 'This is no world that can be tested',
    seen: world === null ? 'null' : typeof world,
    allowed: 'what defineEnvironment, defineGame, defineWorld, fromEnvironment or fromGame returned',
    next: 'Pass one of them',
  });
}
