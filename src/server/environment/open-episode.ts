/** From a request to a live episode of the served world. */

import { randomUUID } from 'node:crypto';
import { TurnwiseError } from '../../core/errors.ts';
import { Rng } from '../../core/rng.ts';
import type { Session } from '../../env/session.ts';
import { playableTask } from '../../env/tasks/split.ts';
import type { CreateRequest } from '../../env/wire.ts';
import type { World } from '../../env/world.ts';

/**
 * Open the episode that a request describes, and lead it on along the path that it names.
 *
 * @throws TurnwiseError `task-unknown`, `split-empty`, `snapshot-unsupported`, and what `open` and `step` raise
 */
export async function openEpisode(
  world: World,
  { path = [], ...request }: Pick<CreateRequest, 'split' | 'index' | 'seed' | 'chance' | 'path'>,
): Promise<Session> {
  const { signal } = new AbortController();
  let session = await openAtStart(world, request);
  try {
    for (const { chance, actions } of path) {
      if (chance) session = await drawingFrom(new Rng(chance), session);
      for (const action of actions) await session.step(action, signal);
    }
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}

async function openAtStart(
  world: World,
  request: Pick<CreateRequest, 'split' | 'index' | 'seed' | 'chance'>,
): Promise<Session> {
  const { split, index, seed, chance } = request;
  const task = playableTask(world, split, index);
  if (chance === undefined) return await world.open(task, Rng.of('environment', seed ?? randomUUID()));
  const start = chance.start === undefined ? undefined : new Rng(chance.start);
  return await world.open(task, new Rng(chance.episode), start);
}

/** The same place of the same episode, with another chance ahead. Closes `session`. */
async function drawingFrom(chance: Rng, session: Session): Promise<Session> {
  if (session.snapshot === undefined) throw noSnapshots();
  const snapshot = await session.snapshot();
  const other = await snapshot.open({ chance });
  await Promise.all([session.close(), snapshot.dispose()]);
  return other;
}

export function noSnapshots(): TurnwiseError {
  return new TurnwiseError('snapshot-unsupported', {
    what: 'Sessions of this environment have no snapshots',
    next: 'Give them snapshot(), and declare their cost in `snapshots` of the world.',
  });
}
