import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playEpisode } from '../../src/env/play.ts';
import { type Strategy, uniformStrategy } from '../../src/eval/exploitability.ts';
import {
  bestAnswer,
  gamePositions,
  positionExploitability,
  positionValue,
} from '../../src/eval/positions.ts';
import { type TicTacToeState, ticTacToeGame, world } from './index.ts';
import { values } from './values.ts';

const game = ticTacToeGame(0);
const rng = Rng.of('unused');

/** Rules of its own, with the marks of each side as bits: what the game is checked against. */
const ROWS = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];
const has = (marks: number): boolean => ROWS.some((row) => (marks & row) === row);
const FREE = (mover: number, other: number): number[] =>
  [...Array(9).keys()].filter((cell) => (((mover | other) >> cell) & 1) === 0);

interface Count {
  readonly games: number;
  readonly first: number;
  readonly second: number;
  readonly chances: readonly [number, number];
}

/** Games from here; how many each side wins; and how likely each wins where both choose uniformly. */
const counted = new Map<string, Count>();
function count(mover: number, other: number, turn: number): Count {
  const key = `${mover},${other}`;
  const known = counted.get(key);
  if (known) return known;
  const result = ((): Count => {
    if (has(other)) {
      const byFirst = turn % 2 === 1;
      return {
        games: 1,
        first: byFirst ? 1 : 0,
        second: byFirst ? 0 : 1,
        chances: byFirst ? [1, 0] : [0, 1],
      };
    }
    const cells = FREE(mover, other);
    if (cells.length === 0) return { games: 1, first: 0, second: 0, chances: [0, 0] };
    const next = cells.map((cell) => count(other, mover | (1 << cell), turn + 1));
    const sum = (of: (one: Count) => number): number => next.reduce((total, one) => total + of(one), 0);
    return {
      games: sum((one) => one.games),
      first: sum((one) => one.first),
      second: sum((one) => one.second),
      chances: [sum((one) => one.chances[0]) / cells.length, sum((one) => one.chances[1]) / cells.length],
    };
  })();
  counted.set(key, result);
  return result;
}

/** What the first side wins where `best` plays well and the other side chooses uniformly. */
const found = new Map<string, number>();
function worth(mover: number, other: number, turn: number, best: Best): number {
  const key = `${best},${mover},${other}`;
  const value = found.get(key) ?? search(mover, other, turn, best);
  found.set(key, value);
  return value;
}

type Best = 'first' | 'second' | 'both' | 'neither';
function search(mover: number, other: number, turn: number, best: Best): number {
  if (has(other)) return turn % 2 === 1 ? 1 : -1;
  const cells = FREE(mover, other);
  if (cells.length === 0) return 0;
  const next = cells.map((cell) => worth(other, mover | (1 << cell), turn + 1, best));
  const role = turn % 2 === 0 ? 'first' : 'second';
  if (best !== 'both' && best !== role) return next.reduce((a, b) => a + b, 0) / next.length;
  return role === 'first' ? Math.max(...next) : Math.min(...next);
}

/** Positions with a row, or without a free cell. */
const ENDED = 958;

/** The key under which the environment knows a position. */
const keyOf = (mover: number, other: number, turn: number): string =>
  `${turn % 2 === 0 ? 'first' : 'second'}: ${[...Array(9).keys()]
    .map((cell) => `${cell}:${(mover >> cell) & 1 ? 'me' : (other >> cell) & 1 ? 'foe' : 'free'}`)
    .join(' ')}`;

/** Whether an action keeps the value of the position of a key. */
function keeps(key: string, action: string): boolean {
  const marks = (who: string): number =>
    [...key.matchAll(/(\d):(\w+)/g)].reduce(
      (sum, [, cell, has]) => sum | (has === who ? 1 << Number(cell) : 0),
      0,
    );
  const [mover, other] = [marks('me'), marks('foe')];
  const turn = key.startsWith('first') ? 0 : 1;
  return worth(other, mover | (1 << Number(action)), turn + 1, 'both') === worth(mover, other, turn, 'both');
}

