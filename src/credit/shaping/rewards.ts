/** Changing the rewards of a trajectory so that its outcome and its turn rewards go on telling the same story. */

import { turnRewards } from '../kit/columns.ts';
import type { CreditTrajectory } from '../report/rollouts.ts';

/** Other rewards for its turns; the outcome moves by as much as their sum. */
export function withTurnRewards(
  trajectory: CreditTrajectory,
  rewards_K: readonly number[],
): CreditTrajectory {
  const before = turnRewards(trajectory);
  let moved = 0;
  for (const [k, reward] of rewards_K.entries()) moved += reward - before[k]!;
  return {
    ...trajectory,
    outcome: trajectory.outcome + moved,
    turns: trajectory.turns.map((turn, k) =>
      turn.reward === rewards_K[k] ? turn : { ...turn, reward: rewards_K[k]! },
    ),
  };
}

/** These rewards and nothing else: the outcome is their sum. */
export function withOnlyRewards(
  trajectory: CreditTrajectory,
  rewards_K: readonly number[],
): CreditTrajectory {
  const outcome = rewards_K.reduce((sum, reward) => sum + reward, 0);
  return { ...withTurnRewards(trajectory, rewards_K), outcome };
}

/** Something more for the whole trajectory; it is a reward of the last turn. */
export function withBonus(trajectory: CreditTrajectory, bonus: number): CreditTrajectory {
  if (bonus === 0) return trajectory;
  const { turns, outcome } = trajectory;
  const last = turnRewards(trajectory).at(-1);
  if (last === undefined) return { ...trajectory, outcome: outcome + bonus };
  return {
    ...trajectory,
    outcome: outcome + bonus,
    turns: [...turns.slice(0, -1), { ...turns.at(-1)!, reward: last + bonus }],
  };
}

/** Every reward times a factor. */
export function withFactor(trajectory: CreditTrajectory, factor: number): CreditTrajectory {
  if (factor === 1) return trajectory;
  return {
    ...trajectory,
    outcome: trajectory.outcome * factor,
    turns: trajectory.turns.map((turn) => ({ ...turn, reward: turn.reward * factor })),
  };
}

/** Nothing but this outcome, as the reward of the last turn. */
export function withOutcome(trajectory: CreditTrajectory, outcome: number): CreditTrajectory {
  const last = trajectory.turns.length - 1;
  return {
    ...trajectory,
    outcome,
    turns: trajectory.turns.map((turn, k) => ({ ...turn, reward: k === last ? outcome : 0 })),
  };
}

/** Whether the task was solved: what the environment said, else whether the outcome is above 0. */
export function isSuccess({ success, outcome }: CreditTrajectory): boolean {
  return success ?? outcome > 0;
}

/** The attempts that turns belong to. Where no turn of all of them says so, every turn is one. */
export function attemptsIn(
  trajectories: readonly CreditTrajectory[],
): (trajectory: CreditTrajectory) => readonly number[] {
  const isTold = trajectories.some(({ turns }) => turns.some(({ attempt }) => attempt !== undefined));
  return ({ turns }) => turns.map(({ attempt = 0 }, k) => (isTold ? attempt : k));
}
