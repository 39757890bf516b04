import { expect, test } from 'vitest';
import { kuhnPokerGame } from '../../envs/kuhn-poker/game.ts';
import { defineGame } from '../env/game.ts';
import { isZeroSum } from './zero-sum.ts';

/** Two roles say a number in turn; `pays` decides what they earn for them. */
const numbers = (pays: (said: readonly number[]) => readonly [number, number]) =>
  defineGame<number, number[]>({
    name: 'numbers',
    description: 'Two numbers.',
    roles: ['first', 'second'],
    maxTurns: 1,
    tasks: () => ({ size: Number.POSITIVE_INFINITY, at: (index) => index }),
    start: () => [],
    toMove: (said) => ['first', 'second'][said.length],
    observe: () => [],
    anchor: (said) => said.join(),
    actions: () => ['0', '1'],
    step: (before, _role, action) => {
      const state = [...before, Number(action)];
      const done = state.length === 2;
      const [first, second] = done ? pays(state) : [0, 0];
      return { state, rewards: { first, second }, done, valid: true };
    },
  });

test('poker is zero-sum; a shared reward, one that sometimes fails to cancel, and no reward at all are not', () => {
  expect(isZeroSum(kuhnPokerGame())).toBe(true);
  expect(isZeroSum(numbers(([a, b]) => [a! - b!, b! - a!]))).toBe(true);
  expect(isZeroSum(numbers(([a, b]) => [a! + b!, a! + b!]))).toBe(false);
  expect(isZeroSum(numbers(([a, b]) => (a === 1 && b === 1 ? [1, 1] : [1, -1])))).toBe(false);
  expect(isZeroSum(numbers(() => [0, 0]))).toBe(false);
});

test('a game that lists no actions is not played', () => {
  const { actions: _, ...silent } = numbers(([a]) => [a!, -a!]);
  expect(isZeroSum(silent)).toBe(false);
});
