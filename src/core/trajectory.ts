/** What happened in an episode, as one role saw it. Everything later (credit, samples, viewer) is computed from this. */

import type { Json } from './json.ts';
import type { Message } from './messages.ts';
import type { StopReason } from './stop.ts';

/** One completion sampled by the policy, and what came back for it. */
export interface Turn {
  readonly kind: 'act' | 'summarize' | 'plan' | 'reflect';
  /** Key of the state the turn acted in; equal keys are the same state. */
  readonly anchor: string;
  /** Messages shown for the first time before this turn. */
  readonly messages: readonly Message[];
  /**
   * Token ids fed between the previous completion and this one. Where `extendsPrevious` is false they are the whole
   * prompt, because the previous prompt + completion is no longer its prefix.
   */
  readonly contextIds: readonly number[];
  readonly extendsPrevious: boolean;
  /** Ids the policy sampled, exactly as sampled. */
  readonly ids: readonly number[];
  /** Log-probability of each id at sampling time, same length as `ids`. */
  readonly logprobs: readonly number[];
  /** False where a script, a person or an opponent acted: never trained on by policy gradients. */
  readonly sampled: boolean;
  /** Why it cannot be trained on, where it was recorded from an agent and something stands against it. */
  readonly untrainable?: string;
  readonly text: string;
  /** What should have been thought before the action, where a corrector found the thought of `text` wrong. */
  readonly correctedThought?: string;
  /** How the completion ended: a stop token, the length limit, or it was not generated token by token. */
  readonly finish: 'stop' | 'length' | 'none';
  readonly reward: number;
  /** Whether the environment accepted the action. */
  readonly valid: boolean;
  readonly info?: Json;
  /** Time spent waiting for the policy and for the environment. */
  readonly policyMs: number;
  readonly environmentMs: number;
}

/** How many tokens of it the policy sampled: none where a script or an opponent wrote it, so that credit goes to nobody. */
export function sampledTokens({ sampled, ids }: Turn): number {
  return sampled ? ids.length : 0;
}

/** The turns of one role in one episode. */
export interface Trajectory {
  /** Unique in the run: `<step>/<group>/<member>` and the role where there are several. */
  readonly id: string;
  readonly groupId: string;
  readonly role: string;
  /** Version of the weights that sampled it. */
  readonly policyVersion: number;
  readonly turns: readonly Turn[];
  readonly stop: StopReason;
  /** The episode's return for this role: the sum of its rewards. */
  readonly outcome: number;
  readonly success: boolean;
  /** The trajectory that it branched from, and how many of its first turns are copies of that one’s. */
  readonly parent?: string;
  readonly sharedTurns?: number;
  /** What roles of the episode earned that are left out of the batch, such as one that took no turn. */
  readonly absentOutcome?: number;
  /** What failed, for `failed:*` and `timeout`. */
  readonly failure?: string;
}

/** Trajectories that share a task, start state and role: what group-relative methods compare. */
export interface Group {
  readonly id: string;
  readonly task: Json;
  readonly members: readonly Trajectory[];
}
