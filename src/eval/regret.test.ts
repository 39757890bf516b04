import { expect, test } from 'vitest';
import { kuhnPokerGame } from '../../envs/kuhn-poker/game.ts';
import { exploitability, gameTree, gameValue } from './exploitability.ts';
import { regretMinimisation } from './regret.ts';

const tree = gameTree(kuhnPokerGame());

test('more iterations come closer to the equilibrium of Kuhn poker, whose value is -1/18', () => {
  const left = [10, 100, 1000].map((iterations) =>
    exploitability(tree, regretMinimisation(tree, iterations)),
  );
  expect(left[1]).toBeLessThan(left[0]! / 4);
  expect(left[2]).toBeLessThan(left[1]! / 4);
  expect(left[2]).toBeLessThan(1e-3);
  expect(gameValue(tree, regretMinimisation(tree, 1000))).toBeCloseTo(-1 / 18, 3);
});

test('without iterations every action is as good as another', () => {
  expect(regretMinimisation(tree, 0)['first: card:J history:none']).toEqual({ check: 1, bet: 1 });
});

test('trees that are too large are refused', () => {
  expect(() => gameTree(kuhnPokerGame(), 'test', 20)).toThrow('more than 20 positions');
});