/** What the first side wins where one side answers a strategy as well as it can. */
function answers(strategy: Strategy): (best: 'first' | 'second') => number {
  const solve = (mover: number, other: number, turn: number, best: 'first' | 'second'): number => {
    const key = `${best}${mover},${other}`;
    const before = seen.get(key);
    if (before !== undefined) return before;
    const cells = has(other) ? [] : FREE(mover, other);
    const next = cells.map((cell) => solve(other, mover | (1 << cell), turn + 1, best));
    const isFirst = turn % 2 === 0;
    let value = has(other) ? (isFirst ? -1 : 1) : 0;
    if (next.length > 0 && (best === 'first') === isFirst)
      value = isFirst ? Math.max(...next) : Math.min(...next);
    else if (next.length > 0) {
      const weights = cells.map((cell) => strategy[keyOf(mover, other, turn)]![cell]!);
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      value = next.reduce((sum, one, index) => sum + (one * weights[index]!) / total, 0);
    }
    seen.set(key, value);
    return value;
  };
  const seen = new Map<string, number>();
  return (best) => solve(0, 0, 0, best);
}

describe('oracles, by rules of their own', () => {
  test('255168 games, 5478 positions, and what uniform play wins', () => {
    const all = count(0, 0, 0);
    expect(all).toMatchObject({ games: 255_168, first: 131_184, second: 77_904 });
    expect(all.games - all.first - all.second).toBe(46_080);
    expect(counted.size).toBe(5478);
    expect(all.chances[0]).toBeCloseTo(737 / 1260, 12);
    expect(all.chances[1]).toBeCloseTo(121 / 420, 12);
    expect(1 - all.chances[0] - all.chances[1]).toBeCloseTo(8 / 63, 12);
  });

  test('the game is drawn; best responses to uniform play win 191/192 and 874/945', () => {
    expect(worth(0, 0, 0, 'both')).toBe(0);
    expect(worth(0, 0, 0, 'first')).toBeCloseTo(191 / 192, 12);
    expect(worth(0, 0, 0, 'second')).toBeCloseTo(-874 / 945, 12);
    expect(values([])).toBe(0);
  });

  test('the environment has the same positions, the same ends and the same values', () => {
    const seen = new Set<string>();
    const differences: TicTacToeState[] = [];
    const visit = (state: TicTacToeState): void => {
      const bits = [0, 1].map((seat) =>
        state.taken.filter((_, turn) => turn % 2 === seat).reduce((sum, cell) => sum | (1 << cell), 0),
      );
      const turn = state.taken.length;
      const [mover, other] = [bits[turn % 2]!, bits[1 - (turn % 2)]!];
      if (seen.has(`${mover},${other}`)) return;
      seen.add(`${mover},${other}`);
      const cells = has(other) || turn === 9 ? [] : FREE(mover, other);
      const same =
        (game.toMove(state) === undefined) === (cells.length === 0) &&
        values(state.taken) === worth(mover, other, turn, 'both') &&
        game.actions!(state, '').join() === cells.join();
      if (!same) differences.push(state);
      for (const cell of cells) {
        const { state: next, rewards } = game.step(state, game.toMove(state)!, String(cell), rng);
        const won = has(mover | (1 << cell)) ? (turn % 2 === 0 ? 1 : -1) : 0;
        if (rewards.first !== won || rewards.second !== 0 - won) differences.push(next);
        visit(next);
      }
    };
    visit(game.start([], rng));
    expect(seen.size).toBe(5478);
    expect(differences).toEqual([]);
  });
});

