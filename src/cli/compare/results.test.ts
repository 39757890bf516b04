import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { comparisonText } from './comparison-text.ts';
import { examplePlan, exampleStatuses } from './example-comparison.test-helper.ts';
import { reportPage } from './report-page.ts';
import { type Comparison, compareRuns } from './results.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-compare-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const plan = await examplePlan(root, ['rloo', 'grpo', 'ppo'], 5);
const rising = (end: number): number[] => [0.4, 0.6, end];
const comparison: Comparison = compareRuns(
  plan,
  exampleStatuses(plan, {
    'rloo-1': rising(0.9),
    'rloo-2': rising(0.8),
    'rloo-3': rising(1),
    'rloo-4': rising(0.85),
    'rloo-5': rising(0.95),
    // Always 0.2 below; the fourth collapses and comes back.
    'grpo-1': rising(0.7),
    'grpo-2': rising(0.6),
    'grpo-3': rising(0.8),
    'grpo-4': [0.4, 0.9, 0.4, 0.65],
    'grpo-5': rising(0.75),
    // Seeds 3 to 5 failed.
    'ppo-1': rising(0.9),
    'ppo-2': rising(0.8),
  }),
);
const [rloo, grpo, ppo] = comparison.recipes;

test('figures of a recipe are over its seeds', () => {
  expect(rloo).toMatchObject({ finished: 5, collapses: 0, secondsPerStep: 0.75 });
  expect(rloo!.final!.value).toBeCloseTo(0.9, 12);
  expect(rloo!.final!.interval!.low).toBeGreaterThanOrEqual(0.8);
  // Every finished run went 200 environment steps: (0.5 + 0.75) / 2 for a run that ends at 0.9.
  expect(comparison.areaEnd).toBe(200);
  expect(rloo!.area!.value).toBeCloseTo(0.625, 12);
});

test('steps to the level are medians over seeds, and a seed that never got there is later than all', () => {
  // Seeds end at 0.8 to 1: from 0.6, 0.8 is reached 200/3 of the way to 0.9.
  expect(rloo!.toLevel.reached).toBe(5);
  expect(rloo!.toLevel.turns).toBeCloseTo(100 + 200 / 3, 9);
  expect(rloo!.toLevel.tokens).toBeCloseTo(1000 + 2000 / 3, 8);
  expect(grpo!.toLevel).toEqual({ reached: 2, turns: null, tokens: null });
});

test('a collapse counts though it recovered', () => {
  expect(grpo!.collapses).toBe(1);
});

test('failed runs are left out, never zero', () => {
  expect(ppo).toMatchObject({ finished: 2 });
  expect(ppo!.final!.value).toBeCloseTo(0.85, 12);
  expect(ppo!.seeds[2]).toEqual({
    seed: 3,
    name: 'ppo-3',
    problem: { code: 'process-failed', message: 'The process ended with signal SIGKILL' },
  });
});

test('differences are paired, and claimed for five seeds or more', () => {
  expect(comparison.pairs.map(({ first, second, seeds }) => [first, second, seeds])).toEqual([
    ['rloo', 'grpo', 5],
    ['rloo', 'ppo', 2],
    ['grpo', 'ppo', 2],
  ]);
  expect(comparison.pairs[0]!.difference).toBeCloseTo(-0.2, 12);
  expect(comparison.pairs[0]!.interval!.high).toBeCloseTo(-0.2, 12);
  expect(comparison.pairs[1]!.difference).toBeCloseTo(0, 12);
});

