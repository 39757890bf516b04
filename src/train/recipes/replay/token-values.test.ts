import { expect, test } from 'vitest';
import { withInitialValue } from './token-values.ts';

const scaled = { credit: { rewardScale: 0.1 } };
const episodes = [{ outcome: -4 }, { outcome: -20 }, { outcome: 1 }];

test('values begin at the least return as credit sees it, where none is above all others', () => {
  const options = { discount: 0.99, initialValue: 'least' };
  expect(withInitialValue(options, episodes, scaled)).toEqual({ discount: 0.99, initialValue: -2 });
  expect(withInitialValue(options, [{ outcome: 0.5 }, { outcome: 1 }], scaled)).toMatchObject({
    initialValue: 0,
  });
});

test('or at a number', () => {
  expect(withInitialValue({ initialValue: -4.1 }, episodes, scaled)).toEqual({ initialValue: -4.1 });
});
