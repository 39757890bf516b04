import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Aggregation, tokenWeights } from './weights.ts';

const masks = [Uint8Array.of(1, 1, 0, 0), Uint8Array.of(1, 1, 1, 1)];
const losses = [
  [1, 2, 0, 0],
  [1, 1, 1, 3],
];

function aggregate(aggregation: Aggregation, constant?: number): number {
  const weights = tokenWeights(masks, aggregation, constant);
  return weights.reduce(
    (total, row, index) =>
      total + row.reduce((sum, weight, token) => sum + weight * losses[index]![token]!, 0),
    0,
  );
}

describe('the worked example', () => {
  test.each([
    ['token-mean', undefined, 1.5],
    ['sequence-mean-token-sum', undefined, 4.5],
    ['sequence-mean-token-mean', undefined, 1.5],
    ['sequence-sum-constant', 4, 1.125],
    ['sequence-sum-constant', 8, 0.5625],
  ] as const)('%s, constant %s: %s', (aggregation, constant, expected) => {
    expect(aggregate(aggregation, constant)).toBeCloseTo(expected, 6);
  });
});

const aggregations = [
  'token-mean',
  'sequence-mean-token-mean',
  'sequence-mean-token-sum',
  'sequence-sum-constant',
] as const;

test.each(aggregations)('%s: weights are finite, and not 0 exactly where the mask is 1', (aggregation) => {
  const rows = fc.array(fc.array(fc.constantFrom(0, 1), { maxLength: 5 }).map((row) => Uint8Array.from(row)));
  fc.assert(
    fc.property(rows, (batch) => {
      const weights = tokenWeights(batch, aggregation, 7);
      expect(weights.map((row) => row.length)).toEqual(batch.map((row) => row.length));
      for (const [index, row] of weights.entries()) {
        for (const [token, weight] of row.entries()) {
          expect(weight > 0 && Number.isFinite(weight)).toBe(batch[index]![token] === 1);
        }
      }
    }),
  );
});

test('rows without trained tokens change no mean', () => {
  const empty = new Uint8Array(4);
  for (const aggregation of aggregations.slice(0, 3)) {
    expect(tokenWeights([...masks, empty], aggregation).slice(0, 2)).toEqual(
      tokenWeights(masks, aggregation),
    );
    expect([...tokenWeights([empty], aggregation)[0]!]).toEqual([0, 0, 0, 0]);
  }
});

test('with a constant a token weighs the same beside a long row and a short one', () => {
  const [alone] = tokenWeights([masks[0]!, new Uint8Array(4)], 'sequence-sum-constant', 20);
  const [beside] = tokenWeights([masks[0]!, new Uint8Array(400).fill(1)], 'sequence-sum-constant', 20);
  expect(alone).toEqual(beside);
  expect(alone![0]).toBeCloseTo(1 / 40, 8);
});

test('an unusable constant is refused', () => {
  expect(() => tokenWeights(masks, 'sequence-sum-constant', 0)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The constant that token losses are divided by is not usable. Seen: 0. Allowed: a positive number, such as the most tokens that a trajectory may sample.]`,
  );
  expect(() => tokenWeights(masks, 'sequence-sum-constant')).toThrow('Seen: undefined');
});
