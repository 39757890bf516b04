import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import type { PlayerKind } from '../../src/env/world.ts';
import {
  averageStrategy,
  bestResponse,
  exploitability,
  type GameTree,
  gameTree,
  gameValue,
  type Strategy,
  uniformStrategy,
} from '../../src/eval/exploitability.ts';
import { equilibriumPolicy } from './equilibrium.ts';
import { type Action, DEALS, type Deal, kuhnPokerGame, stakes } from './game.ts';
import { world as kuhnPoker } from './index.ts';

const game = kuhnPokerGame();
const tree = gameTree(game);

/** Plays `actions` and returns what the first seat won. */
function play(deal: Deal, actions: readonly string[]): number {
  const rng = Rng.of('unused');
  let state = game.start(deal, rng);
  let won = 0;
  for (const action of actions) {
    const next = game.step(state, game.toMove(state)!, action, rng);
    expect(next.rewards.first! + next.rewards.second!).toBe(0);
    state = next.state;
    won += next.rewards.first!;
  }
  expect(game.toMove(state)).toBeUndefined();
  return won;
}

function equilibrium(): Strategy {
  return Object.fromEntries(
    tree.informationSets.map((set) => {
      const [, card, history] = /card:(.) history:(.*)/.exec(set.key)!;
      const past = history === 'none' ? [] : (history!.split('-') as Action[]);
      const { action, probability } = equilibriumPolicy(card as 'J', past);
      const other = set.actions.find((name) => name !== action)!;
      return [set.key, { [action]: probability, [other]: 1 - probability }];
    }),
  );
}

/** Counterfactual regret minimisation (Zinkevich et al. 2007): the strategies of all iterations. */
function counterfactualRegret(over: GameTree, iterations: number): Strategy[] {
  const regrets = new Map(over.informationSets.map((set) => [set.key, set.actions.map(() => 0)]));
  const strategies: Strategy[] = [];
  for (let i = 0; i < iterations; i++) {
    const strategy = Object.fromEntries(
      over.informationSets.map((set) => {
        const positive = regrets.get(set.key)!.map((regret) => Math.max(0, regret));
        const total = positive.reduce((a, b) => a + b);
        return [
          set.key,
          Object.fromEntries(set.actions.map((action, a) => [action, total > 0 ? positive[a]! : 1])),
        ];
      }),
    );
    strategies.push(strategy);
    const walk = (node: (typeof over.roots)[number], reaches: readonly [number, number]): number => {
      if (node.set === undefined) return node.payoff;
      const { set } = node;
      const seat = set.role === 'first' ? 0 : 1;
      const weights = set.actions.map((action) => strategy[set.key]![action]!);
      const total = weights.reduce((a, b) => a + b);
      const values = node.children.map((child, a) => {
        const p = weights[a]! / total;
        return walk(child, seat === 0 ? [reaches[0] * p, reaches[1]] : [reaches[0], reaches[1] * p]);
      });
      const mean = values.reduce((sum, value, a) => sum + (value * weights[a]!) / total, 0);
      const regret = regrets.get(set.key)!;
      for (const [a, value] of values.entries())
        regret[a]! += seat === 0 ? reaches[1] * (value - mean) : reaches[0] * (mean - value);
      return mean;
    };
    for (const root of over.roots) walk(root, [1, 1]);
  }
  return strategies;
}

describe('rules', () => {
  const kingOverQueen: Deal = { first: 'K', second: 'Q' };
  test.each([
    [['check', 'check'], 1],
    [['bet', 'fold'], 1],
    [['bet', 'call'], 2],
    [['check', 'bet', 'fold'], -1],
    [['check', 'bet', 'call'], 2],
  ])('%j wins %i with the higher card', (actions, won) => {
    expect(play(kingOverQueen, actions)).toBe(won);
  });

  // TextArena and SPIRAL keep the pot at 2 whatever is bet, so that betting is free and folding never right.
  test('pot bug: the pot grows with every bet and every call', () => {
    expect(stakes(['check', 'check'])).toEqual({ first: 1, second: 1 });
    expect(stakes(['bet'])).toEqual({ first: 2, second: 1 });
    expect(stakes(['bet', 'call'])).toEqual({ first: 2, second: 2 });
    expect(stakes(['check', 'bet', 'call'])).toEqual({ first: 2, second: 2 });
    expect(play(kingOverQueen, ['bet', 'call'])).not.toBe(play(kingOverQueen, ['check', 'check']));
    expect(gameValue(tree, equilibrium())).not.toBeCloseTo(0, 3);
  });

  test('an illegal word costs its author two chips, which the opponent gets, and ends the hand', () => {
    const rng = Rng.of('unused');
    const opened = game.step(game.start(kingOverQueen, rng), 'first', 'bet', rng).state;
    const next = game.step(opened, 'second', 'check', rng);
    expect(next).toMatchObject({ valid: false, done: true, rewards: { first: 2, second: -2 } });
    expect(game.observe(next.state, 'second')[0]!.content).toBe('over illegal chips:-2');
    expect(game.observe(next.state, 'first')[0]!.content).toBe('over opponent-illegal chips:+2');
  });

  test('a role is shown its own card and the history, never the other card', () => {
    for (const set of tree.informationSets) {
      const shown = [...set.past.flatMap((turn) => turn.messages), ...set.messages];
      const cards = new Set(
        shown.flatMap(({ content }) => [...content.matchAll(/card:(.)/g)].map((m) => m[1])),
      );
      expect(cards.size).toBe(1);
      for (const { content } of shown) expect(content.split(' ')).toHaveLength(3);
    }
    expect(tree.informationSets.map(({ key }) => key).slice(0, 4)).toMatchInlineSnapshot(`
      [
        "first: card:J history:none",
        "second: card:Q history:check",
        "first: card:J history:check-bet",
        "second: card:Q history:bet",
      ]
    `);
    expect(tree.informationSets.find(({ past }) => past.length > 0)).toMatchInlineSnapshot(`
      {
        "actions": [
          "fold",
          "call",
        ],
        "key": "first: card:J history:check-bet",
        "messages": [
          {
            "content": "first card:J history:check-bet",
            "role": "user",
          },
        ],
        "past": [
          {
            "action": "check",
            "key": "first: card:J history:none",
            "messages": [
              {
                "content": "first card:J history:none",
                "role": "user",
              },
            ],
          },
        ],
        "role": "first",
      }
    `);
  });

  test('any words at all: zero-sum, at most three moves, a single last reward', () => {
    const words = fc.constantFrom('check', 'bet', 'fold', 'call', 'raise', '');
    fc.assert(
      fc.property(
        fc.constantFrom(...DEALS),
        fc.array(words, { minLength: 3, maxLength: 3 }),
        (deal, moves) => {
          const rng = Rng.of('unused');
          let state = game.start(deal, rng);
          for (const move of moves) {
            const seat = game.toMove(state);
            if (seat === undefined) return;
            const next = game.step(state, seat, move, rng);
            expect(next.rewards.first! + next.rewards.second!).toBe(0);
            expect(next.rewards.first !== 0).toBe(next.done);
            state = next.state;
          }
          expect(game.toMove(state)).toBeUndefined();
        },
      ),
    );
  });
});

