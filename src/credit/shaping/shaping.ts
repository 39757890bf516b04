/** A reward shaping: trajectories in, the same trajectories with other rewards out, before any credit method sees them. */

import type { z } from 'zod';
import { badDefinition, callDefinition, subjectOf } from '../../core/definition.ts';
import { parseStrict } from '../../core/json/parse-strict.ts';
import { checkCount, checkState } from '../contract/checked.ts';
import { type Described, type Description, described } from '../contract/method.ts';
import { turnRewards } from '../kit/columns.ts';
import type { Credit, CreditState, CreditTrajectory } from '../report/rollouts.ts';

/** Pure apart from the state it is given. Result order equals input order. */
export type Shape = (
  trajectories: readonly CreditTrajectory[],
  state: CreditState,
) => { readonly trajectories: readonly CreditTrajectory[]; readonly state: CreditState };

export interface RewardShaping extends Description {
  readonly kind: 'reward-shaping';
  /** Whether it looks at whole steps with these options, as `wholeSteps` says it of all. */
  wholeStepsIf?(options: object): boolean;
  /** Strict, with a default and a description for every field. */
  readonly options: z.ZodType<object>;
  /**
   * The shaping with these settings, and the settings with defaults filled in. Refuses unknown or invalid ones. `subject` is
   * what messages call it.
   */
  create(options?: unknown, subject?: string): { readonly shape: Shape; readonly options: object };
}

/**
 * Define a reward shaping: what rewards are before a credit method sees them.
 *
 * @param description a name and one line for people; `ownRewards: true` where it replaces the rewards that it is given
 * @param schema strict, with a default and a description for every option
 * @param make makes the shaping of its options. It returns the trajectories in their order, with other rewards and outcomes
 *
 * @example
 * export const hurry = defineShaping(
 *   { name: 'hurry', summary: 'every turn costs' },
 *   z.strictObject({ cost: z.number().min(0).default(0.01).describe('Price of a turn') }),
 *   ({ cost }) => (trajectories, state) => ({
 *     trajectories: trajectories.map((trajectory) => ({
 *       ...trajectory,
 *       outcome: trajectory.outcome - cost * trajectory.turns.length,
 *       turns: trajectory.turns.map((turn) => ({ ...turn, reward: turn.reward - cost })),
 *     })),
 *     state,
 *   }),
 * );
 *
 * Use it with `--set 'credit.shape={"./hurry.ts":{}}'`, or in code with
 * `settings: { credit: { shape: new Map([[hurry, { cost: 0.02 }]]) } }`.
 *
 * @throws TurnwiseError when it is used: `definition-invalid`, `definition-failed`
 */
export function defineShaping<Options extends object>(
  description: Omit<Described<RewardShaping>, 'wholeStepsIf'> & { wholeStepsIf?(options: Options): boolean },
  schema: z.ZodType<Options>,
  make: (options: Options) => Shape,
): RewardShaping {
  return {
    ...described(description),
    kind: 'reward-shaping',
    options: schema,
    create(given = {}, subject = subjectOf('reward-shaping', description.name)) {
      const options = parseStrict(schema, given, subject);
      return {
        shape: checkedShape(
          callDefinition(subject, () => make(options)),
          subject,
        ),
        options,
      };
    },
  };
}

/** The same shaping, refusing results that do not fit the trajectories. */
function checkedShape(shape: Shape, subject: string): Shape {
  return (trajectories, state) => {
    const result = callDefinition(subject, () => shape(trajectories, state));
    checkState(subject, result?.state);
    checkCount(subject, 'trajectories', result.trajectories, trajectories.length);
    for (const [index, { id, turns }] of trajectories.entries()) {
      const shaped = result.trajectories[index]!;
      const fits = shaped?.id === id && shaped.turns?.length === turns.length;
      if (!fits) {
        throw badDefinition(
          subject,
          `must return trajectory "${id}" in its place, with all of its turns`,
          shaped?.id === id ? `${shaped.turns?.length} turns` : shaped?.id,
          `id "${id}" and ${turns.length} turns`,
        );
      }
      const bad = [shaped.outcome, ...shaped.turns.map(({ reward }) => reward)].find(
        (n) => !Number.isFinite(n),
      );
      if (bad === undefined) continue;
      throw badDefinition(
        subject,
        `made a reward of trajectory "${id}" that is not finite`,
        bad,
        'finite numbers',
      );
    }
    return result;
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
