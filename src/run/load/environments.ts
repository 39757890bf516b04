/** Where names of environments meet their code: built-in ones, files and addresses. Each is loaded when asked for. */

import type { z } from 'zod';
import { nearest, TurnwiseError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json/json.ts';
import { parseStrict } from '../../core/json/parse-strict.ts';
import { isAddress, isPath } from '../../core/reference.ts';
import { COMMAND, commandWorld } from '../../env/command/command-world.ts';
import type { Environment } from '../../env/environment.ts';
import type { WorldFactory } from '../../env/factory.ts';
import type { World } from '../../env/world.ts';
import { applySettings } from '../settings/settings.ts';
import { loadFile } from './load-file.ts';
import { isMixName, mixFactory, mixSource, parseMixName } from './mix.ts';
import { connectEnvironment, remoteExamples } from './remote-environments.ts';

const loaders: Readonly<Record<string, () => Promise<WorldFactory>>> = {
  'frozen-lake': async () => (await import('../../../envs/frozen-lake/index.ts')).world,
  maze: async () => (await import('../../../envs/maze/index.ts')).world,
  'guess-number': async () => (await import('../../../envs/guess-number/index.ts')).world,
  wordle: async () => (await import('../../../envs/wordle/index.ts')).world,
  'kuhn-poker': async () => (await import('../../../envs/kuhn-poker/index.ts')).world,
  tictactoe: async () => (await import('../../../envs/tictactoe/index.ts')).world,
  'connect-four': async () => (await import('../../../envs/connect-four/index.ts')).world,
  leduc: async () => (await import('../../../envs/leduc/index.ts')).world,
  'liars-dice': async () => (await import('../../../envs/liars-dice/index.ts')).world,
  'text-nav': async () => (await import('../../../envs/text-nav/index.ts')).world,
  'mini-hanabi': async () => (await import('../../../envs/mini-hanabi/index.ts')).world,
  'twenty-questions': async () => (await import('../../../envs/twenty-questions/index.ts')).world,
  'guess-my-city': async () => (await import('../../../envs/guess-my-city/index.ts')).world,
  chess: async () => (await import('../../../envs/chess/index.ts')).world,
  'chess-endgames': async () => (await import('../../../envs/chess-endgames/index.ts')).world,
  'car-dealer': async () => (await import('../../../envs/car-dealer/index.ts')).world,
  negotiation: async () => (await import('../../../envs/negotiation/index.ts')).world,
  'js-tasks': async () => (await import('../../../envs/js-tasks/index.ts')).world,
  taxi: async () => (await import('../../../envs/taxi/index.ts')).world,
  countdown: async () => (await import('../../../envs/countdown/index.ts')).world,
  points24: async () => (await import('../../../envs/points24/index.ts')).world,
  ezpoints: async () => (await import('../../../envs/ezpoints/index.ts')).world,
  mastermind: async () => (await import('../../../envs/mastermind/index.ts')).world,
  bandits: async () => (await import('../../../envs/bandits/index.ts')).world,
  sokoban: async () => (await import('../../../envs/sokoban/index.ts')).world,
  'hidden-rules': async () => (await import('../../../envs/hidden-rules/index.ts')).world,
  'running-sums': async () => (await import('../../../envs/running-sums/index.ts')).world,
  crafting: async () => (await import('../../../envs/crafting/index.ts')).world,
  missions: async () => (await import('../../../envs/missions/index.ts')).world,
  household: async () => (await import('../../../envs/household/index.ts')).world,
  'science-lab': async () => (await import('../../../envs/science-lab/index.ts')).world,
  shop: async () => (await import('../../../envs/shop/index.ts')).world,
  errands: async () => (await import('../../../envs/errands/index.ts')).world,
};

export const environmentNames: readonly string[] = Object.keys(loaders);

/** What a command says of an argument that names an environment. */
export const environmentHelp: string = `${environmentNames.join(', ')}, a file such as ./agent.ts, an address such as ${remoteExamples[1]}, or a mix such as mix:maze=3,wordle=1`;

export function loadEnvironments(): Promise<WorldFactory[]> {
  return Promise.all(environmentNames.map(findEnvironment));
}

/**
 * A built-in environment by its name, the agent of a command line (`command`), what a file exports by its path, the environment behind an address, whose server is
 * asked, or a mix of them (`mix:maze=3,wordle=1`). Its `source` says how it was loaded, so that a run finds it again.
 *
 * @throws TurnwiseError `environment-unknown`, naming the nearest; `file-unknown`, `file-unusable`; as `connectEnvironment`
 */
export async function findEnvironment(name: string): Promise<WorldFactory> {
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  if (load) return { ...(await load()), source: name };
  if (name === COMMAND) return { ...commandWorld, source: COMMAND } as unknown as WorldFactory;
  if (isMixName(name)) {
    const chosen = parseMixName(name, process.cwd());
    return { ...(await mixFactory(chosen, findEnvironment, process.cwd())), source: mixSource(chosen) };
  }
  if (isAddress(name)) return { ...(await connectEnvironment(name)), source: name };
  if (isPath(name)) return loadFile(name, findEnvironment);
  const near = nearest(name, environmentNames);
  throw new TurnwiseError('environment-unknown', {
    what: `There is no environment "${name}"`,
    allowed: environmentNames.join(', '),
    next: near ? `Did you mean "${near}"?` : 'List them with: turnwise envs',
    fields: { environment: name },
  });
}

/**
 * The world with `key=value` settings of its own options.
 *
 * @param given options under the assignments, such as those for a model that reads
 * @throws TurnwiseError `setting-syntax`, `config-unknown-key`, `config-invalid`
 */
export function createWorld(
  factory: WorldFactory,
  assignments: readonly string[],
  given: JsonObject = {},
): World {
  const settings = applySettings(factory.options, given, assignments, factory.name);
  return factory.create(
    parseStrict(factory.options as z.ZodType<JsonObject>, settings, `Environment "${factory.name}"`),
  );
}

/**
 * The pure environment behind the name of a built-in one, or a file, to be wrapped.
 *
 * @example
 * const pair = secondAnswer(await pureEnvironment('frozen-lake', { size: 5 }));
 * @throws TurnwiseError `environment-not-pure` where a game, an agent or live sessions are behind it; as `findEnvironment`
 */
export async function pureEnvironment(name: string, options: JsonObject = {}): Promise<Environment> {
  const { environment, pure, game } = createWorld(await findEnvironment(name), [], options);
  if (environment) return environment;
  throw new TurnwiseError('environment-not-pure', {
    what: `"${name}" has no pure environment of one role behind it`,
    seen: game ? 'a game of several roles' : pure ? 'a mix, or an agent' : 'live sessions',
    allowed: 'what `defineEnvironment` makes, such as frozen-lake',
    next: 'Wrap its sessions with `defineSession`, or wrap another environment',
    fields: { environment: name },
  });
}
