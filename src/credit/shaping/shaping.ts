/** A reward shaping: trajectories in, the same trajectories with other rewards out, before any credit method sees them. */

import type { z } from 'zod';
import { parseStrict } from '../../core/parse-strict.ts';
import { turnRewards } from '../columns.ts';
import type { Description } from '../method.ts';
import type { Credit, CreditState, CreditTrajectory } from '../rollouts.ts';

/** Pure apart from the state it is given. Result order equals input order. */
export type Shape = (
  trajectories: readonly CreditTrajectory[],
  state: CreditState,
) => { readonly trajectories: readonly CreditTrajectory[]; readonly state: CreditState };

export interface RewardShaping extends Description {
  /** Strict, with a default and a description for every field. */
  readonly options: z.ZodType<object>;
  /** The shaping with these settings, and the settings with defaults filled in. Refuses unknown or invalid ones. */
  create(options?: unknown): { readonly shape: Shape; readonly options: object };
}

export function rewardShaping<Options extends object>(
  description: Description,
  schema: z.ZodType<Options>,
  make: (options: Options) => Shape,
): RewardShaping {
  return {
    ...description,
    options: schema,
    create(given = {}) {
      const options = parseStrict(schema, given, `Reward shaping "${description.name}"`);
      return { shape: make(options), options };
    },
  };
}

/** A shaping that looks at one trajectory at a time and remembers nothing. */
export function each(change: (trajectory: CreditTrajectory) => CreditTrajectory): Shape {
  return (trajectories, state) => ({ trajectories: trajectories.map(change), state });
}

/** The method on shaped rewards; the credits say what these were. */
export function shapedCredit(shape: Shape, credit: Credit): Credit {
  return (trajectories, state) => {
    const shaped = shape(trajectories, state);
    const result = credit(shaped.trajectories, shaped.state);
    const credits = result.credits.map((given, index) => {
      // A method that shapes rewards itself says more than what it was given.
      if (given.shaped) return given;
      const trajectory = shaped.trajectories[index]!;
      return { ...given, shaped: { outcome: trajectory.outcome, rewards_K: turnRewards(trajectory) } };
    });
    return { credits, state: result.state };
  };
}

/** A method that reads nothing but outcomes, on other outcomes; the credits say what these were. */
export function outcomeCredit(
  outcomesOf: (trajectories: readonly CreditTrajectory[]) => readonly number[],
  credit: Credit,
): Credit {
  return (trajectories, state) => {
    const outcomes = outcomesOf(trajectories);
    const result = credit(
      trajectories.map((trajectory, index) => ({ ...trajectory, outcome: outcomes[index]! })),
      state,
    );
    const credits = result.credits.map((given, index) => {
      const rewards_K = new Array<number>(given.turnAdvantages_K.length).fill(0);
      if (rewards_K.length > 0) rewards_K[rewards_K.length - 1] = outcomes[index]!;
      return { ...given, shaped: { outcome: outcomes[index]!, rewards_K } };
    });
    return { credits, state: result.state };
  };
}
