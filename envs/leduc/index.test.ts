import { describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playEpisode } from '../../src/env/play.ts';
import {
  bestResponse,
  exploitability,
  gameTree,
  gameValue,
  uniformStrategy,
} from '../../src/eval/exploitability.ts';
import { DEALS, equilibrium, leducGame, MOST, stakes, world } from './index.ts';

const VALUE = -0.085606424078;
const game = leducGame();
const tree = gameTree(game);

/** A solver of its own, with rules of its own: regret matching over the 24 deals without suits, each with its weight. */
function independentBounds(iterations: number): readonly [low: number, high: number] {
  type Node = {
    readonly key: string;
    readonly seat: number;
    readonly next: readonly Node[];
    readonly pays: number;
  };
  const sets = new Map<string, { regrets: number[]; sums: number[] }>();
  const leaf = (pays: number): Node => ({ key: '', seat: -1, next: [], pays });
  const grow = (cards: string, line: string, paid: readonly [number, number]): Node => {
    const [first, second] = line.split('/') as [string, string?];
    const round = second === undefined ? 0 : 1;
    const acts = second ?? first;
    const seat = acts.length % 2;
    const key = `${cards[seat]}${round === 1 ? cards[2] : ''}:${line}`;
    if (!sets.has(key)) sets.set(key, { regrets: [], sums: [] });
    const next: Node[] = [];
    const facing = acts.endsWith('r');
    if (facing) next.push(leaf(seat === 0 ? -paid[0] : paid[1]));
    const high = Math.max(...paid);
    if (acts.length > 0 && round === 1) {
      const rank = (card: string): number => (card === cards[2] ? 3 : 'JQK'.indexOf(card));
      const order = Math.sign(rank(cards[0]!) - rank(cards[1]!));
      next.push(leaf(order * high));
    } else
      next.push(
        grow(cards, acts.length > 0 ? `${line}c/` : `${line}c`, acts.length > 0 ? [high, high] : paid),
      );
    if (acts.replaceAll('c', '').length < 2) {
      const more = high + (round === 0 ? 2 : 4);
      next.push(grow(cards, `${line}r`, seat === 0 ? [more, paid[1]] : [paid[0], more]));
    }
    return { key, seat, next, pays: 0 };
  };
  const kinds = ['J', 'Q', 'K'];
  const roots = kinds.flatMap((a) =>
    kinds.flatMap((b) =>
      kinds.flatMap((c) => {
        const left = (card: string, gone: string): number =>
          2 - [...gone].filter((one) => one === card).length;
        const weight = (2 * left(b, a) * left(c, a + b)) / 120;
        return weight === 0 ? [] : [{ node: grow(a + b + c, '', [1, 1]), weight }];
      }),
    ),
  );
  const positive = (values: readonly number[], count: number): number[] => {
    const kept = Array.from({ length: count }, (_, a) => Math.max(0, values[a] ?? 0));
    const sum = kept.reduce((x, y) => x + y, 0);
    return kept.map((value) => (sum > 0 ? value / sum : 1 / count));
  };
  const walk = (node: Node, seat: number, own: number, others: number, round: number): number => {
    if (node.seat < 0) return seat === 0 ? node.pays : -node.pays;
    const set = sets.get(node.key)!;
    const play = positive(set.regrets, node.next.length);
    const values = node.next.map((child, a) =>
      node.seat === seat
        ? walk(child, seat, own * play[a]!, others, round)
        : play[a] === 0
          ? 0
          : walk(child, seat, own, others * play[a]!, round),
    );
    const mean = values.reduce((sum, value, a) => sum + play[a]! * value, 0);
    if (node.seat === seat) {
      for (const [a, value] of values.entries()) {
        set.sums[a] = (set.sums[a] ?? 0) + round * own * play[a]!;
        pending.push([set.regrets, a, others * (value - mean)]);
      }
    }
    return mean;
  };
  const pending: [number[], number, number][] = [];
  for (let round = 1; round <= iterations; round++) {
    for (const seat of [0, 1]) {
      for (const { node, weight } of roots) walk(node, seat, 1, weight, round);
      const touched = new Set(pending.map(([regrets]) => regrets));
      for (const [regrets, a, change] of pending.splice(0)) regrets[a] = (regrets[a] ?? 0) + change;
      for (const regrets of touched)
        for (const [a, value] of regrets.entries()) regrets[a] = Math.max(0, value);
    }
  }
  /** What the best answer of `seat` to the average wins. */
  const best = (seat: number): number => {
    const choice = new Map<string, number>();
    const reaches = new Map<string, [Node, number][]>();
    const collect = (node: Node, reach: number): void => {
      if (node.seat < 0) return;
      if (node.seat === seat) reaches.set(node.key, [...(reaches.get(node.key) ?? []), [node, reach]]);
      const play = positive(sets.get(node.key)!.sums, node.next.length);
      for (const [a, child] of node.next.entries())
        collect(child, node.seat === seat ? reach : reach * play[a]!);
    };
    const value = (node: Node): number => {
      if (node.seat < 0) return seat === 0 ? node.pays : -node.pays;
      if (node.seat === seat) {
        if (!choice.has(node.key)) {
          const totals = node.next.map((_, a) =>
            reaches.get(node.key)!.reduce((sum, [other, reach]) => sum + reach * value(other.next[a]!), 0),
          );
          choice.set(node.key, totals.indexOf(Math.max(...totals)));
        }
        return value(node.next[choice.get(node.key)!]!);
      }
      const play = positive(sets.get(node.key)!.sums, node.next.length);
      return node.next.reduce((sum, child, a) => sum + (play[a] === 0 ? 0 : play[a]! * value(child)), 0);
    };
    for (const { node, weight } of roots) collect(node, weight);
    return roots.reduce((sum, { node, weight }) => sum + weight * value(node), 0);
  };
  return [-best(1), best(0)];
}

