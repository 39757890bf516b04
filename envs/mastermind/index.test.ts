import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { factsOf } from '../../src/credit/contract/facts.ts';
import { playEpisode } from '../../src/env/play.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { scores } from '../scores.test-helper.ts';
import { Codes, compare } from './codes.ts';
import { mastermind, world } from './index.ts';

const defaults = world.options.parse({});
const environment = mastermind(defaults);
const rng = Rng.of(0);

describe('oracle', () => {
  it('the expert finds each of the 1,296 codes of 4 pegs and 6 colours in at most 5 guesses', () => {
    const codes = new Codes(4, 6);
    let total = 0;
    let most = 0;
    for (let secret = 0; secret < codes.texts.length; secret++) {
      const guesses: number[] = [];
      do guesses.push(codes.best(secret, guesses));
      while (guesses.at(-1) !== secret && guesses.length < 9);
      expect(guesses.at(-1)).toBe(secret);
      total += guesses.length;
      most = Math.max(most, guesses.length);
    }
    expect(codes.texts[codes.best(0, [])]).toBe('1 1 2 2');
    expect(most).toBe(5);
    expect(total).toMatchInlineSnapshot(`5801`);
  });

  it('answers are those of the rules, counted another way', () => {
    const codes = new Codes(4, 3);
    for (let seed = 0; seed < 300; seed++) {
      const draw = Rng.of('pair', seed);
      const [guess, secret] = [draw.int(81), draw.int(81)].map((n) => codes.texts[n]!.split(' ').map(Number));
      const count = (code: readonly number[], colour: number) => code.filter((peg) => peg === colour).length;
      const common = [1, 2, 3].reduce((sum, c) => sum + Math.min(count(guess!, c), count(secret!, c)), 0);
      const exact = guess!.filter((peg, place) => secret![place] === peg).length;
      expect(compare(guess!, secret!)).toEqual({ exact, near: common - exact });
    }
  });

  it('scripted players do as the README says', async () => {
    expect(await scores(world.create(defaults), 300)).toMatchInlineSnapshot(`
      [
        "expert 1.000 1.000 3.50",
        "beginner 0.360 0.360 5.13",
        "random 0.083 0.083 5.77",
      ]
    `);
  });
});

describe('rules', () => {
  const code = (text: string): number => new Codes(3, 4).texts.indexOf(text);
  const start = environment.start({ secret: code('1 2 2') }, rng).state;

  it('tells exact and near pegs, then the codes that are left', () => {
    const first = environment.step(start, '2 2 3', rng);
    const second = environment.step(first.state, '2 2 3', rng);
    const told = environment.step(second.state, '2 1 2', rng);
    const illegible = environment.step(told.state, '9 9 9', rng);
    expect(
      [start, first, second, told, illegible].map((step) => ('observation' in step ? step.observation : '')),
    ).toMatchInlineSnapshot(`
      [
        "",
        "guesses 2 2 3 exact1 near1 ,",
        "guesses 2 2 3 exact1 near1 , 2 2 3 exact1 near1 ,",
        "possible 1 2 2 ,",
        "invalid possible 1 2 2 ,",
      ]
    `);
    expect(environment.step(told.state, '1 2 2', rng)).toMatchObject({
      reward: 1,
      success: true,
      observation: 'found',
    });
  });

  it.each(['', '1 2', '1 2 5', '122', '1 2 2 2', 'red'])('%j is no code', (action) =>
    expect(environment.step(start, action, rng)).toMatchObject({
      valid: false,
      reward: 0,
      state: { guesses: [] },
    }),
  );

  it('fails after the last guess', () =>
    expect(environment.step({ ...start, tries: 5 }, '1 1 1', rng)).toMatchObject({
      done: true,
      observation: 'failed',
    }));
});

it('codes are 52 to train, 6 to validate and 6 to test, and none is in two', () => {
  const splits = (['train', 'validation', 'test'] as const).map((split) => environment.tasks(split));
  expect(splits.map(({ size }) => size)).toEqual([52, 6, 6]);
  const all = splits.flatMap(({ size, at }) => Array.from({ length: size }, (_, index) => at(index).secret));
  expect(new Set(all).size).toBe(64);
});

it('what the guesses tell sums to all there is to know', async () => {
  const game = world.create(world.options.parse({ tries: 20 }));
  for (const player of ['expert', 'beginner'] as const) {
    const { turns, success } = await playEpisode(game, { secret: 37 }, 5, player);
    const facts = turns.map(({ info }) => factsOf(info, 'A turn').turn);
    expect(success).toBe(true);
    // The last guess may leave one code that was already certain.
    expect(facts.reduce((sum, { dense }) => sum + dense![0]!, 0)).toBeCloseTo(1, 12);
    expect(facts[0]!.answerProbability).toBe(1 / 64);
  }
});

it('keeps the laws with other numbers', () =>
  environmentLaws(world, {
    options: [
      { pegs: 2, colours: 2 },
      { listed: 0, tries: 1 },
    ],
    episodes: 30,
  }));
