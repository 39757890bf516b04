import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { summaryOf } from '../../compare/arm-summary.ts';
import { curvesCsv, runsCsv } from '../../compare/csv.ts';
import { provenance } from '../../compare/provenance.ts';
import { compareArms } from '../../compare/results.ts';
import { escapeHtml } from '../../show/html.ts';
import { comparisonText } from './comparison-text.ts';
import { type Example, exampleStudy, writeRuns } from './example-comparison.test-helper.ts';
import { reportPage } from './report-page.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-compare-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const rising = (end: number): number[] => [0.4, 0.6, end];
const ends = [0.9, 0.8, 1, 0.86, 0.94, 0.9, 0.88, 0.82, 0.92, 0.98];
const seeds = ends.map((_, index) => index + 1);
const example = await exampleStudy(root, ['rloo', 'grpo', 'ppo'], seeds.length);
writeRuns(example, {
  ...Object.fromEntries(ends.map((end, index) => [`frozen-lake rloo ${index + 1}`, rising(end)])),
  // Always 0.2 below, but for the fourth, which collapses.
  ...Object.fromEntries(ends.map((end, index) => [`frozen-lake grpo ${index + 1}`, rising(end - 0.2)])),
  'frozen-lake grpo 4': [0.4, 0.9, 0.42],
  'frozen-lake ppo 1': rising(0.9),
  'frozen-lake ppo 2': rising(0.8),
});
const comparison = compareArms(example.study, example.jobs);
const [world] = comparison.worlds;
const [rloo, grpo, ppo] = world!.arms.map((arm) => summaryOf(arm, world!.reading)!);
const request = (of: Example, compared = compareArms(of.study, of.jobs)) => ({
  comparison: compared,
  study: of.study,
  jobs: of.jobs,
  seeds,
  from: provenance(),
  command: 'turnwise compare --set note="<b>&"',
});

test('figures of an arm are means over its seeds', () => {
  expect(rloo).toMatchObject({ counted: 10, missing: 0, collapses: 0, secondsPerStep: 0.75 });
  expect(rloo!.final).toBeCloseTo(0.9, 12);
  expect(rloo!.warm).toBeCloseTo(0.4, 12);
  // Every finished run went 200 environment steps.
  expect(world!.reading).toEqual({ quantity: 'success', axis: 'turns', end: 200 });
  expect(rloo!.area).toBeCloseTo((0.5 + 0.75) / 2, 12);
  expect(rloo!.spent).toEqual({ episodes: 20, turns: 200, tokens: 2000, seconds: 2 });
});

test('costs to the level are medians over seeds, and a seed that never got there is later than all', () => {
  // From 0.6, 0.8 is reached 200/3 of the way to 0.9.
  expect(rloo).toMatchObject({ reached: 10 });
  expect(rloo!.toLevel.turns).toBeCloseTo(100 + 200 / 3, 9);
  expect(rloo!.toLevel.tokens).toBeCloseTo(1000 + 2000 / 3, 8);
  expect(grpo).toMatchObject({ reached: 2, toLevel: { turns: null } });
});

test('a collapse is seen, and without one its rate is bounded', () => {
  expect(grpo!.collapses).toBe(1);
  expect(rloo!.collapseBound).toBeCloseTo(0.259, 3);
});

test('runs that are missing are left out with their pair, never zero', () => {
  expect(ppo).toMatchObject({ counted: 2, missing: 8 });
  const pairs = comparison.pairs.filter(({ metric }) => metric === 'final');
  expect(pairs.map(({ first, second, comparison: { seeds_W } }) => [first, second, ...seeds_W])).toEqual([
    ['rloo', 'grpo', 10],
    ['rloo', 'ppo', 2],
    ['grpo', 'ppo', 2],
  ]);
  const [behind] = pairs;
  expect(behind!.comparison.mean).toBeCloseTo((9 * -0.2 - 0.44) / 10, 12);
  expect(behind!.comparison.losses).toBe(10);
  expect(behind!.comparison.flips.p).toBe(2 / 2 ** 10);
  // The lead of 0.224 over a height of 0.5.
  expect(behind!.breakEven).toBeCloseTo(0.448, 12);
});

test('the terminal shows it within 80 columns', () => {
  const text = comparisonText(comparison, 'runs/example/report.html', { columns: 80, colour: false });
  for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  expect(text).toMatchInlineSnapshot(`
    "example  frozen-lake · 10 seeds, one warm start each

    Success on held-out tasks
      arm       start  final  area   turns→80%  collapsed  tokens  s/step
      rloo       0.40   0.90  0.63         167       0/10   2.00k    0.75
      grpo       0.40   0.68  0.58  never 2/10       1/10   2.00k    0.75
      ppo 2/10   0.40   0.85  0.61         183        0/2   2.00k    0.75

    Learning curves
      1.0 ┤
          │                                                                 ⢀⣀⡠⠤⣔●
      0.8 ┤                                                     ⣀⣀⣀⣠⣤●⣤⠶⠶⠶⠛●⠓⠉⠉⠉
          │                                        ⢀⣀⣀⣠⣤●⣤⠶⢶⣶⣛●⣛⣉⣉⣉⣁⣀◆⣀⣀⣀⣀⣀◆⣀⣀⡠⠤⠤◆
      0.6 ┤                       ⣀⣀◆⣀⣠⣤⣤⡴⠶●⠶⠶⠞⠛⠛●⠛⠋⠉⠉⠉⠉◆⠉⠉⠁
          │        ⢀⣀⣀⣠●⣤⡴⠶⠶⠶⠛●⠛⠛⠛⠉⠉●⠉⠁
      0.4 ┤●⠤⠒⠒⠒⠉●⠉⠉⠉
          │
      0.2 ┤
          │
      0.0 ┤
          └───────────────────────────────────────────────────────────────────────
           0                                                 environment steps 200
           ● rloo   ◆ grpo   ▲ ppo
      Means over seeds. Area: mean along the way, to 200 environment steps.
      turns→80%: until success was 80%, median over seeds. Collapsed: ended a
      quarter below the peak, beyond noise.

    Differences, seed by seed (exploratory)
                                  difference            w/t/l       p
      grpo − rloo  final success  −0.22 [−0.28, −0.20]  0/0/10  0.018
      grpo − rloo  area           −0.04 [−0.05, −0.02]  1/0/9   0.018
      grpo − rloo  turns to 80%   +18 [−14, +42]        8/1/1    0.66
      ppo − rloo   final success  0.00                  0/2/0    1.00
      ppo − rloo   area           0.00                  0/2/0    1.00
      ppo − rloo   turns to 80%   0                     0/2/0    1.00
      ppo − grpo   final success  +0.20                 2/0/0    1.00
      ppo − grpo   area           +0.05                 2/0/0    1.00
      ppo − grpo   turns to 80%   −17                   0/1/1    1.00
      Second minus first: mean over seeds with the 95% interval of exact sign flips,
      pairs won/tied/lost, and p after Benjamini and Hochberg over all rows. With 2
      seeds no difference is certain: a verdict takes 10 or more.

    Report: runs/example/report.html
    "
  `);
});

