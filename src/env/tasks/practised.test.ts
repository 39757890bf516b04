import { expect, test } from 'vitest';
import { findEnvironment } from '../../run/load/environments.ts';
import { testTasksOf } from './practised.ts';

async function splitOf(name: string, options: object = {}): Promise<string> {
  const factory = await findEnvironment(name);
  return testTasksOf(factory.create(factory.options.parse(options)));
}

test('each environment: maps and questions are kept from training; the lists that are the game itself are not', async () => {
  expect(await splitOf('frozen-lake')).toBe('held-out');
  expect(await splitOf('js-tasks')).toBe('held-out');
  // 25 starts, 48 words, 32 numbers, 6 deals: a task that is never practised could not rightly be played.
  expect(await splitOf('maze')).toBe('practised');
  expect(await splitOf('wordle')).toBe('practised');
  expect(await splitOf('guess-number')).toBe('practised');
  expect(await splitOf('kuhn-poker')).toBe('practised');
  expect(await splitOf('maze', { heldOutStarts: 5 })).toBe('held-out');
});

const split = (train: readonly number[], tests: readonly number[]) =>
  testTasksOf({
    tasks: (name) => {
      const list = name === 'train' ? train : tests;
      return { size: list.length, at: (index) => ({ number: list[index]!, kind: 'n' }) };
    },
  });

test('whatever their order, and however many are shared', () => {
  expect(split([1, 2, 3], [3, 1, 2])).toBe('practised');
  expect(split([1, 2, 3], [3, 4])).toBe('partly');
  expect(split([1, 2, 3], [4])).toBe('held-out');
});

test('endless sets that are one set are found out', () => {
  const endless = { size: Number.POSITIVE_INFINITY, at: (index: number) => index };
  expect(testTasksOf({ tasks: () => endless })).toBe('practised');
});
