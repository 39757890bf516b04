import { describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { measurePlayer, playEpisode } from '../../src/env/play.ts';
import {
  bestResponse,
  exploitability,
  gameTree,
  gameValue,
  uniformStrategy,
} from '../../src/eval/exploitability.ts';
import { regretMinimisation } from '../../src/eval/regret.ts';
import { chanceOf, liarsDiceGame, world } from './index.ts';

/**
 * A solver of its own for one die each: both seats' chances as vectors over their die, payoffs by the bid. A strategy is a
 * matrix of die and action for each sequence of bids.
 */
function independentBounds(faces: number, iterations: number): readonly [low: number, high: number] {
  interface Spot {
    readonly last: readonly [number, number] | undefined;
    readonly seat: number;
    readonly next: Spot[];
    readonly regrets: number[][];
    readonly sums: number[][];
  }
  const dice = Array.from({ length: faces }, (_, die) => die + 1);
  const grow = (last: Spot['last'], seat: number): Spot => {
    const next: Spot[] = [];
    for (const q of [1, 2])
      for (const f of dice)
        if (last === undefined || (q >= last[0] && f >= last[1] && (q > last[0] || f > last[1])))
          next.push(grow([q, f], 1 - seat));
    const actions = next.length + (last === undefined ? 0 : 1);
    const zeros = (): number[][] => dice.map(() => new Array<number>(actions).fill(0));
    return { last, seat, next, regrets: zeros(), sums: zeros() };
  };
  const root = grow(undefined, 0);
  const matched = (weights: readonly number[]): number[] => {
    const sum = weights.reduce((a, b) => a + Math.max(0, b), 0);
    return weights.map((weight) => (sum > 0 ? Math.max(0, weight) / sum : 1 / weights.length));
  };
  const stands = ([q, f]: readonly [number, number], a: number, b: number): boolean =>
    (a === f ? 1 : 0) + (b === f ? 1 : 0) >= q;
  /** For each own die what `seat` wins, weighted by how the other's dice get here; `choose` turns values into one. */
  const values = (
    spot: Spot,
    seat: number,
    others: readonly number[],
    own: readonly number[],
    play: (spot: Spot, die: number) => number[],
    learn: ((spot: Spot, die: number, values: number[], own: number) => void) | 'best',
  ): number[] => {
    const plays = dice.map((_, die) => play(spot, die));
    const called = (): number[] =>
      dice.map((a) =>
        dice.reduce((sum, b, j) => {
          const good = stands(spot.last!, a, b);
          // The caller loses where the bid stands.
          return sum + others[j]! * (spot.seat === seat ? (good ? -1 : 1) : good ? 1 : -1);
        }, 0),
      );
    if (spot.seat !== seat) {
      const total = dice.map(() => 0);
      for (const [k, child] of spot.next.entries()) {
        const reach = others.map((weight, j) => weight * plays[j]![k]!);
        for (const [i, value] of values(child, seat, reach, own, play, learn).entries()) total[i]! += value;
      }
      if (spot.last !== undefined) {
        const k = spot.next.length;
        for (const [i, a] of dice.entries())
          for (const [j, b] of dice.entries())
            total[i]! += others[j]! * plays[j]![k]! * (stands(spot.last, a, b) ? 1 : -1);
      }
      return total;
    }
    const each = spot.next.map((child, k) =>
      values(
        child,
        seat,
        others,
        own.map((weight, i) => weight * plays[i]![k]!),
        play,
        learn,
      ),
    );
    if (spot.last !== undefined) each.push(called());
    return dice.map((_, i) => {
      const mine = each.map((value) => value[i]!);
      if (learn === 'best') return Math.max(...mine);
      learn(spot, i, mine, own[i]!);
      return mine.reduce((sum, value, k) => sum + value * plays[i]![k]!, 0);
    });
  };
  const even = dice.map(() => 1 / faces);
  const ones = dice.map(() => 1);
  const current = (spot: Spot, die: number): number[] => matched(spot.regrets[die]!);
  const average = (spot: Spot, die: number): number[] => matched(spot.sums[die]!);
  for (let round = 1; round <= iterations; round++)
    for (const seat of [0, 1])
      values(root, seat, even, ones, current, (spot, die, mine, own) => {
        const plays = current(spot, die);
        const mean = mine.reduce((sum, value, k) => sum + value * plays[k]!, 0);
        for (const [k, value] of mine.entries()) {
          spot.sums[die]![k]! += round * own * plays[k]!;
          spot.regrets[die]![k] = Math.max(0, spot.regrets[die]![k]! + value - mean);
        }
      });
  const best = (seat: number): number =>
    values(root, seat, even, ones, average, 'best').reduce((a, b) => a + b, 0) / faces;
  return [-best(1), best(0)];
}

describe('one die each', () => {
  test.each([2, 3, 4])('with %i faces, two solvers find the same value', (faces) => {
    const [low, high] = independentBounds(faces, 200);
    expect(high - low).toBeLessThan(0.01);
    const tree = gameTree(liarsDiceGame({ dice: 1, faces }));
    const strategy = regretMinimisation(tree, 200);
    expect(exploitability(tree, strategy)).toBeLessThan(0.01);
    const [least, most] = [
      -bestResponse(tree, strategy, 'second').value,
      bestResponse(tree, strategy, 'first').value,
    ];
    expect(Math.max(low, least)).toBeLessThanOrEqual(Math.min(high, most) + 1e-9);
    expect(gameValue(tree, strategy)).toBeCloseTo((low + high) / 2, 1);
  });

  test('with six faces, the expert loses next to nothing to its best opponent, and uniform play much', () => {
    // One ninth, as it happens.
    const [low, high] = independentBounds(6, 60);
    expect([low, high].map((bound) => Math.round(bound * 100) / 100)).toEqual([-0.11, -0.11]);
    const tree = gameTree(liarsDiceGame({ dice: 1, faces: 6 }));
    const strategy = regretMinimisation(tree, 50);
    expect(exploitability(tree, strategy)).toBeLessThan(0.02);
    expect(gameValue(tree, strategy)).toBeGreaterThan(low - 0.02);
    expect(gameValue(tree, strategy)).toBeLessThan(high + 0.02);
    expect(exploitability(tree, uniformStrategy(tree))).toBeGreaterThan(0.5);
  });
});

describe('rules', () => {
  test('the chance of a bid is binomial', () => {
    expect(chanceOf(1, 1, 6)).toBeCloseTo(1 / 6, 12);
    expect(chanceOf(1, 5, 6)).toBeCloseTo(1 - (5 / 6) ** 5, 12);
    expect(chanceOf(3, 5, 6)).toBeCloseTo(
      10 * (1 / 6) ** 3 * (5 / 6) ** 2 + 5 * (1 / 6) ** 4 * (5 / 6) + (1 / 6) ** 5,
      12,
    );
    expect([chanceOf(0, 3, 6), chanceOf(4, 3, 6)]).toEqual([1, 0]);
  });

  test('a bid lowers neither number and raises one', () => {
    const game = liarsDiceGame({ dice: 2, faces: 6 });
    const state = {
      dice: [
        [1, 2],
        [3, 4],
      ],
      bids: ['3x5'],
      opener: 0,
      isFirstRound: true,
    } as const;
    expect(game.actions!(state, 'second')).toEqual(['call', '3x6', '4x5', '4x6']);
    for (const action of ['3x5', '4x4', '2x6', '5x6'])
      expect(game.step(state, 'second', action, Rng.of(0))).toMatchObject({
        valid: false,
        done: true,
        rewards: { first: 1 },
      });
  });

  test('a call takes a die from whoever was wrong, who opens the next round', () => {
    const game = liarsDiceGame({ dice: 2, faces: 6 });
    const called = (bid: string) =>
      game.step(
        {
          dice: [
            [1, 2],
            [3, 5],
          ],
          bids: [bid],
          opener: 0,
          isFirstRound: true,
        },
        'second',
        'call',
        Rng.of(0),
      ).state;
    expect([called('1x3').dice.map((own) => own.length), game.toMove(called('1x3'))]).toEqual([
      [2, 1],
      'second',
    ]);
    expect([called('2x3').dice.map((own) => own.length), game.toMove(called('2x3'))]).toEqual([
      [1, 2],
      'first',
    ]);
    const last = game.step(
      { dice: [[1], [3]], bids: ['1x6'], opener: 0, isFirstRound: false },
      'second',
      'call',
      Rng.of(0),
    );
    expect(last).toMatchObject({ done: true, rewards: { first: -1, second: 1 } });
  });

  test('a player reads their own dice and the number of the other’s, in both wordings', async () => {
    const compact = await world.create({ dice: 2, faces: 6, wording: 'compact' }).open(
      [
        [5, 1],
        [2, 2],
      ],
      Rng.of(0),
    );
    expect(compact.observe('first')[0]!.content).toBe('mine:1 mine:5 theirs:2 open');
    const natural = await world.create({ dice: 2, faces: 6, wording: 'natural' }).open(
      [
        [5, 1],
        [2, 2],
      ],
      Rng.of(0),
    );
    expect(natural.observe('first').at(-1)!.content).toBe(
      'Your dice: 1, 5. The other player has 2. Bids: none.',
    );
  });
});

test('with more dice the cautious player beats a random one, and its tasks lie in one split each', async () => {
  const two = world.create({ dice: 2, faces: 6, wording: 'compact' });
  expect((await measurePlayer(two, 'expert', 20)).turns).toBeGreaterThan(2);
  let won = 0;
  for (let seed = 0; seed < 60; seed++) {
    const played = await playEpisode(
      two,
      two.tasks('test').at(seed),
      seed,
      async (of, rng) => (await two.script!(of, of.toMove() === 'first' ? 'expert' : 'random', rng))!,
    );
    won += played.outcome;
  }
  expect(won).toBeGreaterThan(20);
  const tests = new Set(
    Array.from({ length: two.tasks('test').size }, (_, i) => JSON.stringify(two.tasks('test').at(i))),
  );
  expect(tests.size).toBeGreaterThan(100);
  for (let i = 0; i < two.tasks('train').size; i++)
    expect(tests.has(JSON.stringify(two.tasks('train').at(i)))).toBe(false);
});
