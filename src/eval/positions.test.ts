import { expect, test } from 'vitest';
import { kuhnPokerGame } from '../../envs/kuhn-poker/game.ts';
import { ticTacToeGame } from '../../envs/tictactoe/index.ts';
import { user } from '../core/messages.ts';
import { defineGame, type Game } from '../env/game.ts';
import { bestResponse, exploitability, gameTree, gameValue, type Strategy } from './exploitability.ts';
import { bestAnswer, gamePositions, positionExploitability, positionValue } from './positions.ts';

/** Take one or two of five; whoever takes the last wins. A position is reached on several ways. */
const nim = defineGame<number, { left: number; turn: number }>({
  name: 'nim',
  description: '',
  roles: ['first', 'second'],
  maxTurns: 5,
  tasks: () => ({ size: 1, at: () => 5 }),
  start: (left) => ({ left, turn: 0 }),
  toMove: ({ left, turn }) => (left === 0 ? undefined : turn === 0 ? 'first' : 'second'),
  observe: ({ left }) => [user(`left:${left}`)],
  step: ({ left, turn }, _role, action) => {
    const next = { left: left - Number(action), turn: 1 - turn };
    const won = next.left > 0 ? 0 : turn === 0 ? 1 : -1;
    return { state: next, rewards: { first: won, second: -won }, done: next.left === 0, valid: true };
  },
  anchor: ({ left }) => `left:${left}`,
  actions: ({ left }) => (left > 1 ? ['1', '2'] : ['1']),
});

test('over positions as over histories', () => {
  const graph = gamePositions(nim);
  expect(graph.informationSets.map(({ key }) => key).sort()).toEqual([
    ...['first: left:1', 'first: left:2', 'first: left:3', 'first: left:5'],
    ...['second: left:1', 'second: left:2', 'second: left:3', 'second: left:4'],
  ]);
  // Every history of its own: what gameTree wants of an anchor.
  const recalled: Game<number, { left: number; turn: number; past: string }> = {
    ...{ name: nim.name, description: '', roles: nim.roles, maxTurns: 5, tasks: nim.tasks },
    ...{ toMove: nim.toMove, observe: nim.observe, actions: nim.actions! },
    start: (left) => ({ left, turn: 0, past: '' }),
    step: (state, role, action, rng) => {
      const step = nim.step(state, role, action, rng);
      return { ...step, state: { ...step.state, past: `${state.past}${action}` } };
    },
    anchor: ({ left, past }) => `left:${left} past:${past}`,
  };
  const tree = gameTree(recalled);
  const mixed = (sets: typeof graph.informationSets): Strategy =>
    Object.fromEntries(
      sets.map(({ key, actions }) => {
        const left = Number(/left:(\d)/.exec(key)![1]);
        return [key, Object.fromEntries(actions.map((action) => [action, left + Number(action)]))];
      }),
    );
  const [a, b] = [mixed(graph.informationSets), mixed(tree.informationSets)];
  expect(positionValue(graph, a)).toBeCloseTo(gameValue(tree, b), 12);
  expect(bestAnswer(graph, a, 'first')).toBeCloseTo(bestResponse(tree, b, 'first').value, 12);
  expect(bestAnswer(graph, a, 'second')).toBeCloseTo(bestResponse(tree, b, 'second').value, 12);
  expect(positionExploitability(graph, a)).toBeCloseTo(exploitability(tree, b), 12);
  // Five is won by taking two, and then by leaving three.
  expect(bestAnswer(graph, a, 'first')).toBe(1);
});

test('what is hidden, endless or too large is refused', () => {
  expect(() => gamePositions(kuhnPokerGame())).toThrow('positions that are one');
  expect(() => gamePositions(ticTacToeGame(0), 'test', 100)).toThrow('more than 100 positions');
  const endless = { ...nim, tasks: () => ({ size: Number.POSITIVE_INFINITY, at: () => 5 }) };
  expect(() => gamePositions(endless)).toThrow('endless tasks');
});
