/** What a client makes of the description that a Turnwise server gives of its environment. */

import type { z } from 'zod';
import type { JsonObject } from '../../core/json/json.ts';
import type { Split } from '../environment.ts';
import type { environmentAnswer } from '../wire.ts';

export type Described = z.output<typeof environmentAnswer>;

/** Episodes at once, where the server has room for more. */
const CONCURRENCY = 256;

/** The settings that the server recommends, with no more episodes at once than it has room for. */
export function settingsOf({ settings, maxSessions }: Described): JsonObject {
  const { rollout } = settings as { rollout?: JsonObject };
  return {
    ...(settings as JsonObject),
    rollout: { ...rollout, concurrency: Math.min(maxSessions, CONCURRENCY) },
  };
}

export function taskCount({ tasks }: Described, split: Split): number {
  return tasks[split] ?? Number.POSITIVE_INFINITY;
}
