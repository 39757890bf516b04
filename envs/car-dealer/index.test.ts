import { describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playEpisode } from '../../src/env/play.ts';
import { BUDGETS, type Buyer, bestPrice, carDealer, PATIENCE, reservation, TYPES, world } from './index.ts';

const game = carDealer();
const rng = Rng.of(0);
const buyer: Buyer = { personality: 'busy', type: 'van', budget: 50 };

/** The most that any falling sequence of prices brings on average: all sequences are tried. */
function bestSequence(offers: number): number {
  const sequences = (length: number): number[][] =>
    length === 0 ? [[]] : sequences(length - 1).flatMap((rest) => BUDGETS.map((price) => [...rest, price]));
  const brings = (prices: readonly number[]): number =>
    BUDGETS.reduce((sum, budget) => sum + (prices.find((price) => price <= budget) ?? 0), 0) / BUDGETS.length;
  return Math.max(...sequences(offers).map(brings));
}

describe('oracle', () => {
  test('no sequence of prices brings more than the plan, whatever the number of offers', () => {
    const best = [1, 2, 3, 4].map(bestSequence);
    for (const [index, revenue] of best.entries())
      expect(bestPrice(1000, index + 1).revenue).toBeCloseTo(revenue, 9);
    expect(best).toMatchInlineSnapshot(`
      [
        30,
        40,
        44,
        48,
      ]
    `);
  });

  test('the expert brings as much, over all budgets', async () => {
    const dealer = world.create({ wording: 'compact' });
    for (const [personality, offers] of Object.entries(PATIENCE)) {
      let sum = 0;
      for (const budget of BUDGETS) {
        const played = await playEpisode(dealer, { personality, type: 'suv', budget }, 0, 'expert');
        sum += played.outcome * 100;
      }
      expect(sum / BUDGETS.length).toBeCloseTo(bestSequence(offers), 9);
    }
  });
});

describe('rules', () => {
  const { state } = game.start(buyer, rng);

  test('a buyer pays up to the budget for the wanted type, and half of it for another', () => {
    expect([reservation(buyer, 'van'), reservation(buyer, 'suv')]).toEqual([50, 25]);
    expect(game.step(state, 'van 50', rng)).toMatchObject({
      reward: 0.5,
      done: true,
      success: true,
      observation: 'sold 50',
    });
    expect(game.step(state, 'suv 30', rng)).toMatchObject({
      reward: 0,
      done: false,
      observation: 'busy wants:unknown offers:1',
    });
    expect(game.step(state, 'suv 10', rng)).toMatchObject({ reward: 0.1, done: true });
  });

  test('asking tells the type and uses up no offer; the last refusal ends the talk', () => {
    const asked = game.step(state, 'ask', rng);
    expect(asked.observation).toBe('busy wants:van offers:0');
    const refused = game.step(asked.state, 'van 70', rng);
    expect(refused.observation).toBe('busy wants:van offers:1 refused:70');
    expect(game.step(refused.state, 'van 90', rng)).toMatchObject({
      reward: 0,
      done: true,
      success: false,
      observation: 'left',
    });
  });

  test('what is no offer is told so', () => {
    for (const action of ['van', 'van 55', 'boat 10', 'van -1'])
      expect(game.step(state, action, rng)).toMatchObject({ valid: false, done: false, reward: 0, state });
  });

  test('in sentences', () => {
    const asked = game.step(state, 'ask', rng).state;
    expect(game.natural!.observe(game.step(asked, 'van 70', rng).state)).toBe(
      'The busy buyer wants a van. 70 was too much for the wanted type. Offers so far: 1. What do you say?',
    );
  });

  test('120 buyers, each in one split', () => {
    const all = (['train', 'validation', 'test'] as const).flatMap((split) => {
      const { size, at } = game.tasks(split);
      return Array.from({ length: size }, (_, index) => JSON.stringify(at(index)));
    });
    expect(new Set(all).size).toBe(BUDGETS.length * TYPES.length * 4);
    expect(all).toHaveLength(120);
  });
});
