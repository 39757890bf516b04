import { describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playEpisode } from '../../src/env/play.ts';
import { fewestQuestions } from '../questions/questions.ts';
import { twentyQuestions, world } from './index.ts';
import { OBJECTS, QUESTIONS } from './objects.ts';

const defaults = world.options.parse({});
const rng = Rng.of(0);

/** The fewest questions on average that any play needs, over sets of objects as bits: all questions and all names are tried. */
function optimum(count: number): number {
  const words = Object.keys(QUESTIONS);
  const masks = words.map((word) =>
    OBJECTS.slice(0, count).reduce(
      (mask, { answers }, i) => mask | (answers[word] === 'yes' ? 1 << i : 0),
      0,
    ),
  );
  const bits = (set: number): number => [...set.toString(2)].filter((bit) => bit === '1').length;
  const known = new Map<number, number>();
  // The sum over the objects of a set.
  const total = (set: number): number => {
    const size = bits(set);
    if (size <= 1) return 0;
    const found = known.get(set);
    if (found !== undefined) return found;
    let least = Number.POSITIVE_INFINITY;
    for (const mask of masks) {
      const [yes, no] = [set & mask, set & ~mask];
      if (yes !== 0 && no !== 0) least = Math.min(least, size + total(yes) + total(no));
    }
    for (let i = 0; i < count; i++) {
      const rest = set & ~(1 << i);
      if (rest !== set) least = Math.min(least, size - 1 + total(rest));
    }
    known.set(set, least);
    return least;
  };
  return total(2 ** count - 1) / count;
}

async function expertMean(objects: number): Promise<number> {
  const game = world.create({ ...defaults, objects });
  let sum = 0;
  for (const { name } of OBJECTS.slice(0, objects)) {
    const played = await playEpisode(game, name, 0, 'expert');
    expect(played.success).toBe(true);
    sum += played.outcome;
  }
  return sum / objects;
}

describe('oracle', () => {
  test('no two objects have the same features', () => {
    expect(new Set(OBJECTS.map(({ answers }) => JSON.stringify(answers))).size).toBe(64);
    expect(new Set(OBJECTS.map(({ name }) => name)).size).toBe(64);
  });

  test('on a few objects the expert plays the exact optimum, and no play beats the bound', async () => {
    for (const objects of [2, 3, 5, 8, 10]) {
      const best = optimum(objects);
      expect(best).toBeGreaterThanOrEqual(fewestQuestions(objects) - 1e-12);
      expect(-(await expertMean(objects))).toBeGreaterThanOrEqual(best - 1e-12);
      expect(-(await expertMean(objects))).toBeLessThan(best + 0.25);
    }
  });

  test('on all objects it needs hardly more than halving would', async () => {
    // Naming at the end is free, so the bound lies below log2(64) = 6.
    expect(fewestQuestions(64)).toBeGreaterThan(5);
    expect(fewestQuestions(64)).toBeLessThanOrEqual(6);
    const mean = -(await expertMean(64));
    expect(mean).toBeGreaterThanOrEqual(fewestQuestions(64));
    expect(mean).toBeLessThan(fewestQuestions(64) + 1.2);
  });
});

describe('rules', () => {
  const game = twentyQuestions(defaults);
  const start = game.start('cat', rng).state;

  test('a question costs 1 and is answered by the table', () => {
    const asked = game.step(start, 'animal', rng);
    expect(asked).toMatchObject({
      reward: -1,
      done: false,
      valid: true,
      observation: 'left:4 cat dog horse cow',
    });
    expect(game.step(start, 'Is it a fruit?', rng)).toMatchObject({
      observation: 'left:28 fruit:no',
      valid: true,
    });
  });

  test('the right name ends the game for nothing, a wrong one costs 1', () => {
    expect(game.step(start, 'cat', rng)).toMatchObject({
      reward: 0,
      done: true,
      success: true,
      observation: 'found',
    });
    expect(game.step(start, 'Is it a cat?', rng)).toMatchObject({ reward: 0, done: true, success: true });
    expect(game.step(start, 'dog', rng)).toMatchObject({ reward: -1, done: false, observation: 'left:31' });
  });

  test('what is no question costs 1 and tells nothing; the twentieth ends the game', async () => {
    expect(game.step(start, 'does it bark', rng)).toMatchObject({
      reward: -1,
      valid: false,
      observation: 'invalid left:32',
    });
    const lost = await playEpisode(world.create(defaults), 'cat', 0, () => 'fruit');
    expect(lost).toMatchObject({ outcome: -20, done: true, success: false });
  });

  test('in sentences', () => {
    const asked = game.step(start, 'Is it an animal?', rng);
    expect(game.natural!.observe(asked.state, asked)).toBe(
      'Yes. Still possible: cat, dog, horse, cow. What do you ask?',
    );
  });
});
