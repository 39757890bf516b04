/**
 * The numbers of all turns of a batch that most methods read, side by side. The turns themselves lie all over memory, and
 * reading every one of a large batch again takes as long as the arithmetic of a method.
 */

import type { CreditTrajectory, CreditTurn } from '../report/rollouts.ts';

export interface Columns {
  /** Where each trajectory's turns begin, and, last, how many there are. */
  readonly starts: Int32Array;
  /** Of each turn, how many tokens the policy sampled. */
  readonly tokens: Int32Array;
  /** Of each turn, as `turnRewards` has it. */
  readonly rewards: Float64Array;
}

const kept = new WeakMap<readonly CreditTrajectory[], Columns>();

/** Reads the columns once for all that `work` asks of this batch. `visit` sees each trajectory just before its turns are read. */
export function withColumns<Result>(
  trajectories: readonly CreditTrajectory[],
  visit: (trajectory: CreditTrajectory) => void,
  work: () => Result,
): Result {
  kept.set(trajectories, readColumns(trajectories, visit));
  try {
    return work();
  } finally {
    kept.delete(trajectories);
  }
}

/** The columns of a batch. They are shared: whoever writes takes a copy. */
export function columnsOf(trajectories: readonly CreditTrajectory[]): Columns {
  return kept.get(trajectories) ?? readColumns(trajectories, () => {});
}

function readColumns(
  trajectories: readonly CreditTrajectory[],
  visit: (trajectory: CreditTrajectory) => void,
): Columns {
  const starts = new Int32Array(trajectories.length + 1);
  for (let index = 0; index < trajectories.length; index++)
    starts[index + 1] = starts[index]! + trajectories[index]!.turns.length;
  const tokens = new Int32Array(starts[trajectories.length]!);
  const rewards = new Float64Array(tokens.length);
  for (let index = 0; index < trajectories.length; index++) {
    const trajectory = trajectories[index]!;
    visit(trajectory);
    const start = starts[index]!;
    const { turns } = trajectory;
    for (let k = 0; k < turns.length; k++) {
      tokens[start + k] = turns[k]!.tokens;
      rewards[start + k] = turns[k]!.reward;
    }
    if (turns.length > 0 && areAllZero(turns)) rewards[starts[index + 1]! - 1] = trajectory.outcome;
  }
  return { starts, tokens, rewards };
}

/** One reward per turn. Where all are zero and the outcome is not, the outcome is the reward of the last turn. */
export function turnRewards({ turns, outcome }: CreditTrajectory): number[] {
  const rewards_K = turns.map(({ reward }) => reward);
  if (turns.length > 0 && areAllZero(turns)) rewards_K[turns.length - 1] = outcome;
  return rewards_K;
}

function areAllZero(turns: readonly CreditTurn[]): boolean {
  for (let k = 0; k < turns.length; k++) if (turns[k]!.reward !== 0) return false;
  return true;
}
