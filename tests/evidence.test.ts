/** The pages and pictures of evidence are what the stored results say, and no method is missing from them. */

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { curvePicture } from '../bench/methods/curve-picture.ts';
import type { Experiment } from '../bench/methods/experiment.ts';
import { experiments, pending } from '../bench/methods/experiments.ts';
import { readResults } from '../bench/methods/main.ts';
import { reportFiles } from '../bench/methods/report.ts';
import { compareArms, overallVerdict } from '../bench/methods/verdict.ts';
import { recipes } from '../src/train/recipes/recipes.ts';

const files = await reportFiles(readResults());

test.each([...files.keys()])('docs/%s is what the results say: npm run bench -- methods --report', (name) => {
  expect(files.get(name)).toBe(readFileSync(new URL(`../docs/${name}`, import.meta.url), 'utf8'));
});

test('docs/curves has no other pictures, and each is shown with its experiment and with its recipes', () => {
  const pictures = readdirSync(new URL('../docs/curves', import.meta.url)).map((name) => `curves/${name}`);
  expect(pictures.sort()).toEqual([...files.keys()].filter((name) => name.startsWith('curves/')).sort());
  expect(pictures.length).toBeGreaterThan(15);
  for (const { name, methods } of experiments) {
    const picture = `curves/${name}.svg`;
    if (!files.has(picture)) continue;
    expect(files.get('evidence.md')).toContain(`(${picture})`);
    const ofRecipes = recipes.some((recipe) => methods.includes(recipe.name));
    expect(files.get('methods.md')!.includes(`(${picture})`)).toBe(ofRecipes);
  }
});

test('a picture has a line and a band for each arm with curves, named, and survives any name', () => {
  const run = (seed: number, ...curve: number[]) => ({ seed, figures: {}, curve });
  const experiment = { name: 'a < b', arms: ['old', '"new" & <better>', 'none'] } as unknown as Experiment;
  const picture = curvePicture(experiment, {
    experiment: 'a < b',
    runs: {
      old: [run(1, 0, 0.25, 0.5), run(2, 0, 0.25, 0.5)],
      '"new" & <better>': [run(1, 0, 0.5, 1), run(2, 0, 0.5, 0.8)],
      none: [
        { seed: 1, figures: {} },
        { seed: 2, figures: {} },
      ],
    },
  });
  expect(picture.match(/<polyline/g)).toHaveLength(2);
  expect(picture.match(/<polygon class="band/g)).toHaveLength(2);
  expect(picture).toContain('>old 0.50<');
  expect(picture).toContain('&quot;new&quot; &amp; &lt;better&gt; 0.90<');
  expect(picture).toContain('<title>a &lt; b: success while learning; at the end old 0.50,');
  expect(picture).toContain('mean of 2 seeds');
  // From the left edge at 0 to the right one at the end: equal seeds have a band without width.
  expect(picture).toContain('points="56.0,286.0 291.0,233.5 526.0,181.0"');
  expect(picture).toContain('points="56.0,286.0 291.0,233.5 526.0,181.0 526.0,181.0 291.0,233.5 56.0,286.0"');
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
