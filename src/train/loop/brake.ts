/**
 * Stops a run in which nothing works any more. An environment server that died lets every episode of every step fail; the
 * steps would pass, learn nothing, and use up the schedule.
 */

import { TurnwiseError } from '../../core/errors.ts';

export interface PlayedEpisodes {
  /** Episodes of the step, 0 where the run plays none. */
  readonly episodes: number;
  /** Those that cannot be learned from: they failed, ran out of time or never took a turn. */
  readonly failed: number;
  /** What they said, with how many said it. */
  readonly failures: ReadonlyMap<string, number>;
}

export interface BrakeOptions {
  /** Steps in a row in which everything failed, after which the run stops; 0 never stops it. */
  readonly limit: number;
  /** How to go on once the cause is removed: a sentence with the command. */
  readonly next: string;
}

/**
 * How many steps in a row have failed altogether, after one more.
 *
 * @param inARow how many had before it
 * @throws TurnwiseError `everything-fails` when they are as many as the limit
 */
export function brake(inARow: number, played: PlayedEpisodes, { limit, next }: BrakeOptions): number {
  const { episodes, failed, failures } = played;
  if (episodes === 0) return inARow;
  if (failed < episodes) return 0;
  const count = inARow + 1;
  if (limit === 0 || count < limit) return count;
  const [commonest] = [...failures].sort(([, a], [, b]) => b - a);
  throw new TurnwiseError('everything-fails', {
    what: count === 1 ? 'Every episode of a step failed' : `Every episode of ${count} steps in a row failed`,
    seen: commonest
      ? `${commonest[1]} × ${commonest[0]} in the last step, of ${episodes} episodes`
      : `${episodes} episodes without a turn in the last step`,
    allowed: `fewer than ${limit} such steps (rollout.failureLimit)`,
    next,
    fields: { steps: count, episodes },
  });
}
