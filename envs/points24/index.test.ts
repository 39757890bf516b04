import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playEpisode } from '../../src/env/play.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { apply, OPERATORS, type Rational } from '../arithmetic/rational.ts';
import { type PointsState, solutionsOf } from '../gym-cards/points.ts';
import { scores } from '../scores.test-helper.ts';
import { points24, TARGET, world } from './index.ts';

const defaults = world.options.parse({});
const environment = points24(defaults);
const rng = Rng.of(0);
const at = (text: string, cards: readonly number[] = [3, 3, 8, 8]): PointsState => ({
  ...{ cards, target: TARGET, steps: 0 },
  formula: text.split(' ').filter((token) => token !== ''),
});

/** Every value of two results, by all operators in both orders. */
const joined = (a: Rational, b: Rational): readonly Rational[] =>
  OPERATORS.flatMap((operator) => [apply(operator, a, b), apply(operator, b, a)]).filter(
    (value) => value !== undefined,
  );

/** Values of up to three cards, by cutting them in two in every way: another search than the solver's. */
const reached = new Map<string, readonly Rational[]>();
function valuesOf(cards: readonly number[]): readonly Rational[] {
  const key = cards.join(' ');
  const found = reached.get(key);
  if (found) return found;
  const whole: Rational[] = cards.length === 1 ? [[cards[0]!, 1]] : [];
  const cut = cuts(cards).flatMap(([one, other]) =>
    valuesOf(one).flatMap((a) => valuesOf(other).flatMap((b) => joined(a, b))),
  );
  const values = new Map([...whole, ...cut].map((value) => [value.join('/'), value]));
  reached.set(key, [...values.values()]);
  return [...values.values()];
}

/** Every way to cut a list in two parts that are not empty. */
function cuts(cards: readonly number[]): readonly (readonly [readonly number[], readonly number[]])[] {
  return Array.from({ length: 2 ** (cards.length - 1) - 1 }, (_, number) => {
    const [one, other] = [1, 0].map((side) =>
      cards.filter((_, place) => (((number + 1) >> place) & 1) === side),
    );
    return [one!, other!] as const;
  });
}

function isSolvable(cards: readonly number[]): boolean {
  return cuts(cards).some(([one, other]) =>
    valuesOf(one).some((a) =>
      valuesOf(other).some((b) => joined(a, b).some(([n, d]) => d === 1 && n === TARGET)),
    ),
  );
}

/** Solvable multisets of four cards, and how many of the 28,561 ordered deals they are, where rank `r` counts `worth(r)`. */
function counted(worth: (rank: number) => number): readonly [multisets: number, deals: number] {
  const deals = new Map<string, number>();
  for (let number = 0; number < 13 ** 4; number++) {
    const ranks = [0, 1, 2, 3].map((place) => 1 + (Math.floor(number / 13 ** place) % 13));
    const key = ranks
      .map(worth)
      .sort((a, b) => a - b)
      .join(' ');
    deals.set(key, (deals.get(key) ?? 0) + 1);
  }
  const solvable = [...deals].filter(([key]) => isSolvable(key.split(' ').map(Number)));
  return [solvable.length, solvable.reduce((sum, [, count]) => sum + count, 0)];
}

describe('oracle', () => {
  it('566 of 715 multisets are solvable where faces count 10, 20,876 of 28,561 deals', () => {
    expect(counted((rank) => Math.min(rank, 10))).toEqual([566, 20_876]);
  });

  it('1,362 of 1,820 are where they count 11 to 13, 22,615 deals', { timeout: 20_000 }, () => {
    expect(counted((rank) => rank)).toEqual([1362, 22_615]);
  });

  it('the solver finds a formula exactly where there is one', async () => {
    const tasks = environment.tasks('test');
    for (let index = 0; index < 60; index++) {
      const task = tasks.at(index);
      const solvable = isSolvable(task.cards);
      expect(solutionsOf(task, OPERATORS).length > 0).toBe(solvable);
      const { success, outcome } = await playEpisode(world.create(defaults), task, index, 'expert');
      expect([success, outcome]).toEqual(solvable ? [true, 10] : [false, -1]);
    }
  });

  it('scripted players do as the README says', async () => {
    expect(await scores(world.create(defaults), 200)).toMatchInlineSnapshot(`
      [
        "expert 0.520 4.720 5.08",
        "beginner 0.005 -0.945 8.00",
        "random 0.000 -1.000 8.38",
      ]
    `);
  });
});

