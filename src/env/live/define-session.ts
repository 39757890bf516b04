/** The whole contract: a world whose sessions an author writes, for whatever is neither a reducer nor tools. */

import type { Json } from '../../core/json/json.ts';
import type { JsonCompatible } from '../../core/json/json-compatible.ts';
import type { Rng } from '../../core/rng.ts';
import { rawProtocol } from '../raw-protocol.ts';
import { AGENT, type Role, type Session } from '../session.ts';
import { readTasks, type Tasks } from '../tasks/tasks.ts';
import type { SimulatedUser } from '../user/simulate-user.ts';
import type { World } from '../world.ts';

/** A world, with what may be left out left out. */
export interface SessionDefinition<Task = Json>
  extends Omit<
    World,
    'description' | 'roles' | 'protocol' | 'tasks' | 'open' | 'truth' | 'users' | 'agent' | 'game'
  > {
  readonly description?: string;
  /** Default: one, `agent`. */
  readonly roles?: World['roles'];
  /** Default: the raw text, trimmed. */
  readonly protocol?: World['protocol'];
  readonly tasks: Tasks<Task>;
  /**
   * Open an episode. `rng` is its chance, `startRng` that of the start, which members of a group share. What is opened after
   * `signal` has aborted is closed at once.
   */
  open(task: Task, rng: Rng, startRng: Rng, signal: AbortSignal): Promise<Session>;
  truth?(task: Task): string | readonly string[];
  /** Roles that simulated users play, unless a run seats others in them. */
  readonly users?: Readonly<Record<Role, SimulatedUser<Task>>>;
}

/**
 * A world whose sessions are written by hand: several roles that are no pure game, live state with snapshots, a simulator
 * that pushes observations. `Session` says what each of its methods promises.
 *
 * @example
 * export const lamp = defineSession({
 *   name: 'lamp',
 *   maxTurns: 3,
 *   tasks: ['on', 'off'],
 *   open: async (wanted: string) => {
 *     let done = false;
 *     return {
 *       roles: ['agent'],
 *       toMove: () => (done ? undefined : 'agent'),
 *       observe: () => (done ? [] : [user(`turn it ${wanted}`)]),
 *       anchor: () => `${wanted} ${done}`,
 *       step: async (action) => {
 *         done = action === wanted;
 *         return { rewards: { agent: done ? 1 : 0 }, done, success: { agent: done }, valid: ['on', 'off'].includes(action) };
 *       },
 *       close: async () => {},
 *     };
 *   },
 * });
 */
export function defineSession<Task extends JsonCompatible<Task>>(definition: SessionDefinition<Task>): World {
  const {
    description = '',
    roles = [AGENT],
    protocol = rawProtocol,
    tasks,
    open,
    truth,
    users,
    ...rest
  } = definition;
  return {
    ...rest,
    description,
    roles,
    protocol,
    tasks: readTasks(tasks) as World['tasks'],
    open: (task, rng, startRng = rng.fork('start'), signal = new AbortController().signal) =>
      open(task as Task, rng, startRng, signal),
    ...(truth && { truth: (task: Json) => truth(task as Task) }),
    ...(users && { users: users as unknown as NonNullable<World['users']> }),
  };
}
