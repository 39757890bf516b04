import { expect, test } from 'vitest';
import type { CreditTrajectory } from '../../report/rollouts.ts';
import { expectClose, run } from '../../testing/batches.test-helper.ts';

const turn = (teacherGaps: readonly number[], tokens = teacherGaps.length) => ({
  reward: 0,
  anchor: '',
  tokens,
  teacherGaps,
});
const trajectory = (id: string, outcome: number, turns: CreditTrajectory['turns']): CreditTrajectory => ({
  groupId: 'g',
  role: 'agent',
  id,
  outcome,
  turns,
});
const batch = [
  trajectory('a', 1, [turn([0.5, -1]), turn([2])]),
  trajectory('b', 0, [turn([]), turn([-0.25])]),
];
const tokens = (options: object): number[][] =>
  run('teacher-kl', batch, options).map(({ tokenAdvantages_T }) => [...tokenAdvantages_T!]);

test('by itself each token is paid what the teacher finds it likelier', () => {
  expect(tokens({})).toEqual([[-0.5, 1, -2], [0.25]]);
  expect(run('teacher-kl', batch, {})[0]!.turnAdvantages_K).toEqual([0.25, -2]);
});

test('with γ = 1 it answers for all that comes after it, over the turns of its episode', () => {
  expectClose(tokens({ gamma: 1, coefficient: 2 })[0]!, [-3, -2, -4]);
  expectClose(tokens({ gamma: 0.5 })[0]!, [-0.5 + 0.5 * (1 - 0.5 * 2), 1 - 0.5 * 2, -2]);
});

test('the outcome is compared within the group, beside it', () => {
  expectClose(tokens({ coefficient: 0, outcome: 3 }).flat(), [3, 3, 3, -3]);
  expectClose(tokens({ outcome: 1 }).flat(), [0.5, 2, -1, -0.75]);
});

test('a turn without a number for each of its tokens is refused', () => {
  const short = trajectory('c', 0, [turn([0.5], 2)]);
  expect(() => run('teacher-kl', [short], {})).toThrow('teacher-kl needs turns[0].teacherGaps');
});
