/** The pages and pictures of evidence are what the stored results say, and no method is missing from them. */

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compareArms } from '../bench/methods/comparison.ts';
import { curvePicture } from '../bench/methods/curve-picture.ts';
import type { Experiment } from '../bench/methods/experiment.ts';
import { experiments, pending } from '../bench/methods/experiments.ts';
import { readResults } from '../bench/methods/main.ts';
import { differenceText } from '../bench/methods/measured.ts';
import { reportFiles } from '../bench/methods/report.ts';
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

describe('what was compared', () => {
  const high = [2, 2.2, 2.1, 1.9, 2.3];
  const low = [1, 1.1, 1, 0.9, 1.2];
  const text = (
    comparison: Partial<Experiment['comparisons'][0]>,
    fresh: readonly number[],
    old: readonly number[],
  ): string => {
    const comparisons = [{ figure: 'x', arm: 'new', against: 'old', expect: 'higher', ...comparison }];
    const runs = (values: readonly number[]) => values.map((x, seed) => ({ seed, figures: { x } }));
    const result = { experiment: 'e', runs: { new: runs(fresh), old: runs(old) } };
    return compareArms({ comparisons } as unknown as Experiment, result)
      .map(differenceText)
      .join();
  };

  test('is a paired mean, and the number of seeds that were as expected', () => {
    expect(text({}, high, low)).toBe('x of new minus old: 1.06, higher in 5 of 5 seeds');
    expect(text({ expect: 'lower' }, high, [3, 3, 1, 1, 1])).toBe(
      'x of new minus old: 0.3, lower in 2 of 5 seeds',
    );
    expect(text({}, high.slice(1), low)).toBe('x of new minus old: 1.13, higher in 4 of 4 seeds');
  });

  test('factors and margins are taken at their word', () => {
    const times = 'x of new divided by old: 2.02, more than';
    expect(text({ factor: 2 }, high, low)).toBe(`${times} 2 times as high in 2 of 5 seeds`);
    const lower = 'x of new divided by old: 0.494, more than';
    expect(text({ expect: 'lower', factor: 1.5 }, low, high)).toBe(
      `${lower} 1.5 times lower in 5 of 5 seeds`,
    );
    const worse = 'x of new minus old: −1.06, no lower than by';
    expect(text({ expect: 'no-worse', margin: 2 }, low, high)).toBe(`${worse} 2 in 5 of 5 seeds`);
    expect(text({ expect: 'no-worse', margin: 1 }, low, high)).toBe(`${worse} 1 in 2 of 5 seeds`);
  });

  test('no page of older experiments says that anything was reproduced or refuted', () => {
    const [, older] = files.get('evidence.md')!.split('## Older experiments');
    expect(older).not.toMatch(/\b(reproduced|refuted|undecided)\b/);
    const lines = files.get('methods.md')!.split('\n');
    const claims = lines.filter((line) => line.startsWith('Claim ['));
    expect(lines.filter((line) => !claims.includes(line)).join('\n')).not.toMatch(
      /\b(reproduced|refuted|undecided)\b/,
    );
    // A claim about a setting is about no recipe: most of those compare grpo with grpo.
    expect(claims.filter((line) => line.includes('`archer`'))).toHaveLength(1);
    expect(claims.some((line) => line.includes('`scaling-inter`'))).toBe(false);
  });
});
