import { expect, test } from 'vitest';
import { Rng } from '../core/rng.ts';
import { comparePaired } from './paired.ts';
import { numbers } from './testing/numbers.test-helper.ts';
import { atCeiling, claimP, type Facts, judge, type Part } from './verdict.ts';

interface Case {
  readonly a: readonly number[];
  readonly b: readonly number[];
}
const { cases } = numbers<{ readonly cases: Readonly<Record<string, Case>> }>('paired.json');
const rng = Rng.of('verdict');

function part(name: string, size = 0.02, kind: Part['kind'] = 'better', reversed = false): Part {
  const { a, b } = cases[name]!;
  const arm = (solved: readonly number[]) => ({
    values_S: solved.map((count) => count / 500),
    shares_S: solved.map((count) => ({ solved: count, episodes: 500 })),
  });
  const [first, second] = reversed ? [b, a] : [a, b];
  const comparison = comparePaired([{ first: arm(first), second: arm(second) }], { rng });
  return { against: 'grpo', kind, size, comparison };
}

const facts: Facts = { void: [], cannotFail: [], undecided: [], deviations: [], alpha: 0.05 };

test('the worked cases of the reference', () => {
  expect(judge([part('ordinary')], facts)).toEqual({ verdict: 'reproduced', why: 'every part holds' });
  // The size is excluded by sign flips, not by the guard.
  expect(judge([part('twenty seeds')], facts).verdict).toBe('undecided');
  expect(judge([part('collapse in two seeds of the rival', 0.1)], facts)).toMatchObject({
    verdict: 'undecided',
    seedsNeeded: 132,
  });
  expect(judge([part('five seeds, all better')], facts)).toMatchObject({
    verdict: 'undecided',
    why: '5 seeds; a verdict takes 10',
  });
  expect(judge([part('mean better, most seeds worse')], facts).verdict).toBe('undecided');
});

test('a size above both intervals is refuted, or of our implementation only', () => {
  expect(judge([part('ordinary', 0.05)], facts)).toEqual({
    verdict: 'refuted',
    why: '0.05 above grpo is excluded, at this scale',
  });
  expect(judge([part('ordinary', 0.02, 'better', true)], facts).why).toBe(
    'reversed against grpo, at this scale',
  );
  const deviations = ['a linear estimator'];
  expect(judge([part('ordinary', 0.05)], { ...facts, deviations })).toMatchObject({
    verdict: 'of our implementation only',
    why: '0.05 above grpo is excluded; it deviates: a linear estimator',
  });
});

test('above zero and below the size is undecided where the size is possible', () => {
  const { verdict, seedsNeeded } = judge([part('ordinary', 0.03)], facts);
  expect(verdict).toBe('undecided');
  expect(seedsNeeded).toBeGreaterThanOrEqual(10);
});

test('a placebo must be beaten, by however little', () => {
  expect(judge([part('ordinary'), part('ordinary', 0.03, 'placebo')], facts).verdict).toBe('reproduced');
  expect(judge([part('ordinary'), part('twenty seeds', 0.005, 'placebo')], facts).verdict).toBe('undecided');
});

test('what makes figures worthless comes first', () => {
  const everything = {
    ...facts,
    void: ['the claim was changed'],
    cannotFail: ['equal arms'],
    undecided: ['few'],
  };
  expect(judge([part('ordinary')], everything).verdict).toBe('void');
  expect(judge([part('ordinary')], { ...everything, void: [] }).verdict).toBe('cannot fail here');
  expect(judge([part('ordinary')], { ...facts, undecided: ['few'] }).verdict).toBe('undecided');
  expect(judge([], facts).verdict).toBe('undecided');
});

test('p of a claim is that of its weakest part, and 1 on the wrong side', () => {
  const [strong, weak] = [part('ordinary'), part('collapse in two seeds of the rival')];
  expect(claimP([strong, weak])).toBe(weak.comparison.p);
  expect(claimP([strong, part('ordinary', 0.02, 'better', true)])).toBe(1);
});

test('a ceiling', () => {
  const { a, b } = cases['ceiling, one seed short']!;
  expect(
    atCeiling(
      a.map((k) => k / 500),
      b.map((k) => k / 500),
    ),
  ).toBe(true);
  expect(atCeiling([0.5, 0.6], [0.4, 0.5])).toBe(false);
  expect(atCeiling([0.98, 0.97], [0.99, 0.98])).toBe(true);
});

test('a claim that is reversed everywhere says so once', () => {
  const parts = ['a', 'b', 'c'].map((against) => ({ ...part('ordinary', 0.02, 'better', true), against }));
  const facts = { void: [], cannotFail: [], undecided: [], deviations: [], alpha: 0.05 };
  expect(judge(parts, facts)).toEqual({
    verdict: 'refuted',
    why: 'reversed against all 3 it is compared with, at this scale',
  });
});
