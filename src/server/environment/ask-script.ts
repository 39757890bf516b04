/** What a scripted player of the served environment would do now, with the deadline of a step. */

import type { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { Rng } from '../../core/rng.ts';
import type { scriptRequest } from '../../env/wire.ts';
import type { World } from '../../env/world.ts';
import type { SessionTable } from './session-table.ts';
import { within } from './within.ts';

/**
 * The action; undefined where there is no such player.
 *
 * @throws TurnwiseError `session-unknown`, `environment-timeout` after which the session is closed, and what the script raises
 */
export async function askScript(
  world: World,
  table: SessionTable,
  id: string,
  { player, chance }: z.output<typeof scriptRequest>,
): Promise<string | undefined> {
  const { session } = table.read(id);
  const asked = Promise.resolve(world.script?.(session, player, new Rng(chance)));
  try {
    return await within(table.limits.stepTimeoutMs, asked, 'a scripted player');
  } catch (error) {
    if (TurnwiseError.isInstance(error) && error.code === 'environment-timeout') {
      await table.close(id).catch(() => {});
    }
    throw error;
  }
}