test('over several worlds their mean is compared, and figures over all runs stand beside it', async () => {
  const two = await exampleStudy(mkdtempSync(join(root, 'two-')), ['rloo', 'grpo'], 6, [
    'frozen-lake',
    'maze',
  ]);
  const curves = seeds.slice(0, 6).flatMap((seed) => [
    [`frozen-lake rloo ${seed}`, rising(0.8)],
    [`frozen-lake grpo ${seed}`, rising(0.8 + 0.02 * seed)],
    [`maze rloo ${seed}`, rising(0.7)],
    [`maze grpo ${seed}`, rising(0.7 + 0.04 * seed)],
  ]) as [string, number[]][];
  writeRuns(two, Object.fromEntries(curves));
  const compared = compareArms(two.study, two.jobs);
  const finals = compared.pairs.filter(({ metric }) => metric === 'final');
  expect(finals.map(({ world: place }) => place)).toEqual([undefined, 'frozen-lake', 'maze']);
  expect(finals[0]!.comparison.mean).toBeCloseTo((0.07 + 0.14) / 2, 12);
  expect(finals[0]!.comparison.flips.p).toBe(2 / 2 ** 12);
  expect(compared.overall.map(({ arm }) => arm)).toEqual(['rloo', 'grpo']);
  expect(compared.improvement[0]!.probability).toBe(1);
  const page = reportPage(request(two, compared));
  expect(page).toContain('On these worlds together');
  expect(comparisonText(compared, 'r.html', { columns: 80, colour: false })).toContain('maze: success on');
});

test('tasks that were practised are not called held out, in the terminal or on the page', async () => {
  const small = await exampleStudy(mkdtempSync(join(root, 'practised-')), ['rloo'], 1);
  writeRuns(small, { 'frozen-lake rloo 1': rising(0.9) }, 'practised');
  const practised = compareArms(small.study, small.jobs);
  const text = comparisonText(practised, 'report.html', { columns: 80, colour: false });
  const page = reportPage(request(small, practised));
  expect(text).toContain('Success on all tasks (also practised)');
  expect(page).toContain('Share of all tasks (also practised) that are solved');
  expect(text + page).not.toMatch(/held.out/i);
});

test('the page stands alone, says what is missing, and escapes what it is given', () => {
  const asked = request(example, comparison);
  const page = reportPage(asked);
  expect(page).not.toMatch(/https?:|<script|<link|url\(/);
  expect(page).not.toContain('NaN');
  expect(page).not.toContain('Infinity');
  expect(page).toContain('2 of 10 seeds');
  expect(page).toContain('note=&quot;&lt;b&gt;&amp;&quot;');
  expect(page).toContain('turnwise train frozen-lake --recipe grpo --name frozen-lake-grpo-5-');
  expect(page).toContain('2 seeds are too few to tell arms apart');
  const { version, date, processor } = asked.from;
  for (const said of [version, date.slice(0, 10), processor]) expect(page).toContain(escapeHtml(said));
});

test('figures go beside the page as they are', () => {
  const [head, ...lines] = runsCsv(comparison.worlds).trim().split('\n');
  expect(head).toBe(
    'world,arm,rate,seed,run,state,start,final,episodes,area,return,turns_to_80%,reached,collapsed,spent_episodes,spent_turns,spent_tokens,spent_seconds',
  );
  expect(lines).toHaveLength(30);
  expect(lines[0]).toMatch(/^frozen-lake,rloo,,1,frozen-lake-rloo-1-\w+,finished,0.4,0.9,\d+,0.625,/);
  expect(lines.filter((line) => line.endsWith(',missing'))).toHaveLength(8);
  expect(curvesCsv(comparison.worlds).trim().split('\n')).toHaveLength(1 + 22 * 3);
});

test('where nothing finished, that is what is told', async () => {
  const empty = await exampleStudy(mkdtempSync(join(root, 'empty-')), ['rloo', 'grpo'], 1);
  const nothing = compareArms(empty.study, empty.jobs);
  expect(nothing.pairs).toEqual([]);
  expect(comparisonText(nothing, 'report.html', { columns: 80, colour: false })).toContain('rloo 0/1');
  expect(reportPage(request(empty, nothing))).toContain('no two arms finished the same seed');
});
