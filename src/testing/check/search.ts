/** Breadth-first search over a world, for proofs that a task cannot be solved. */

import type { Json } from '../../core/json/json.ts';
import { Rng } from '../../core/rng.ts';
import type { Session, Snapshot } from '../../env/session.ts';
import type { World } from '../../env/world.ts';

/** Places that are opened at most; larger worlds are not judged. */
const MAX_STATES = 1500;

/** Times that an action is tried with another chance, where it leads nowhere with that of the episode. */
const OTHER_CHANCES = 8;

/**
 * Whether any course of listed actions ends `task` with success, with the chance of the episode or another. Undefined where that
 * cannot be told: no snapshots or listed actions, or too many states.
 */
export async function searchSuccess(
  world: World,
  task: Json,
  seed: number,
): Promise<{ readonly success: boolean; readonly states: number } | undefined> {
  const found = await search(world, task, seed, 0);
  // What chance prevented in one episode it may allow in another.
  return found?.success === false ? search(world, task, seed, OTHER_CHANCES) : found;
}

async function search(
  world: World,
  task: Json,
  seed: number,
  chances: number,
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
  for (const [place, { snapshot, actions }] of queue.entries()) {
    for (const action of actions) {
      for (let chance = 0; chance <= chances; chance++) {
        const other = chance === 0 ? {} : { chance: Rng.of('search', seed, place, action, chance) };
        const session = await snapshot.open(other);
        const { done, success } = await session.step(action, signal);
        if (done && success[role]) return { success: true, states: seen.size };
        if (done || seen.has(key(session))) continue;
        seen.add(key(session));
        if (seen.size > MAX_STATES) return undefined;
        await add(session);
      }
    }
  }
  return { success: false, states: seen.size };
}
