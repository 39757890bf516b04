import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playEpisode } from '../../src/env/play.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { scores } from '../scores.test-helper.ts';
import { horizon, runningSums, type SumState, world } from './index.ts';

const defaults = world.options.parse({});
const environment = runningSums(defaults);
const rng = Rng.of(0);
const state: SumState = {
  worth: { apple: 3, river: -2 },
  words: ['apple', 'river', 'river', 'apple', 'apple', 'apple', 'apple', 'apple'],
  ...{ turn: 0, total: 0, told: 0, right: 0 },
};

describe('oracle', () => {
  it('the running total is right in every turn', async () => {
    for (const options of [
      {},
      { dictionary: 'drawn', keys: 3, turns: 40, words: 30, largest: 99 },
    ] as const) {
      const game = world.create(world.options.parse(options));
      for (let index = 0; index < 20; index++) {
        const played = await playEpisode(game, game.tasks('test').at(index), index, 'expert');
        expect(played.success).toBe(true);
        expect(played.outcome).toBeCloseTo(1, 12);
        expect(
          played.turns.every(
            ({ metrics }) => metrics!.index === 1 && metrics!.prefix === 1 && metrics!.step === 1,
          ),
        ).toBe(true);
      }
    }
  });

  it('an agent that errs independently has the horizon ln s / ln p', async () => {
    const turns = 20;
    const p = 0.9;
    const patient = world.create(world.options.parse({ turns }));
    const prefix_K = new Array<number>(turns).fill(0);
    for (let seed = 0; seed < 400; seed++) {
      const task = patient.tasks('test').at(seed);
      const played = await playEpisode(patient, task, seed, async (session, choices) => {
        const right = await patient.script!(session, 'expert', choices);
        return choices.chance(p) ? right! : String(Number(right) + 1);
      });
      for (const [k, { metrics }] of played.turns.entries()) prefix_K[k]! += metrics!.prefix! / 400;
    }
    for (const [k, accuracy] of prefix_K.entries())
      expect(Math.abs(accuracy - p ** (k + 1))).toBeLessThan(0.08);
    const exact_K = prefix_K.map((_, k) => p ** (k + 1));
    for (const share of [0.2, 0.5, 0.8])
      expect(horizon(exact_K, share)).toBe(Math.floor(Math.log(share) / Math.log(p)));
    expect(Math.abs(horizon(prefix_K, 0.5) - horizon(exact_K, 0.5))).toBeLessThanOrEqual(1);
    expect(horizon([0.4, 0.3], 0.5)).toBe(0);
  });

  it('scripted players do as the README says', async () => {
    expect(await scores(world.create(defaults), 500)).toMatchInlineSnapshot(`
      [
        "expert 1.000 1.000 8.00",
        "beginner 0.292 0.586 8.00",
        "random 0.000 0.023 8.00",
      ]
    `);
  });
});

describe('rules', () => {
  it('tells the words, and says nothing of mistakes', () => {
    const start = environment.start({ worth: state.worth, words: state.words }, rng);
    const first = environment.step(start.state, '3', rng);
    const second = environment.step(first.state, '2', rng);
    const third = environment.step(second.state, '0', rng);
    const illegible = environment.step(third.state, '3.0', rng);
    expect([
      start.messages[0]!.content,
      first.observation,
      third.observation,
      illegible.observation,
    ]).toMatchInlineSnapshot(`
      [
        "worth apple:3 river:-2 add apple",
        "add river",
        "add apple",
        "invalid add apple",
      ]
    `);
    expect(
      [first, second, third, illegible].map(({ reward, metrics }) => [reward, metrics]),
    ).toMatchInlineSnapshot(`
      [
        [
          0.125,
          {
            "index": 1,
            "prefix": 1,
            "step": 1,
          },
        ],
        [
          0,
          {
            "index": 0,
            "prefix": 0,
            "step": 0,
          },
        ],
        [
          0,
          {
            "index": 0,
            "prefix": 0,
            "step": 1,
          },
        ],
        [
          0,
          {
            "index": 0,
            "prefix": 0,
            "step": 0,
          },
        ],
      ]
    `);
  });

  it.each(['', '+3', '03', '-0', '3 4', 'three', '1e3', '12345678'])('%j is no number', (action) =>
    expect(environment.step(state, action, rng)).toMatchObject({
      valid: false,
      reward: 0,
      state: { turn: 0, told: 0 },
    }),
  );

  it('one mistake is no success', () => {
    const last = { ...state, turn: 7, total: 13, told: 13 };
    expect(environment.step({ ...last, right: 7 }, '16', rng)).toMatchObject({ done: true, success: true });
    expect(environment.step({ ...last, right: 6 }, '16', rng)).toMatchObject({
      done: true,
      success: false,
      reward: 1 / 8,
    });
  });
});

it('a fixed dictionary is the same in every task, a drawn one is not', () => {
  const worths = (dictionary: 'fixed' | 'drawn') =>
    new Set(
      Array.from({ length: 20 }, (_, i) =>
        JSON.stringify(
          runningSums({ ...defaults, dictionary })
            .tasks('train')
            .at(i).worth,
        ),
      ),
    );
  expect([worths('fixed').size, worths('drawn').size]).toEqual([1, 20]);
});

it('keeps the laws with other numbers', () =>
  environmentLaws(world, { options: [{ keys: 2, turns: 1 }, { turns: 12 }], episodes: 30 }));
