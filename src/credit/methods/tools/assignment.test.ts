import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bestAssignment, greedyAssignment, type Scores } from './assignment.ts';
import { comparable, similarity } from './tool-similarity.ts';
import { transportPlan } from './transport.ts';

const matrix = fc
  .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }))
  .chain(([rows, columns]) =>
    fc
      .array(fc.constantFrom(0, 0.25, 0.5, 0.75, 1), { minLength: rows * columns, maxLength: rows * columns })
      .map((values): Scores => ({ values: Float64Array.from(values), rows, columns })),
  );

const total = ({ values, columns }: Scores, matched: Int32Array): number =>
  matched.reduce((sum, column, row) => sum + (column < 0 ? 0 : values[row * columns + column]!), 0);

/** The best total over all ways to match, tried one by one. */
function bruteForce({ values, rows, columns }: Scores): number {
  const best = (row: number, taken: number): number => {
    if (row === rows) return 0;
    let most = best(row + 1, taken);
    for (let column = 0; column < columns; column++) {
      if (taken & (1 << column)) continue;
      most = Math.max(most, values[row * columns + column]! + best(row + 1, taken | (1 << column)));
    }
    return most;
  };
  return best(0, 0);
}

describe('matching', () => {
  test('the Hungarian method finds the best total, each column once, and no pair without a score', () => {
    fc.assert(
      fc.property(matrix, (scores) => {
        const matched = bestAssignment(scores);
        expect(matched).toHaveLength(scores.rows);
        expect(total(scores, matched)).toBeCloseTo(bruteForce(scores), 10);
        const used = [...matched].filter((column) => column >= 0);
        expect(new Set(used).size).toBe(used.length);
        for (const [row, column] of matched.entries()) {
          if (column >= 0) expect(scores.values[row * scores.columns + column]).toBeGreaterThan(0);
        }
      }),
    );
  });

  test('greedy takes the best pair first, which can cost the best total', () => {
    const scores: Scores = { values: Float64Array.from([1, 0.9, 0.9, 0]), rows: 2, columns: 2 };
    expect([...greedyAssignment(scores)]).toEqual([0, -1]);
    expect([...bestAssignment(scores)]).toEqual([1, 0]);
    fc.assert(
      fc.property(matrix, (any) => {
        expect(total(any, greedyAssignment(any))).toBeLessThanOrEqual(total(any, bestAssignment(any)) + 1e-9);
      }),
    );
  });
});

test('a transport plan has uniform marginals, and follows scores more closely with less entropy', () => {
  fc.assert(
    fc.property(matrix, fc.constantFrom(0.1, 0.5, 2), (scores, regularisation) => {
      const plan = transportPlan(scores, regularisation);
      const { rows, columns } = scores;
      for (let row = 0; row < rows; row++) {
        const sum = plan.slice(row * columns, (row + 1) * columns).reduce((a, b) => a + b, 0);
        expect(sum).toBeCloseTo(1 / rows, 4);
      }
      for (let column = 0; column < columns; column++) {
        const sum = plan.filter((_, index) => index % columns === column).reduce((a, b) => a + b, 0);
        // Where rows and columns fit badly, the last of 500 iterations is still some 1e-4 away.
        expect(sum).toBeCloseTo(1 / columns, 2);
      }
    }),
  );
  const twice: Scores = { values: Float64Array.from([1, 0, 0.5, 0.5, 1, 0]), rows: 3, columns: 2 };
  const plan = transportPlan(twice, 0.1);
  expect([...plan.subarray(0, 2)]).toEqual([...plan.subarray(4)]);
  const worth = (plan: Float64Array): number => plan[0]! + plan[3]!;
  const diagonal: Scores = { values: Float64Array.from([1, 0, 0, 1]), rows: 2, columns: 2 };
  expect(worth(transportPlan(diagonal, 0.1))).toBeGreaterThan(worth(transportPlan(diagonal, 1)));
});

test('similarity of calls', () => {
  const call = (name: string, args: Record<string, number | string> = {}) =>
    comparable({ name, arguments: args });
  const golden = call('calc', { a: 1, b: 2 });
  expect(similarity(call('calc', { a: 1, b: 3 }), golden)).toBe(0.75);
  expect(similarity(call('CALC', { b: 2, a: 1 }), golden)).toBe(1);
  expect(similarity(call('search', { a: 1, b: 2 }), golden)).toBe(0);
  expect(similarity(call('calc'), golden)).toBe(0.25);
  expect(similarity(call('calc', { a: '1' }), golden)).toBeCloseTo((1 + 1 / 2) / 4, 10);
  expect(similarity(call('stop'), call('stop'))).toBe(1);
});
