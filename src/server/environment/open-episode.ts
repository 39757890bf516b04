/** From a request to a live episode of the served world. */

import { randomUUID } from 'node:crypto';
import { Rng } from '../../core/rng.ts';
import type { Session } from '../../env/session.ts';
import { taskOf } from '../../env/split.ts';
import type { CreateRequest } from '../../env/wire.ts';
import type { World } from '../../env/world.ts';

/** Open the episode that a request describes. @throws TurnwiseError `task-unknown`, `split-empty`, and what `open` raises */
export async function openEpisode(
  world: World,
  request: Pick<CreateRequest, 'split' | 'index' | 'seed' | 'chance'>,
): Promise<Session> {
  const { split, index, seed, chance } = request;
  const task = taskOf(world, split, index);
  if (chance === undefined) return await world.open(task, Rng.of('environment', seed ?? randomUUID()));
  const start = chance.start === undefined ? undefined : new Rng(chance.start);
  return await world.open(task, new Rng(chance.episode), start);
}
