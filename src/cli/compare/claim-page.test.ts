import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { ClaimResult, ResultRun } from '../../compare/claims/claim-result.ts';
import { judgeClaims } from '../../compare/claims/claim-verdict.ts';
import { claimsPage } from './claim-page.ts';
import { claimsText } from './claim-text.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-claim-page-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const verdict = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
const claim = {
  ...{ id: 'lead', family: 'tests', about: 'A <leads> B.', source: 'nobody', metric: 'final', minimal: 0.05 },
  arms: { a: { recipe: 'grpo', role: 'claimant' }, b: { recipe: 'rloo', role: 'rival' } },
  worlds: [{ name: 'maze' }],
  seeds: { tuning: [9001, 9002, 9003], verdict },
  budget: { axis: 'episodes', amount: 5120 },
  ...{ stop: 'One look.', analysis: { procedure: 'sign-flips-and-t', version: 1 }, refutes: 'No lead.' },
};
const run = (arm: string, level: number): ResultRun => ({
  ...{ arm, rate: 0.001, episodes: 500, start: 0.2, collapsed: 0, diverged: 0 },
  final: verdict.map((seed) => level + (arm === 'a' ? 0.01 : -0.01) * (seed % 3)),
  area: verdict.map(() => level / 2),
  spent: [5120, 20_000, 400_000, 30],
});
const result: ClaimResult = {
  ...{
    format: 'turnwise-claim-result',
    formatVersion: 1,
    claim: 'lead',
    claimBlob: '0',
    commit: '1234567890abcdef',
  },
  ...{ dirty: false, version: '0.1.0', node: 'v22.0.0', runtime: 'onnxruntime 1', processor: 'p', cores: 2 },
  ...{
    date: '2026-01-01T00:00:00Z',
    seeds: { tuning: [9001], verdict },
    hours: { tuning: 0.1, verdict: 0.2 },
  },
  ...{ ledger: { a: ['truth'], b: ['truth'] }, gate: [], files: 'hash' },
  worlds: {
    maze: {
      testTasks: 'practised',
      tasks: 'hash',
      tuned: {
        a: [
          [0.001, 0.5],
          [0.002, 0.4],
        ],
        b: [
          [0.001, 0.45],
          [0.0005, 0.3],
        ],
      },
      runs: [run('a', 0.8), run('b', 0.6)],
    },
  },
};
mkdirSync(join(folder, 'results'));
writeFileSync(join(folder, 'lead.json'), JSON.stringify(claim));
writeFileSync(
  join(folder, 'open.json'),
  JSON.stringify({ ...claim, id: 'open', worlds: [{ name: 'errand' }] }),
);
writeFileSync(join(folder, 'results', 'lead-0123456789.json'), JSON.stringify(result));
const judged = judgeClaims(folder, folder);

test('the terminal says the verdict, why, and what would change it', () => {
  const text = claimsText(judged, 'runs/claims/report.html', { columns: 80, colour: false });
  expect(text).toMatchInlineSnapshot(`
    "
    lead  reproduced
      A <leads> B.
      every part holds; p <0.001 after Holm over 2 claims; whether the claim is
      older was not checked: there is no git history here
      part              difference               w/t/l        p  break-even
      above b at 0.001  +0.220 [+0.207, +0.233]  12/0/0  <0.001        0.36

    open  pending
      A <leads> B.
      there is no environment errand yet

    Page: runs/claims/report.html
    "
  `);
});

test('the page has every claim with its figures, and stands alone', () => {
  const page = claimsPage(judged.map((one) => ({ judged: one, worlds: [] })));
  expect(page).toContain('1 reproduced, 1 pending');
  expect(page).toContain('A &lt;leads&gt; B.');
  expect(page).toContain('On all tasks (also practised).');
  expect(page).toContain('Mean area over the learning rate');
  expect(page).toContain('commit 1234567890');
  expect(page).not.toMatch(/https?:|<script|<link|url\(|NaN|Infinity|undefined/);
});
