/** How much one server of the Tinker API takes on, and for how long it keeps what nobody asks for. */

import type { FutureLimits } from './futures.ts';
import type { SequenceOptions } from './sequence.ts';
import type { SessionLimits } from './sessions.ts';

export interface ServerLimits extends SessionLimits, FutureLimits, SequenceOptions {
  /** Models under training at once. */
  readonly mostModels: number;
  /** Engines for the base model and for old snapshots. */
  readonly mostSamplers: number;
  /** Snapshots without a name that a model keeps. */
  readonly keptSnapshots: number;
  /** Unloaded models that are still told of. */
  readonly keptUnloaded: number;
  /** Futures of one session that are neither done nor read. */
  readonly mostFutures: number;
}

export const serverLimits: ServerLimits = {
  sessionTimeoutMs: 300_000,
  mostSessions: 256,
  unreadMs: 30 * 60_000,
  readMs: 2 * 60_000,
  gapMs: 60_000,
  mostWaiting: 1024,
  mostModels: 4,
  mostSamplers: 2,
  keptSnapshots: 8,
  keptUnloaded: 64,
  mostFutures: 20_000,
};

/** Between two looks at the checkpoints on disk. */
export const diskSweepMs: number = 10 * 60_000;
