import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { factsOf } from '../../src/credit/contract/facts.ts';
import { measurePlayer, playEpisode } from '../../src/env/play.ts';
import type { PlayerKind } from '../../src/env/world.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { bisectionTurns, guessNumber, world } from './index.ts';

const defaults = world.options.parse({});
const environment = guessNumber(defaults);
const rng = Rng.of(0);

describe('oracle', () => {
  it.each([2, 3, 7, 8, 31, 32, 100])(
    'bisection finds every number up to %i in ceil(log2(N+1))',
    async (range) => {
      const finder = world.create(world.options.parse({ range, maxTurns: bisectionTurns(range) }));
      const episodes = await Promise.all(
        Array.from({ length: range }, (_, index) =>
          playEpisode(finder, finder.tasks('test').at(index), index, 'expert'),
        ),
      );
      expect(episodes.every((episode) => episode.success)).toBe(true);
      expect(Math.max(...episodes.map((episode) => episode.turns.length))).toBe(bisectionTurns(range));
    },
  );

  it('scripted players do as the README says', async () => {
    const game = world.create(defaults);
    const figures = await Promise.all(
      (['expert', 'beginner', 'random'] as const).map((kind) => measurePlayer(game, kind, 480)),
    );
    const rounded = figures.map(({ success, outcome, turns }) =>
      [success, outcome, turns].map((figure) => figure.toFixed(3)).join(' '),
    );
    expect(rounded).toMatchInlineSnapshot(`
      [
        "1.000 1.500 4.219",
        "0.692 1.140 4.798",
        "0.196 0.478 5.535",
      ]
    `);
  });

  it('pays the same for information on every course that ends well', async () => {
    const patient = world.create(world.options.parse({ maxTurns: 40 }));
    for (const player of ['expert', 'beginner'] as const) {
      const played = await playEpisode(patient, { secret: 11 }, 3, player);
      expect(played.outcome).toBeCloseTo(1 + 0.1 * Math.log2(32), 12);
    }
  });
});

describe('rules', () => {
  const state = { secret: 11, low: 1, high: 32 };

  it('restates the interval after each answer', () => {
    expect(environment.start({ secret: 11 }, rng).messages).toEqual([
      { role: 'user', content: 'low1 high32' },
    ]);
    expect(environment.step(state, '16', rng)).toMatchObject({
      observation: 'low1 high15',
      done: false,
      valid: true,
    });
    expect(environment.step(state, '8', rng)).toMatchObject({
      observation: 'low9 high32',
      reward: expect.closeTo(0.1 * Math.log2(32 / 24), 12),
    });
    expect(environment.step(state, '11', rng)).toMatchObject({
      observation: 'found',
      done: true,
      success: true,
    });
  });

  it('a number outside the interval brings nothing and is legal', () => {
    const narrowed = { secret: 11, low: 9, high: 15 };
    expect(environment.step(narrowed, '20', rng)).toEqual({
      state: narrowed,
      observation: 'low9 high15',
      reward: 0,
      done: false,
      success: false,
      valid: true,
      info: { credit: { answerProbability: 1 / 7, answer: '20', correct: false, effectiveActions: 0 } },
    });
  });

  it.each(['33', '0', '-1', '07', '1.5', 'seven', 'low1', ''])(
    '%j is invalid and changes nothing',
    (action) => {
      expect(environment.step(state, action, rng)).toEqual({
        state,
        observation: 'invalid low1 high32',
        reward: 0,
        done: false,
        success: false,
        valid: false,
        info: { credit: { answerProbability: 1 / 32, answer: '', correct: false, effectiveActions: 0 } },
      });
    },
  );

  it('says nothing of the secret in the anchor', () => {
    expect(environment.anchor?.(state)).toBe(environment.anchor?.({ ...state, secret: 5 }));
  });
});

describe('facts for credit', () => {
  const sparse = world.create(world.options.parse({ shaping: 0, maxTurns: 12 }));
  const known = async (seed: number, player: PlayerKind) => {
    const { turns, success } = await playEpisode(sparse, sparse.tasks('train').at(seed), seed, player);
    return { turns, success, facts: turns.map(({ info }) => factsOf(info, 'A turn').turn) };
  };

  it('an answer never makes the secret less likely, and what all bring sums to all there is to know', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(1000),
        fc.constantFrom('expert', 'beginner', 'random'),
        async (seed, player) => {
          const { facts, success } = await known(seed, player as PlayerKind);
          const dense = facts.map((fact) => fact.dense![0]!);
          const before = [...facts.map((fact) => fact.answerProbability!), success ? 1 : undefined];
          expect(before[0]).toBe(1 / 32);
          for (const [k, gain] of dense.entries()) {
            const after = before[k + 1];
            if (after === undefined) continue;
            expect(after).toBeGreaterThanOrEqual(before[k]!);
            expect(gain).toBeCloseTo(Math.log2(after / before[k]!) / 5, 12);
            expect(facts[k]!.effectiveActions).toBe(after > before[k]! ? 1 : 0);
          }
          const total = dense.reduce((sum, gain) => sum + gain, 0);
          if (success) expect(total).toBeCloseTo(1, 12);
          else expect(total).toBeLessThanOrEqual(1 + 1e-12);
          expect(facts.map((fact) => fact.correct)).toEqual(
            facts.map((_, k) => success && k === facts.length - 1),
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  it('what the reward pays already is no reward beside it', () => {
    expect(environment.facts).not.toContain('dense');
    expect(guessNumber({ ...defaults, shaping: 0 }).facts).toContain('dense');
  });
});

it('keeps the laws with other numbers', () =>
  environmentLaws(world, { options: [{ range: 2 }, { range: 7 }, { range: 64 }, { shaping: 0 }] }));