describe('rules', () => {
  it('pays 10 for 24 of all four cards, exactly: 8 / (3 - 8 / 3) too', () => {
    const ends = ['8 / ( 3 - 8 / 3 )', '8 * 3', '8 + 8 + 3 + 3', '( 8', ''].map((formula) => {
      const { reward, done, success } = environment.step(at(formula), '=', rng);
      return [reward, done, success];
    });
    expect(ends).toEqual([[10, true, true], ...Array.from({ length: 4 }, () => [-1, true, false])]);
  });

  it('refuses a card that is used up, and any other token', () => {
    const state = at('3 + 3');
    for (const token of ['3', '7', '**', '3 + 8']) {
      expect(environment.step(state, token, rng)).toMatchObject({
        ...{ reward: -1, done: false, valid: false },
        state: { formula: state.formula, steps: 1 },
      });
    }
    expect(environment.step(state, '8', rng)).toMatchObject({ reward: 0, valid: true });
  });

  it('ends with the token after the twentieth', () => {
    expect(environment.step({ ...at('3'), steps: 19 }, '(', rng)).toMatchObject({ reward: 0, done: false });
    expect(environment.step({ ...at('3'), steps: 20 }, '(', rng)).toMatchObject({ reward: -1, done: true });
  });

  it('says which cards are left, and what is written', () => {
    expect(environment.step(at('8 / ( 3'), '-', rng).observation).toMatchInlineSnapshot(
      `"cards 3 3 8 8 target 24 left 3 8 formula 8 / ( 3 -"`,
    );
  });
});

describe('thoughts', () => {
  const correct = (formula: string, thought: string) =>
    environment.correctThought!(at(formula), thought, rng);

  it('a right one is left alone, any other becomes the shortest formula that can still be written', () => {
    expect(correct('', '')).toBe('aim 8 / ( 3 - 8 / 3 )');
    expect(correct('8 /', 'aim 8 / ( 3 - 8 / 3 )')).toBe('aim 8 / ( 3 - 8 / 3 )');
    expect(correct('8 /', 'aim 8 + 8 + 3 + 3')).toBe('aim 8 / ( 3 - 8 / 3 )');
    expect(environment.correctThought!(at('', [1, 1, 1, 1]), '', rng)).toBe('hopeless');
  });

  it('nobody is corrected where nothing is right any more', () => {
    expect(correct('(', 'aim 8 / ( 3 - 8 / 3 )')).toBe('aim 8 / ( 3 - 8 / 3 )');
    expect(correct('8 *', 'aim 8 * 3')).toBe('aim 8 * 3');
    expect(correct('8 *', '')).toBe('hopeless');
  });

  it('a right thought need not be the shortest', () => {
    const cards = [1, 1, 4, 6];
    const thought = 'aim 6 * 4 * 1 * 1';
    expect(environment.correctThought!(at('6', cards), thought, rng)).toBe(thought);
  });
});

it('deals are of one split, and only solvable ones where it was asked', () => {
  const { tasks } = points24({ ...defaults, deals: 'solvable' });
  const seen = new Map<string, string>();
  for (const split of ['train', 'validation', 'test'] as const) {
    for (let index = 0; index < 20; index++) {
      const { cards } = tasks(split).at(index);
      expect(isSolvable(cards)).toBe(true);
      expect(seen.get(cards.join()) ?? split).toBe(split);
      seen.set(cards.join(), split);
    }
  }
});

it('keeps the laws with other options together', () =>
  environmentLaws(world, { options: [{ faces: 'rank', thoughts: false }], episodes: 20 }));
