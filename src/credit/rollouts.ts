/**
 * What credit methods read: groups of trajectories, as little of them as credit needs. It is also the file format of
 * `turnwise credit`, small enough to be written by hand.
 *
 * Two kinds of return enter a method, and every method says which it uses:
 * - `outcome` is the return of the whole trajectory. Methods that compare trajectories use it: grpo, rloo, dr-grpo, rae,
 *   the episode part of gigpo, and reinforce++ with a group baseline.
 * - Turn rewards are what each turn received. Methods that look at turns or tokens use them: reinforce, reinforce++,
 *   gae and the step part of gigpo. Where every turn reward is zero and the outcome is not, the outcome is the reward
 *   of the last turn.
 * In training the outcome is the sum of the turn rewards. A file may leave out one or the other.
 */

export interface CreditTurn {
  /** Reward received for this turn. */
  readonly reward: number;
  /** Number of tokens the policy sampled in this turn. */
  readonly tokens: number;
  /** Key of the state the turn acted in, for step-level groups. */
  readonly anchor?: string;
  /** Value of the prefix before each sampled token, `tokens` of them; for methods with a critic. */
  readonly values?: readonly number[];
  /**
   * 1 on each sampled token and 0 on each token that was not, in the order of the text. Only reinforce++ with
   * `observationReset` reads it; absent means the sampled tokens and then one observation.
   */
  readonly mask?: readonly number[];
}

export interface CreditTrajectory {
  readonly id: string;
  readonly groupId: string;
  readonly role: string;
  /** Name of the environment, where one batch holds several; keeps their moving baselines apart. */
  readonly game?: string;
  /** The return that group methods compare. */
  readonly outcome: number;
  readonly turns: readonly CreditTurn[];
}

/** Advantages of one trajectory: per turn one number, or one number per sampled token. */
export interface TrajectoryCredit {
  readonly id: string;
  /** One per turn. For token-level methods: the mean over the turn's tokens, 0 for a turn without any. */
  readonly turnAdvantages_K: readonly number[];
  /** Per turn, per sampled token; present for token-level methods. */
  readonly tokenAdvantages_K_T?: readonly (readonly number[])[];
  /** Targets of the value function, aligned like tokenAdvantages_K_T; from methods with a critic. */
  readonly returns_K_T?: readonly (readonly number[])[];
}

/** State that a method carries from step to step (moving baselines); plain JSON so that checkpoints hold it. */
export type CreditState = Readonly<Record<string, number>>;

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
