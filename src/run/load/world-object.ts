/** Worlds as objects of a program: agents, environments, games, worlds and factories, told apart by what they can do. */

import { z } from 'zod';
import type { JsonCompatible } from '../../core/json/json-compatible.ts';
import { type Agent, isAgent } from '../../env/agent.ts';
import type { Environment } from '../../env/environment.ts';
import type { WorldFactory } from '../../env/factory.ts';
import { fromAgent } from '../../env/from-agent.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import { fromGame } from '../../env/from-game.ts';
import type { Game } from '../../env/game.ts';
import type { Mix } from '../../env/mix/mix.ts';
import { type Wording, wordingOption } from '../../env/wording.ts';
import type { World } from '../../env/world.ts';

/** Whatever a `define…` function returned; or a built-in name, a path with an optional `#export`, or an address. */
export type WorldInput<Task extends JsonCompatible<Task>, State extends JsonCompatible<State>> =
  | Environment<Task, State>
  | Game<Task, State>
  | Agent<Task>
  | World
  | WorldFactory
  | Mix
  | string;

/** The factory of whatever a `define…` or `from…` function returned; undefined for anything else. */
export function factoryOf(value: unknown): WorldFactory | undefined {
  if (isAgent(value)) return fixed(fromAgent(value), value.settings);
  if (typeof value !== 'object' || value === null) return undefined;
  const has = (...members: readonly string[]): boolean =>
    members.every((member) => typeof (value as Record<string, unknown>)[member] === 'function');
  if (has('create') && 'options' in value) return value as WorldFactory;
  if (has('tasks', 'open') && 'protocol' in value) return fixed(value as World);
  if (has('tasks', 'start', 'step', 'toMove')) return worded(value as Game, fromGame);
  if (has('tasks', 'start', 'step')) return worded(value as Environment, fromEnvironment);
  return undefined;
}

/** An environment or a game; where it has a natural wording too, this is its one option. */
function worded<Kind extends Pick<Environment | Game, 'natural'>>(
  made: Kind,
  from: (made: Kind, options: { readonly wording: Wording }) => World,
): WorldFactory {
  const compact = from(made, { wording: 'compact' });
  if (made.natural === undefined) return fixed(compact);
  const { name, description } = compact;
  return {
    name,
    description,
    options: z.strictObject({ wording: wordingOption }),
    create: ({ wording }) => from(made, { wording: wording as Wording }),
  };
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
