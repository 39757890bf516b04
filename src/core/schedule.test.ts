import { expect, test } from 'vitest';
import { type Schedule, scheduleFactor } from './schedule.ts';

const factors = (schedule: Partial<Schedule>, steps: number): number[] =>
  Array.from({ length: steps }, (_, step) =>
    scheduleFactor({ kind: 'constant', warmupSteps: 0, finalFraction: 0, ...schedule }, step, steps),
  );

test('the warm-up rises linearly to the peak and the first step already learns', () => {
  expect(factors({ warmupSteps: 4 }, 6)).toEqual([0.25, 0.5, 0.75, 1, 1, 1]);
});

test('linear and cosine decay start at the peak and end at the final fraction', () => {
  expect(factors({ kind: 'linear', finalFraction: 0.2 }, 5)).toEqual([1, 0.8, 0.6, 0.4, 0.2].map(near));
  const cosine = factors({ kind: 'cosine', warmupSteps: 1, finalFraction: 0.1 }, 6);
  expect(cosine).toEqual(
    [1, 1, 0.1 + 0.45 * (1 + Math.SQRT1_2), 0.55, 0.1 + 0.45 * (1 - Math.SQRT1_2), 0.1].map(near),
  );
});

test('a run that is all warm-up, or one step long, is no division by zero', () => {
  expect(factors({ kind: 'linear', warmupSteps: 5 }, 3)).toEqual([0.2, 0.4, 0.6].map(near));
  expect(factors({ kind: 'cosine' }, 1)).toEqual([1]);
});

function near(value: number): unknown {
  return expect.closeTo(value, 10);
}
