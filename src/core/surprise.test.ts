/** Surprise and entropy count the tokens that were chosen: worked by hand. */

import { expect, test } from 'vitest';
import { chosenTokens } from './choices.ts';
import { entropyOf, surpriseOf } from './surprise.ts';

/** "go" | "go left" | "wait": the first token is chosen among two, the second of "go" too, all others are forced. */
const choices = [Int32Array.of(5, 2), Int32Array.of(5, 6, 2), Int32Array.of(7, 2)];
const written = (ids: number[], logprobs: number[]) => ({
  ids: Int32Array.from(ids),
  logprobs: Float32Array.from(logprobs),
});

test('tokens of a restricted completion count where another could have come', () => {
  expect(chosenTokens({ ids: [5, 6, 2] })).toBe(3);
  expect(chosenTokens({ ids: [5, 6, 2], choices })).toBe(2);
  expect(chosenTokens({ ids: [7, 2], choices })).toBe(1);
  expect(chosenTokens({ ids: [7, 2], choices: [Int32Array.of(7, 2)] })).toBe(0);
});

test('the mean is over chosen tokens of all calls', () => {
  const restricted = { ...written([7, 2], [-2, 0]), choices };
  // 2 nats on one chosen token, not on two.
  expect(surpriseOf([restricted])).toBe(2);
  // (2 + 1 + 3) / (1 + 2).
  expect(surpriseOf([restricted, written([8, 9], [-1, -3])])).toBe(2);
  // (2 + 0.5 + 0.5) / (1 + 2).
  expect(surpriseOf([restricted, { ...written([5, 6, 2], [-0.5, -0.5, 0]), choices }])).toBe(1);
});

test('entropy is what the player tells, and surprise where it tells none', () => {
  const told = { ...written([8, 9], [-1, -3]), entropy: 1 };
  expect(entropyOf([told])).toBe(0.5);
  // (1 + 2) / (2 + 1).
  expect(entropyOf([told, { ...written([7, 2], [-2, 0]), choices }])).toBe(1);
  expect(entropyOf([written([8, 9], [-1, -3])])).toBe(2);
  expect(entropyOf([{ ...written([7, 2], [-2, 0]), choices, entropy: 0.6 }])).toBe(0.6);
  expect(entropyOf([])).toBeNaN();
});

test('where nothing was chosen it is 0, and where nobody knows it is not a number', () => {
  expect(surpriseOf([{ ...written([7, 2], [0, 0]), choices: [Int32Array.of(7, 2)] }])).toBe(0);
  expect(surpriseOf([])).toBeNaN();
  expect(surpriseOf([written([], [])])).toBeNaN();
});
