/** Breadth-first search over a world, for proofs that a task cannot be solved. */

import type { Json } from '../../core/json/json.ts';
import { Rng } from '../../core/rng.ts';
import type { Session, Snapshot } from '../../env/session.ts';
import type { World } from '../../env/world.ts';

/** Places that are opened at most; larger worlds are not judged. */
const MAX_STATES = 1500;

/**
 * Whether any course of listed actions ends `task` with success. Undefined where that cannot be told: no snapshots or listed
 * actions, or too many states.
 */
export async function searchSuccess(
  world: World,
  task: Json,
  seed: number,
): Promise<{ readonly success: boolean; readonly states: number } | undefined> {
  const { signal } = new AbortController();
  const role = world.roles[0]!;
  const start = await world.open(task, Rng.of('world', seed));
  if (world.snapshots !== 'free' || start.snapshot === undefined || start.actions?.() === undefined)
    return undefined;
  const key = (session: Session): string => session.anchor(role);
  const seen = new Set([key(start)]);
  const queue: { snapshot: Snapshot; actions: readonly string[] }[] = [];
  const add = async (session: Session) => {
    queue.push({ snapshot: await session.snapshot!(), actions: session.actions?.() ?? [] });
  };
  await add(start);
  for (const { snapshot, actions } of queue) {
    for (const action of actions) {
      const session = await snapshot.open();
      const { done, success } = await session.step(action, signal);
      if (done && success[role]) return { success: true, states: seen.size };
      if (done || seen.has(key(session))) continue;
      seen.add(key(session));
      if (seen.size > MAX_STATES) return undefined;
      await add(session);
    }
  }
  return { success: false, states: seen.size };
}