describe('oracles', () => {
  test('144 information sets for each seat, and 1176 ends without suits', () => {
    expect(tree.informationSets.filter(({ role }) => role === 'first')).toHaveLength(144);
    expect(tree.informationSets).toHaveLength(288);
    const ends = new Set<string>();
    const visit = (state: ReturnType<typeof game.start>): void => {
      const role = game.toMove(state);
      const { deal, rounds } = state;
      if (role === undefined) {
        ends.add(`${deal.first}${deal.second}${deal.table} ${rounds.join('/')}`);
        return;
      }
      for (const action of game.actions!(state, role)) visit(game.step(state, role, action, Rng.of(0)).state);
    };
    for (const deal of DEALS) visit(game.start(deal, Rng.of(0)));
    expect(ends.size).toBe(1176);
  });

  test('uniform play wins -0.078125', () => {
    expect(gameValue(tree, uniformStrategy(tree))).toBeCloseTo(-0.078125, 12);
  });

  test('a solver with rules of its own brackets the value of -0.0856', () => {
    const [low, high] = independentBounds(500);
    expect(low).toBeLessThanOrEqual(VALUE);
    expect(high).toBeGreaterThanOrEqual(VALUE);
    expect(high - low).toBeLessThan(0.01);
    expect((low + high) / 2).toBeCloseTo(VALUE, 2);
  });

  test("the expert's strategy has that value too, and hardly anything can be won against it", () => {
    const strategy = equilibrium(game);
    expect(exploitability(tree, strategy)).toBeLessThan(0.01);
    expect(bestResponse(tree, strategy, 'first').value).toBeGreaterThanOrEqual(VALUE);
    expect(-bestResponse(tree, strategy, 'second').value).toBeLessThanOrEqual(VALUE);
    expect(gameValue(tree, strategy)).toBeCloseTo(VALUE, 2);
    expect(exploitability(tree, uniformStrategy(tree))).toBeCloseTo(2.373611, 5);
  });
});

describe('rules', () => {
  // TextArena's raise commits one chip whatever is to be matched, and its call pays the whole bet again.
  test('pot bug: a raise adds its size to what it matches, and a call pays what is missing', () => {
    expect(stakes({ rounds: [['check', 'check'], []] })).toEqual([1, 1]);
    expect(stakes({ rounds: [['raise', 'call'], []] })).toEqual([3, 3]);
    expect(stakes({ rounds: [['raise', 'raise', 'call'], []] })).toEqual([5, 5]);
    expect(
      stakes({
        rounds: [
          ['raise', 'raise', 'call'],
          ['raise', 'raise'],
        ],
      }),
    ).toEqual([9, 13]);
  });

  test.each([
    ['JKJ', ['check', 'check', 'check', 'check'], 1],
    ['QQK', ['raise', 'call', 'raise', 'call'], 0],
    ['QKJ', ['raise', 'fold'], 1],
    ['QKJ', ['check', 'check', 'raise', 'raise', 'fold'], -5],
    ['QKJ', ['raise', 'raise', 'call', 'raise', 'raise', 'call'], -MOST],
  ])('%s with %j wins %i', async (cards, actions, won) => {
    const [first, second, table] = cards as unknown as [string, string, string];
    const left = [...actions];
    const played = await playEpisode(
      world.create({ wording: 'compact' }),
      { first, second, table },
      0,
      () => left.shift()!,
    );
    expect(played).toMatchObject({ done: true, outcome: won });
    expect(left).toEqual([]);
  });

  test('an illegal action costs all that a hand may cost', () => {
    const state = game.start(DEALS[0]!, Rng.of(0));
    for (const action of ['fold', 'call', 'bet']) {
      expect(game.step(state, 'first', action, Rng.of(0))).toMatchObject({
        valid: false,
        done: true,
        rewards: { first: -13, second: 13 },
      });
    }
  });

  test('a role reads its own card, and that of the table after the first round', async () => {
    const deal = { first: 'J', second: 'Q', table: 'K' };
    const read: string[] = [];
    for (const wording of ['compact', 'natural'] as const) {
      const session = await world.create({ wording }).open(deal, Rng.of(0));
      for (const action of ['check', 'raise', 'call', 'check', 'check']) {
        read.push(session.observe(session.toMove()!).at(-1)!.content);
        await session.step(action, new AbortController().signal);
      }
      read.push(session.observe('second')[0]!.content);
    }
    expect(read).toMatchInlineSnapshot(`
      [
        "first card:J table:hidden round1:none round2:none",
        "second card:Q table:hidden round1:check round2:none",
        "first card:J table:hidden round1:check-raise round2:none",
        "first card:J table:K round1:check-raise-call round2:none",
        "second card:Q table:K round1:check-raise-call round2:check",
        "over chips:+3",
        "Your card is J, the table is hidden. First round: none. What do you do?",
        "Your card is Q, the table is hidden. First round: check. What do you do?",
        "Your card is J, the table is hidden. First round: check, raise. What do you do?",
        "Your card is J, the table is K. First round: check, raise, call. Second round: none. What do you do?",
        "Your card is Q, the table is K. First round: check, raise, call. Second round: check. What do you do?",
        "The hand is over. You win 3 chips.",
      ]
    `);
  });
});
