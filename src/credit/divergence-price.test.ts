/** A price of divergence that is paid in rewards must reach the advantages, or be refused. */

import { describe, expect, test } from 'vitest';
import { creditMethods } from './methods.ts';
import type { CreditTrajectory, CreditTurn } from './report/rollouts.ts';
import { findRewardShaping, rewardShapings } from './shaping/shapings.ts';

const turn = (reward: number, own: Partial<CreditTurn> = {}): CreditTurn => ({
  reward,
  tokens: 2,
  anchor: 'room',
  valid: true,
  value: 0.1,
  values: [0.1, 0.2],
  entropies: [0.4, 0.5],
  answerProbability: 0.5,
  answer: 'blue',
  labelCorrect: true,
  calls: [{ name: 'open', arguments: { door: 1 } }],
  ...own,
});

const episode = (
  id: string,
  rewards: readonly number[],
  own: Partial<CreditTurn> = {},
): CreditTrajectory => ({
  id,
  groupId: 'task',
  role: 'agent',
  outcome: rewards.reduce((sum, reward) => sum + reward, 0),
  success: rewards.at(-1)! > 0,
  wellFormed: true,
  entityShare: 0.5,
  goldenCalls: [{ name: 'open', arguments: { door: 1 } }],
  mode: 'instant',
  turns: rewards.map((reward) => turn(reward, own)),
});

/** Three episodes of a task, two of which succeed; where levels are given, they have those as dense rewards too. */
const played = (own: Partial<CreditTurn>): readonly CreditTrajectory[] => [
  episode('a', [0, 0, 1], own),
  episode('b', [0, 0, 0], own),
  episode('c', [0, 0.5, 1], own),
];

/** What training adds to the reward of a turn, and so to the outcome. */
function pay(
  trajectories: readonly CreditTrajectory[],
  of: number,
  at: number,
  price: number,
): readonly CreditTrajectory[] {
  return trajectories.map((trajectory, index) =>
    index !== of
      ? trajectory
      : {
          ...trajectory,
          outcome: trajectory.outcome - price,
          turns: trajectory.turns.map((one, k) => (k === at ? { ...one, reward: one.reward - price } : one)),
        },
  );
}

type Advantages = (trajectories: readonly CreditTrajectory[]) => number[];

/** Whether each turn's price lowers what the trajectory that paid it gets, in sum. */
function arrives(advantages: Advantages, own: Partial<CreditTurn>): boolean[] {
  const given = played(own);
  const before = advantages(given);
  return given.flatMap((_, of) =>
    [0, 1, 2].map((at) => advantages(pay(given, of, at, 1e-3))[of]! < before[of]! - 1e-7),
  );
}

const sumOf = (numbers: ArrayLike<number>): number => Array.from(numbers).reduce((sum, one) => sum + one, 0);

describe.each(creditMethods.filter(({ ownRewards }) => !ownRewards))('$name', ({ create }) => {
  const advantages: Advantages = (trajectories) =>
    create()
      .credit(trajectories, {})
      .credits.map(({ tokenAdvantages_T, turnAdvantages_K }) => sumOf(tokenAdvantages_T ?? turnAdvantages_K));

  test.each([{}, { dense: [0.1] }])('credits what each turn pays for divergence, with %o', (own) => {
    expect(arrives(advantages, own)).not.toContain(false);
  });
});

test.each(rewardShapings.filter(({ ownRewards }) => !ownRewards))(
  '$name keeps what each turn pays for divergence',
  ({ name, create }) => {
    const { shape } = create();
    const outcomes: Advantages = (trajectories) =>
      shape(trajectories, {}).trajectories.map(({ outcome }) => outcome);
    const rewards: Advantages = (trajectories) =>
      shape(trajectories, {}).trajectories.map(({ turns }) => sumOf(turns.map(({ reward }) => reward)));
    const own = name === 'dense' ? { dense: [0.1] } : {};
    expect(arrives(outcomes, own)).not.toContain(false);
    expect(arrives(rewards, own)).not.toContain(false);
  },
);

test('those that make rewards of their own say so: training refuses a price in rewards for them (prepare-run.test.ts)', () => {
  const own = [...creditMethods, ...rewardShapings].filter(({ ownRewards }) => ownRewards);
  expect(own.map(({ name }) => name)).toEqual([
    ...['igpo', 'matchtir', 'spa-rl', 'g-ra', 'e-grpo', 'malt', 'teacher-kl'],
    ...['ufo', 'score', 'mind', 'any-horizon', 'g-ra', 'e-grpo', 'spa-rl'],
  ]);
});

test('a price of divergence would shut the gate of g-ra: 0.001 costs all that the turns earned', () => {
  const gated: Advantages = (trajectories) =>
    findRewardShaping('g-ra')
      .create()
      .shape(trajectories, {})
      .trajectories.map(({ outcome }) => outcome);
  const levels = played({ dense: [0.1] });
  const [, before] = gated(levels);
  const [, after] = gated(pay(levels, 1, 0, 1e-3));
  expect(before! - after!).toBeCloseTo(0.3 + 1e-3);
});
