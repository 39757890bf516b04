/** The page of evidence is what the stored results say, and no method is missing from it. */

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { evidencePage } from '../bench/methods/evidence-page.ts';
import type { Experiment } from '../bench/methods/experiment.ts';
import { experiments, pending } from '../bench/methods/experiments.ts';
import { readResults } from '../bench/methods/main.ts';
import { compareArms, overallVerdict } from '../bench/methods/verdict.ts';
import { recipes } from '../src/train/recipes/recipes.ts';

test('docs/evidence.md is what the results say: npm run bench -- methods --report', () => {
  const page = readFileSync(new URL('../docs/evidence.md', import.meta.url), 'utf8');
  expect(evidencePage(readResults())).toBe(page);
});

test('every recipe has an experiment, or a reason why it has none yet, and not both', () => {
  const tried = new Set(experiments.flatMap(({ methods }) => methods));
  const names = recipes.map(({ name }) => name);
  expect(names.filter((name) => tried.has(name) === name in pending)).toEqual([]);
  expect(new Set(experiments.map(({ name }) => name)).size).toBe(experiments.length);
});

describe('verdicts', () => {
  const experiment = (comparison: Partial<Experiment['comparisons'][0]>): Experiment =>
    ({
      comparisons: [{ figure: 'x', arm: 'new', against: 'old', expect: 'higher', ...comparison }],
    }) as unknown as Experiment;
  const verdict = (
    comparison: Partial<Experiment['comparisons'][0]>,
    fresh: readonly number[],
    old: readonly number[],
  ): string => {
    const runs = (values: readonly number[]) => values.map((x, seed) => ({ seed, figures: { x } }));
    const result = { experiment: 'e', runs: { new: runs(fresh), old: runs(old) } };
    return overallVerdict(compareArms(experiment(comparison), result));
  };
  const high = [2, 2.2, 2.1, 1.9, 2.3];
  const low = [1, 1.1, 1, 0.9, 1.2];

  test('follow the side of the claim on which the whole interval lies', () => {
    expect(verdict({}, high, low)).toBe('reproduced');
    expect(verdict({}, low, high)).toBe('refuted');
    expect(verdict({ expect: 'lower' }, low, high)).toBe('reproduced');
    expect(verdict({}, [1, 2, 1, 2, 1], [2, 1, 1, 1, 2])).toBe('not at this scale');
  });

  test('need five seeds', () => {
    expect(verdict({}, high.slice(1), low.slice(1))).toBe('not at this scale');
  });

  test('take factors and margins at their word', () => {
    expect(verdict({ factor: 1.5 }, high, low)).toBe('reproduced');
    expect(verdict({ factor: 3 }, high, low)).toBe('refuted');
    expect(verdict({ expect: 'lower', factor: 1.5 }, low, high)).toBe('reproduced');
    expect(verdict({ expect: 'no-worse', margin: 2 }, low, high)).toBe('reproduced');
    expect(verdict({ expect: 'no-worse', margin: 0.5 }, low, high)).toBe('refuted');
  });
});
