/**
 * What credit methods read: groups of trajectories, as little of them as credit needs. It is also the file format of
 * `turnwise credit`, small enough to be written by hand.
 *
 * Two kinds of return enter a method, and every method says which it uses:
 * - `outcome` is the return of the whole trajectory. Methods that compare trajectories use it, such as grpo and rloo.
 * - Turn rewards are what each turn received. Methods that look at turns or tokens use them, such as gae and reinforce.
 *   Where every turn reward is zero and the outcome is not, the outcome is the reward of the last turn.
 * In training the outcome is the sum of the turn rewards. A file may leave out one or the other. What each further field
 * means, and what holds without it, is said once: in fields.ts.
 */

import type { Json, JsonObject } from '../../core/json/json.ts';

export interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, Json>>;
}

export interface CreditTurn {
  /** Reward received for this turn. */
  readonly reward: number;
  /** Number of tokens the policy sampled in this turn. */
  readonly tokens: number;
  /** Key of the state the turn acted in, for step-level groups. */
  readonly anchor?: string;
  /** Value of the state before the turn, from a critic of turns. */
  readonly value?: number;
  /** Value of the prefix before each sampled token, `tokens` of them; for methods with a critic. */
  readonly values?: readonly number[];
  /** Entropy of the policy at each sampled token. */
  readonly entropies?: readonly number[];
  /**
   * 1 on each sampled token and 0 on each token that was not, in the order of the text. Only reinforce++ with
   * `observationReset` reads it; absent means the sampled tokens and then one observation.
   */
  readonly mask?: readonly number[];
  /** Intermediate rewards that are not part of the outcome, the most important first. */
  readonly dense?: readonly number[];
  /** Whether the environment accepted the action. */
  readonly valid?: boolean;
  /** Attempt at the task, from 0, where it was opened again; absent: 0. */
  readonly attempt?: number;
  /** Probability of the true answer given what the policy had seen before the turn. */
  readonly answerProbability?: number;
  readonly informationGain?: number;
  readonly calls?: readonly ToolCall[];
  /** Share of the outcome that an estimator attributes to the turn. */
  readonly progress?: number;
  /** Features of the turn for the estimator of progress. */
  readonly features?: readonly number[];
  readonly answer?: string;
  readonly correct?: boolean;
  readonly actionCount?: number;
  readonly effectiveActions?: number;
  readonly labelCorrect?: boolean;
  /** Which response to the task the turn is a part of, from 0; absent where each turn is a response. */
  readonly response?: number;
  readonly wellFormed?: boolean;
  /** Outcome of a continuation from the same state in which this turn was replaced. */
  readonly counterfactual?: number;
  /** Of each sampled token: its log-probability when it was sampled, minus that of a teacher. */
  readonly teacherGaps?: readonly number[];
}

export interface CreditTrajectory {
  readonly id: string;
  readonly groupId: string;
  readonly role: string;
  /** Name of the environment, where one batch holds several; keeps their moving baselines apart. */
  readonly game?: string;
  /** The episode that this is one role's view of; trajectories of different roles with the same one met. */
  readonly episode?: string;
  /** The return that group methods compare. */
  readonly outcome: number;
  /** What roles of the episode earned that have no trajectory here. */
  readonly absentOutcome?: number;
  readonly turns: readonly CreditTurn[];
  readonly success?: boolean;
  readonly wellFormed?: boolean;
  /** Whether it was cut off for its length. */
  readonly overlong?: boolean;
  readonly entityShare?: number;
  readonly goldenCalls?: readonly ToolCall[];
  readonly neededCalls?: number;
  /** The trajectory it branched from, and how many of its turns are copies of that one's. */
  readonly parent?: string;
  readonly sharedTurns?: number;
  /** Its advantage when it was sampled; present on trajectories from a replay buffer. */
  readonly replayedAdvantage?: number;
  readonly mode?: string;
}

/** Advantages of one trajectory: per turn one number, or one number per sampled token. */
export interface TrajectoryCredit {
  readonly id: string;
  /** One per turn. For token-level methods: the mean over the turn's tokens, 0 for a turn without any. */
  readonly turnAdvantages_K: readonly number[];
  /** One per sampled token, turn after turn; present for token-level methods. */
  readonly tokenAdvantages_T?: Float64Array;
  /** Targets of the value function, aligned like tokenAdvantages_T; from methods with a critic. */
  readonly returns_T?: Float64Array;
  /** 1 on the tokens before which the value function has something to learn, 0 on the others; absent: it has at all of them. */
  readonly targets_T?: Uint8Array;
  /** The rewards that the advantages were computed from, where the method or a shaping made them. */
  readonly shaped?: { readonly outcome: number; readonly rewards_K: readonly number[] };
}

/** State that a method carries from step to step (moving baselines, buffers); plain JSON so that checkpoints hold it. */
export type CreditState = JsonObject;

/**
 * A credit method: pure apart from the state it is given. Result order equals input order. Trajectories with equal
 * `groupId` and `role` form a group. Every trajectory given enters the statistics: pass those that are in the baseline.
 */
export type Credit = (
  trajectories: readonly CreditTrajectory[],
  state: CreditState,
) => {
  readonly credits: readonly TrajectoryCredit[];
  readonly state: CreditState;
};
