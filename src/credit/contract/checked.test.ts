import { expect, test } from 'vitest';
import { checkState } from './checked.ts';

const refusal = (state: unknown): string => {
  try {
    checkState('Credit method "own"', state);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

test('a state goes into checkpoints: what JSON would change is refused, with its place', () => {
  expect(refusal({ seen: { 'a b': 3 }, best: null })).toBe('');
  expect(
    [refusal(undefined), refusal([1])].every((message) => message.includes('did not return its state')),
  ).toBe(true);
  for (const state of [
    { best: Number.NEGATIVE_INFINITY },
    { best: Number.NaN },
    { best: new Map([['a', 1]]) },
  ])
    expect(refusal(state)).toMatch(/has a state that is not JSON, at .*best.*Allowed: plain JSON/s);
});
