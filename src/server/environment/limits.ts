/** Limits of an environment server. */

export interface SessionLimits {
  readonly maxSessions: number;
  /** A session whose client is silent for longer is closed. */
  readonly leaseMs: number;
  /** Longest that opening, a step, a snapshot or closing may take. */
  readonly stepTimeoutMs: number;
}

export const defaultLimits: SessionLimits = { maxSessions: 1024, leaseMs: 300_000, stepTimeoutMs: 60_000 };