test('the terminal shows it within 80 columns', () => {
  const text = comparisonText(comparison, 'runs/example/report.html', { columns: 80, colour: false });
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  expect(text).toMatchInlineSnapshot(`
    "example  frozen-lake · 5 seeds, one warm start each

    Success on held-out tasks
      recipe   success            area  steps→80%  tokens→80%  collapsed  s/step
      rloo     0.90 [0.82, 0.98]  0.63        167       1.67k        0/5    0.75
      grpo     0.70 [0.61, 0.79]  0.59  never 2/5   never 2/5        1/5    1.00
      ppo 2/5  0.85 [0.80, 0.90]  0.61        183       1.83k        0/2    0.75
      Interquartile mean over seeds, with 95% bootstrap interval. Area: mean along
      the way. Steps→80%: environment steps until success was 80%, median over
      seeds. Collapsed: lost a quarter of the peak, beyond chance.

    Learning curves
      1.0 ┤
          │                                                                 ⢀⣀⡠⠤⣔●
      0.8 ┤                                                     ⣀⣀⣀⣠⣤●⣤⠶⠶⠶⠛●⠓⠉⠉⠉
          │                                        ⢀⣀⣀⣠⣤●⣤⠶⢶⣶⣛●⣛⣉⣉⣉⣁⣀◆⣀⣀⣀⣀⣀◆⣀⣀⡠⠤⠤◆
      0.6 ┤                           ⢀⣀⣀⡠⠤●⠤⠶⠖⠒⠛●⠛⠛⠛⠉⠉⠉◆⠉⠉⠁
          │          ⣀⣀●⣀⡠⠤⠤⠤⠒●⠒⠒⠒⠉⠉●⠉⠁
      0.4 ┤●⠤⠒⠒⠒⠉●⠉⠉⠉
          │
      0.2 ┤
          │
      0.0 ┤
          └───────────────────────────────────────────────────────────────────────
           0                                                  environment step 200
           ● rloo   ◆ grpo   ▲ ppo

    Differences, seed by seed
                   difference
      grpo − rloo  −0.20 [−0.20, −0.20]  rloo is better
      ppo − rloo   0.00 [0.00, 0.00]     2 seeds are too few to say
      ppo − grpo   +0.20 [+0.20, +0.20]  2 seeds are too few to say

    Failed
      ppo, seed 3: The process ended with signal SIGKILL (process-failed)
      ppo, seed 4: The process ended with signal SIGKILL (process-failed)
      ppo, seed 5: The process ended with signal SIGKILL (process-failed)

    Report: runs/example/report.html
    "
  `);
});

test('tasks that were practised are not called held out, in the terminal or on the page', async () => {
  const small = await examplePlan(mkdtempSync(join(root, 'practised-')), ['rloo'], 1);
  const practised = compareRuns(small, exampleStatuses(small, { 'rloo-1': rising(0.9) }, 'practised'));
  const text = comparisonText(practised, 'report.html', { columns: 80, colour: false });
  const page = reportPage(practised, small, 'turnwise compare');
  expect(text).toContain('Success on all tasks (also practised)');
  expect(page).toContain('Share of all tasks (also practised) that are solved');
  expect(text + page).not.toMatch(/held.out/i);
});

test('the page stands alone, says what failed, and escapes what it is given', () => {
  const page = reportPage(comparison, plan, 'turnwise compare --set note="<b>&"');
  expect(page).not.toMatch(/https?:|<script|<link|url\(/);
  expect(page).not.toContain('NaN');
  expect(page).toContain('2 of 5 seeds');
  expect(page).toContain('failed: The process ended with signal SIGKILL (process-failed)');
  expect(page).toContain('<strong>rloo</strong> ends better than grpo');
  expect(page).toContain('note=&quot;&lt;b&gt;&amp;&quot;');
  expect(page).toContain('turnwise train frozen-lake --recipe grpo --name grpo-5');
});

test('where nothing finished, that is what is told', async () => {
  const empty = await examplePlan(root, ['rloo', 'grpo'], 1);
  const nothing = compareRuns(empty, exampleStatuses(empty, {}));
  expect(nothing.recipes[0]).toMatchObject({ finished: 0, final: null, area: null, secondsPerStep: null });
  expect(comparisonText(nothing, 'report.html', { columns: 80, colour: false })).toContain('rloo 0/1  –');
  expect(reportPage(nothing, empty, 'turnwise compare')).toContain('no two recipes finished the same seed');
});
