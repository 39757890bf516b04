import { expect, test } from 'vitest';
import { plannedSteps, spentShare } from './budget.ts';

const spent = { step: 10, episodes: 640, turns: 2_000, tokens: 40_000, seconds: 30 };
const nothing = { step: 0, episodes: 0, turns: 0, tokens: 0, seconds: 0 };
const unlimited = { episodes: 0, turns: 0, tokens: 0, minutes: 0 };
const limits = (tokens: number, minutes: number, steps = 100) => ({
  steps,
  budget: { ...unlimited, tokens, minutes },
});

test('whatever runs out first decides', () => {
  expect(spentShare(limits(0, 0), spent)).toBe(0.1);
  expect(spentShare(limits(80_000, 0), spent)).toBe(0.5);
  expect(spentShare(limits(80_000, 0.5), spent)).toBe(1);
  expect(spentShare(limits(0, 0, 5), spent)).toBe(2);
  expect(spentShare({ steps: 100, budget: { ...unlimited, episodes: 1280 } }, spent)).toBe(0.5);
  expect(spentShare({ steps: 100, budget: { ...unlimited, turns: 2000 } }, spent)).toBe(1);
});

test('a run without steps is spent before it begins', () => {
  expect(spentShare(limits(0, 0, 0), nothing)).toBe(1);
});

test('the number of steps is judged by what a step has cost, and never above the limit', () => {
  expect(plannedSteps(limits(0, 0), spent)).toBe(100);
  expect(plannedSteps(limits(80_000, 0), spent)).toBe(20);
  expect(plannedSteps(limits(10_000_000, 0), spent)).toBe(100);
  expect(plannedSteps(limits(20_000, 0), spent)).toBe(10);
  expect(plannedSteps(limits(80_000, 1), nothing)).toBe(100);
});
