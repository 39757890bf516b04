/** The visitor's environment: a module that she wrote, run in the worker alone, and checked before anything is learned. */

import { TurnwiseError } from '../../core/errors.ts';
import type { Json } from '../../core/json/json.ts';
import type { Environment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import { brokenWorldLaw } from '../../env/laws/environment-laws.ts';

/** Tasks that are played once with every kind of action before the run begins. */
const checkedTasks = 3;

/** @throws TurnwiseError `file-unusable` for code that does not run, `config-invalid` for what is no environment */
export async function ownWorld(code: string): Promise<object> {
  const world = await exportedWorld(code);
  const missing = ['tasks', 'start', 'step'].filter((name) => typeof Reflect.get(world, name) !== 'function');
  if (missing.length > 0)
    throw new TurnwiseError('config-invalid', {
      what: `The exported world lacks ${missing.join(' and ')}`,
      seen: `an object with ${Object.keys(world).join(', ') || 'no fields'}`,
      allowed: 'tasks(split), start(task) and step(state, action), each a function',
      fields: { key: 'world' },
    });
  const environment = world as Environment;
  if (environment.solve === undefined || environment.actions === undefined)
    throw new TurnwiseError('config-invalid', {
      what: 'The agent learns its first words from a player, and the world has none',
      seen: `no ${environment.solve === undefined ? 'solve(state)' : 'actions(state)'}`,
      allowed: 'solve(state): a good action; actions(state): all of them',
      next: 'A poor player will do: reinforcement learning goes on from there',
      fields: { key: 'world' },
    });
  const made = fromEnvironment(environment);
  const tasks = made.tasks('train');
  for (let index = 0; index < Math.min(checkedTasks, tasks.size); index++) {
    const broken = await brokenWorldLaw(made, tasks.at(index) as Json, index);
    if (broken === undefined) continue;
    throw new TurnwiseError('environment-reply', {
      what: `The world breaks a promise on task ${index}: ${broken}`,
      next: 'step() must be pure: it returns a new state, and the same state and action give the same step',
      fields: { environment: made.name },
    });
  }
  return environment;
}

async function exportedWorld(code: string): Promise<object> {
  const address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  let exported: { readonly world?: unknown; readonly default?: unknown };
  try {
    exported = await import(address);
  } catch (cause) {
    throw new TurnwiseError('file-unusable', {
      what: 'Your code does not run',
      seen: placed(cause, address),
      next: 'Correct it, then start again',
      cause,
    });
  } finally {
    URL.revokeObjectURL(address);
  }
  const world = exported.world ?? exported.default;
  if (typeof world === 'object' && world !== null) return world;
  throw new TurnwiseError('config-invalid', {
    what: 'Your code exports no world',
    seen: `exports ${Object.keys(exported).join(', ') || 'nothing'}`,
    allowed: 'export const world = { name, description, maxTurns, tasks, start, step, actions, solve }',
    fields: { key: 'world' },
  });
}

/** What was thrown, with its line in the visitor's code where the browser tells it. */
function placed(cause: unknown, address: string): string {
  if (!(cause instanceof Error)) return String(cause);
  const [, line] = (cause.stack ?? '').split(address)[1]?.match(/^:(\d+)/) ?? [];
  return `${cause.name}: ${cause.message}${line === undefined ? '' : ` (line ${line})`}`;
}