describe('exploitability of strategies that read the board', () => {
  const graph = gamePositions(game);

  test('is that of rules of its own: uniform play, and play that keeps every value', () => {
    expect(graph.informationSets).toHaveLength(5478 - ENDED);
    const uniform = uniformStrategy(graph);
    expect(positionValue(graph, uniform)).toBeCloseTo(worth(0, 0, 0, 'neither'), 12);
    expect(bestAnswer(graph, uniform, 'first')).toBeCloseTo(191 / 192, 12);
    expect(bestAnswer(graph, uniform, 'second')).toBeCloseTo(874 / 945, 12);
    expect(positionExploitability(graph, uniform)).toBeCloseTo((191 / 192 + 874 / 945) / 2, 12);
    const perfect = Object.fromEntries(
      graph.informationSets.map(({ key, actions }) => [
        key,
        Object.fromEntries(actions.map((action) => [action, keeps(key, action) ? 1 : 0])),
      ]),
    );
    expect(positionExploitability(graph, perfect)).toBe(0);
    expect(positionValue(graph, perfect)).toBe(0);
  });

  test('of any strategy at all: two solvers agree', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const random = Object.fromEntries(
          graph.informationSets.map(({ key, actions }) => [
            key,
            Object.fromEntries(actions.map((action) => [action, 0.05 + Rng.of(seed, key, action).next()])),
          ]),
        );
        const against = answers(random);
        expect(bestAnswer(graph, random, 'first')).toBeCloseTo(against('first'), 12);
        expect(bestAnswer(graph, random, 'second')).toBeCloseTo(-against('second'), 12);
      }),
      { numRuns: 5 },
    );
  });
});

describe('world', () => {
  const plain = world.create(world.options.parse({ opening: 0 }));

  test('experts draw with each other, and never lose to a random player', async () => {
    for (let seed = 0; seed < 40; seed++) {
      expect((await playEpisode(plain, [], seed, 'expert')).outcome).toBe(0);
      const choose = async (of: Parameters<NonNullable<typeof plain.script>>[0], chance: Rng, role: string) =>
        (await plain.script!(of, of.toMove() === role ? 'expert' : 'random', chance))!;
      const asFirst = await playEpisode(plain, [], seed, (of, chance) => choose(of, chance, 'first'));
      const asSecond = await playEpisode(plain, [], seed, (of, chance) => choose(of, chance, 'second'));
      expect(asFirst.outcome).toBeGreaterThanOrEqual(0);
      expect(asSecond.outcome).toBeLessThanOrEqual(0);
    }
  });

  test('72 openings, each in one split', () => {
    const whole = ticTacToeGame(2);
    const all = (['train', 'validation', 'test'] as const).flatMap((split) => {
      const { size, at } = whole.tasks(split);
      return Array.from({ length: size }, (_, index) => at(index).join());
    });
    expect(all).toHaveLength(72);
    expect(new Set(all).size).toBe(72);
  });

  test('an illegal action loses, and both wordings say so', async () => {
    for (const wording of ['compact', 'natural'] as const) {
      const session = await world.create({ opening: 0, wording }).open([], Rng.of(0));
      const { signal } = new AbortController();
      await session.step('4', signal);
      expect(await session.step('4', signal)).toMatchObject({
        valid: false,
        done: true,
        rewards: { first: 1 },
      });
      expect(session.observe('second')).toEqual([
        {
          role: 'user',
          content: wording === 'compact' ? 'illegal lost' : 'That was no free cell. You have lost.',
        },
      ]);
    }
  });

  test('it is read in nine words, or in sentences', async () => {
    const session = await plain.open([4, 0], Rng.of(0));
    expect(session.observe('first')[0]!.content).toBe(
      '0:foe 1:free 2:free 3:free 4:me 5:free 6:free 7:free 8:free',
    );
    const natural = await world.create({ opening: 2, wording: 'natural' }).open([4, 0], Rng.of(0));
    expect(natural.observe('first').at(-1)!.content).toBe('You are o. The board is x 1 2 / 3 o 5 / 6 7 8.');
  });
});
