import { expect, test } from 'vitest';
import { drawnTasks } from './drawn-tasks.ts';

const pairs = drawnTasks('pairs', (rng) => {
  const pair = [rng.int(20), rng.int(20)] as const;
  return pair[0] === pair[1] ? undefined : { pair };
});
const first = (split: 'train' | 'validation' | 'test', count: number) =>
  Array.from({ length: count }, (_, index) => JSON.stringify(pairs(split).at(index)));

test('a task that is drawn again is in the same split', () => {
  const train = new Set(first('train', 2000));
  const validation = new Set(first('validation', 500));
  const held = new Set(first('test', 500));
  for (const task of held) expect(train.has(task) || validation.has(task)).toBe(false);
  for (const task of validation) expect(train.has(task)).toBe(false);
  // Of 380 pairs, all but a few were drawn, about a tenth of them for each of the small splits.
  expect(train.size + validation.size + held.size).toBeGreaterThan(370);
  for (const { size } of [validation, held]) expect(size / 380).toBeCloseTo(0.1, 1);
});

test('the same index gives the same task, and no task is one that the generator refused', () => {
  expect(first('test', 50)).toEqual(first('test', 50));
  for (const task of first('train', 200)) {
    const { pair } = JSON.parse(task) as { pair: [number, number] };
    expect(pair[0]).not.toBe(pair[1]);
  }
});

test('a slow condition is asked only about tasks of the split', () => {
  const asked: number[] = [];
  const even = drawnTasks(
    'even',
    (rng) => ({ number: rng.int(1000) }),
    ({ number }) => asked.push(number) > 0 && number % 2 === 0,
  );
  for (let index = 0; index < 50; index++) expect(even('test').at(index).number % 2).toBe(0);
  // Of a thousand draws or so, a tenth is in the split, and half of those are even.
  expect(asked.length).toBeLessThan(200);
});

test('says when the generator gives none', () => {
  expect(() => drawnTasks('pairs', () => undefined)('test').at(0)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: No task of pairs was found for these options. Seen: 20000 draws for the test split. Choose options with more, or easier, tasks.]`,
  );
});
