/** What `truth(task)` promises: said at once, it solves the task. */

import type { Json } from '../../core/json/json.ts';
import { Rng } from '../../core/rng.ts';
import { partOf } from '../mix/part.ts';
import { AGENT } from '../session.ts';
import type { World } from '../world.ts';

/**
 * Say each truth of `task` in an episode of its own, and return the first broken promise, or undefined: the completion is
 * read as an action, the action is valid, and it ends the episode with success. A world may have no truth for a task.
 */
export async function brokenTruth(
  world: World,
  task: Json,
  seed: string | number,
): Promise<string | undefined> {
  const given: unknown = world.truth?.(task) ?? [];
  const truths: readonly unknown[] = Array.isArray(given) ? given : [given];
  for (const truth of truths) {
    if (typeof truth !== 'string') return `truth() gave a ${typeof truth}, not a string or strings`;
    const broken = await brokenBy(truth, world, task, seed);
    if (broken !== undefined) return broken;
  }
  return undefined;
}

async function brokenBy(
  truth: string,
  world: World,
  task: Json,
  seed: string | number,
): Promise<string | undefined> {
  const session = await world.open(task, Rng.of('world', seed));
  try {
    const parsed = partOf(world, session).protocol.parse(truth);
    if (!parsed.ok) return `the truth ${JSON.stringify(truth)} cannot be read: ${parsed.problem}`;
    const role = session.toMove() ?? AGENT;
    const { valid, done, success } = await session.step(parsed.action, new AbortController().signal);
    if (!valid) return `the truth ${JSON.stringify(truth)} is no valid action`;
    return done && success[role] ? undefined : `the truth ${JSON.stringify(truth)} does not solve the task`;
  } finally {
    await session.close();
  }
}