describe('oracles', () => {
  test('twelve information sets, six for each seat', () => {
    expect(tree.informationSets.filter(({ role }) => role === 'first')).toHaveLength(6);
    expect(tree.informationSets).toHaveLength(12);
  });

  test('the equilibrium is worth -1/18 to the first seat and cannot be exploited', () => {
    expect(gameValue(tree, equilibrium())).toBeCloseTo(-1 / 18, 12);
    expect(exploitability(tree, equilibrium())).toBeCloseTo(0, 12);
    expect(bestResponse(tree, equilibrium(), 'second').value).toBeCloseTo(1 / 18, 12);
  });

  test('uniform play: 1/8 against itself, 1/2 and 5/12 to its best responses', () => {
    const uniform = uniformStrategy(tree);
    expect(gameValue(tree, uniform)).toBeCloseTo(1 / 8, 12);
    const asFirst = bestResponse(tree, uniform, 'first');
    expect(asFirst.value).toBeCloseTo(1 / 2, 12);
    expect(gameValue(tree, { ...uniform, ...asFirst.strategy })).toBeCloseTo(1 / 2, 12);
    expect(bestResponse(tree, uniform, 'second').value).toBeCloseTo(5 / 12, 12);
    expect(exploitability(tree, uniform)).toBeCloseTo(11 / 24, 12);
  });

  test('counterfactual regret minimisation comes below 0.01, in the average and not in the last strategy', () => {
    const strategies = counterfactualRegret(tree, 1000);
    expect(exploitability(tree, averageStrategy(tree, strategies))).toBeLessThan(0.01);
    expect(exploitability(tree, strategies.at(-1)!)).toBeGreaterThan(0.02);
  });

  test('the scripted expert plays the equilibrium frequencies', () => {
    const rng = Rng.of('expert');
    const counts = new Map<string, number>();
    for (let i = 0; i < 3000; i++) {
      const state = game.start({ first: 'J', second: 'K' }, rng);
      const action = game.solve!(state, 'first', rng);
      counts.set(action, (counts.get(action) ?? 0) + 1);
    }
    expect(counts.get('bet')! / 3000).toBeGreaterThan(0.3);
    expect(counts.get('bet')! / 3000).toBeLessThan(0.37);
  });
});

describe('world', () => {
  test('every script plays every deal to its end', async () => {
    const world = kuhnPoker.create(kuhnPoker.options.parse({}));
    for (const kind of ['expert', 'beginner', 'random'] satisfies PlayerKind[]) {
      for (let index = 0; index < world.tasks('train').size; index++) {
        const session = await world.open(world.tasks('train').at(index), Rng.of(index));
        const rng = Rng.of(kind, index);
        for (let turn = 0; session.toMove() !== undefined; turn++) {
          expect(turn).toBeLessThan(3);
          const result = await session.step(
            (await world.script!(session, kind, rng))!,
            AbortSignal.timeout(1000),
          );
          expect(result.valid).toBe(true);
        }
        await session.close();
      }
    }
  });

  test('in sentences, each seat reads the rules and an example once, before its first turn', async () => {
    const world = kuhnPoker.create({ wording: 'natural' });
    const session = await world.open({ first: 'K', second: 'J' }, Rng.of(0));
    const signal = new AbortController().signal;
    const told: (string | undefined)[] = [];
    const lengths: number[] = [];
    for (const action of ['check', 'bet', 'call']) {
      const messages = session.observe(session.toMove()!);
      lengths.push(messages.length);
      told.push(messages.at(-1)!.content);
      await session.step(action, signal);
    }
    expect(lengths).toEqual([8, 8, 1]);
    expect([
      ...told,
      ...['first', 'second'].map((seat) => session.observe(seat)[0]!.content),
    ]).toMatchInlineSnapshot(`
        [
          "Your card is K. You act first. Answer check or bet.",
          "Your card is J. The other player says check. Answer check or bet.",
          "Your card is K. You said check, and the other player says bet. Answer fold or call.",
          "The hand is over. You win 2 chips.",
          "The hand is over. You lose 2 chips.",
        ]
      `);
  });
});
