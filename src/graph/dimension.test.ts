import { expect, test } from 'vitest';
import { broadcastShapes, canonical, evaluate, plus, product } from './dimension.ts';

test('equal sizes have equal spellings', () => {
  expect(canonical('T*B')).toBe('B*T');
  expect(canonical('B*(T-1)*4')).toBe('4*B*(T-1)');
  expect(product(['B', 2, 'T', 3])).toBe('6*B*T');
  expect(product([])).toBe(1);
  expect(product(['B', 0])).toBe(0);
  expect(plus(plus('T', -2), 2)).toBe('T');
  expect(plus('T', 1)).toBe('T+1');
  expect(plus('B*T', 0)).toBe('B*T');
  expect(evaluate('4*(T-1)*B', { T: 3, B: 5 })).toBe(40);
});

test('shapes broadcast from the right', () => {
  expect(broadcastShapes('add', ['B', 1, 3], ['T', 1], [])).toEqual(['B', 'T', 3]);
});

test('what is not a size', () => {
  expect(() => canonical('B+T')).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: This is not an axis size. Seen: B+T. Allowed: a non-negative integer, or an expression such as 'B', 'T-1' or 'B*T'.]`,
  );
  expect(() => canonical(-1)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: This is not an axis size. Seen: -1. Allowed: a non-negative integer, or an expression such as 'B', 'T-1' or 'B*T'.]`,
  );
  expect(() => plus('B*T', 1)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: Cannot add a constant to a product of symbolic sizes. Seen: B*T plus 1. Slice or concatenate along a single symbolic axis before reshaping.]`,
  );
});
