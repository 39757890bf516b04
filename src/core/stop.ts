/** Why an episode ended: a closed list, so that every count in the metrics adds up. */

/** Whose fault a failure is. */
export type FailureOrigin = 'policy' | 'environment' | 'tool' | 'grader' | 'engine';

export type StopReason =
  /** The environment said so. */
  | 'done'
  /** The agent used up its turns. */
  | 'turn-limit'
  /** The agent used up its tokens. */
  | 'token-limit'
  /** The next prompt would not fit the model's context. */
  | 'context-overflow'
  /** Episodes end at an invalid action, and there was one. */
  | 'invalid-action'
  /** A turn controller ended it. */
  | 'early-stop'
  /** A step took longer than its deadline. */
  | 'timeout'
  /** The run was asked to stop. */
  | 'cancelled'
  | `failed:${FailureOrigin}`;

/** Whether an episode that ended so may be learned from: failures, time-outs and cancellations never are. */
export function isTrainable(stop: StopReason): boolean {
  return stop !== 'timeout' && stop !== 'cancelled' && !stop.startsWith('failed:');
}
