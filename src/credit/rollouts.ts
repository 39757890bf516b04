/**
 * What credit methods read: groups of trajectories, as little of them as credit needs. It is also the file format of
 * `turnwise credit`, small enough to be written by hand.
 */

export interface CreditTurn {
  /** Reward received for this turn. */
  readonly reward: number;
  /** Number of tokens the policy sampled in this turn. */
  readonly tokens: number;
  /** Key of the state the turn acted in, for step-level groups. */
  readonly anchor?: string;
  /** Value of the prefix before each sampled token, same length as `tokens`; for methods with a critic. */
  readonly values?: readonly number[];
}

export interface CreditTrajectory {
  readonly id: string;
  readonly groupId: string;
  readonly role: string;
  /** The return that group methods compare. */
  readonly outcome: number;
  readonly turns: readonly CreditTurn[];
}

/** Advantages of one trajectory: per turn one number, or one number per sampled token. */
export interface TrajectoryCredit {
  readonly id: string;
  /** One per turn. For token-level methods: the mean over the turn's tokens. */
  readonly turnAdvantages_K: readonly number[];
  /** Per turn, per sampled token; present for token-level methods. */
  readonly tokenAdvantages_K_T?: readonly (readonly number[])[];
  /** Targets of the value function, aligned like tokenAdvantages_K_T; from methods with a critic. */
  readonly returns_K_T?: readonly (readonly number[])[];
}

/** State that a method carries from step to step (moving baselines); plain JSON so that checkpoints hold it. */
export type CreditState = Record<string, number>;

/**
 * A credit method: pure apart from the state it is given. Result order equals input order. Trajectories with equal
 * `groupId` form a group.
 */
export type Credit = (
  trajectories: readonly CreditTrajectory[],
  state: CreditState,
) => {
  readonly credits: readonly TrajectoryCredit[];
  readonly state: CreditState;
};
