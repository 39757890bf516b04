import { expect, test } from 'vitest';
import { nearest, TurnwiseError } from './errors.ts';

test('a message says what was wrong, what was seen, what is allowed and what to do, in that order', () => {
  const error = new TurnwiseError('reward-not-finite', {
    next: 'Wait for winter!',
    allowed: 'below 0 °C',
    seen: '12 °C',
    what: 'The lake is not frozen',
    fields: { celsius: 12 },
    cause: 'summer',
  });
  expect(error.message).toBe('The lake is not frozen. Seen: 12 °C. Allowed: below 0 °C. Wait for winter!');
  expect(error).toMatchObject({
    name: 'TurnwiseError',
    code: 'reward-not-finite',
    fields: { celsius: 12 },
    cause: 'summer',
  });
});

test('an error of another copy of the package is recognised, and other errors are not', () => {
  const foreign = Object.assign(new Error('x'), { [Symbol.for('turnwise.error')]: true });
  expect(TurnwiseError.isInstance(foreign)).toBe(true);
  expect(TurnwiseError.isInstance(new Error('x'))).toBe(false);
  expect(TurnwiseError.isInstance(undefined)).toBe(false);
});

test('the nearest name is found for a slip, and none for something else', () => {
  const names = ['frozen-lake', 'maze', 'wordle'];
  expect(nearest('Frozen_Lake', names)).toBe('frozen-lake');
  expect(nearest('mzae', names)).toBe('maze');
  expect(nearest('chess', names)).toBeUndefined();
  expect(nearest('maze', [])).toBeUndefined();
});
