/** Pages that do something, in a real browser: they follow a run, measure an episode, compare evaluations, take judgements. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBrowser, noBrowser, required } from '../../../tools/browser.ts';
import { start } from '../../exports/train.ts';
import { version } from '../../run/version.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { annotate, readAnnotations } from '../server/annotations.ts';
import { Groups } from '../server/groups.ts';
import { RunsFolder } from '../server/runs-folder.ts';
import type { EvaluationGrid, GroupOutline, StepEpisodes } from '../shapes.ts';
import { filesOf, makeViewRuns, small } from '../testing/view-runs.ts';
import { Pages } from './browser-pages.test-helper.ts';
import { changedTasks, countChanges } from './evaluations/changes.ts';

const isMissing = findBrowser() === undefined && !required;
if (isMissing) console.warn(`Skipped: ${noBrowser}`);

const root = mkdtempSync(join(tmpdir(), 'turnwise-at-work-'));
const lake = () => new RunsFolder({ root, version }).find('lake');
let viewer: Pages;

beforeAll(async () => {
  if (isMissing) return;
  await makeViewRuns(root);
  viewer = await Pages.over(root);
}, 120_000);
afterAll(async () => {
  await viewer?.close();
  rmSync(root, { recursive: true, force: true });
});

describe.skipIf(isMissing)('in a browser', () => {
  test('a page follows a run from its first step to its end', { timeout: 120_000 }, async () => {
    const settings = { ...small, steps: 8, evaluation: { every: 4, tasks: 6, finalTasks: 6 } };
    const run = await start({ world: 'frozen-lake', recipe: 'rloo', name: 'live', runs: root, settings });
    const opened = await viewer.open('/runs/live');
    const { page, wrong } = opened;
    await page.locator('h1 .state.running').waitFor();
    const steps = new Set<string>();
    const seen = (async () => {
      while ((await page.locator('h1 .state.running').count()) > 0) {
        const text = (await page.locator('.title p').first().textContent()) ?? '';
        steps.add(/([0-9]+) of 8 steps/.exec(text)?.[1] ?? 'none');
        await page.waitForTimeout(50);
      }
    })();
    await run.finished;
    await page.locator('h1 .state.finished').waitFor({ timeout: 15_000 });
    await seen;
    expect(steps.size).toBeGreaterThan(2);
    await page.locator('text=Groups of step 8').waitFor();
    await page.locator('text=8 of 8 steps').waitFor();
    expect(wrong).toEqual([]);
    await opened.close();
  });

  test('a run that has not begun to reinforce says what goes on, and how imitation went', async () => {
    const run = RunDirectory.create({
      ...{ root, name: 'starting', version, recipe: 'rloo', config: { seed: 1 } },
      world: { name: 'js-tasks', source: 'js-tasks' },
    });
    const start = { run: 'starting', environment: 'js-tasks', recipe: 'rloo', seed: 1, vocabulary: 10 };
    run.events.append({ type: 'start', ...start, identity: 'x', version });
    run.events.append({ type: 'phase', phase: 'clone', steps: 16 });
    const checked = { 'clone/valid_share': 0.09, 'clone/success': 0, 'clone/checked_episodes': 100 };
    run.events.append({ type: 'clone', step: 0, steps: 16, metrics: checked });
    const { page, wrong, close } = await viewer.open('/runs/starting');
    const card = page.locator('section[aria-label="Step"]');
    await card.locator('h2', { hasText: 'Imitating, step 0 of 16' }).waitFor();
    expect(await card.locator('tbody').innerText()).toMatch(/^untrained\s+0\.00\s+0\.09\s+100$/);
    run.events.append({ type: 'clone', step: 1, steps: 16, metrics: { 'clone/loss': 0.7 } });
    await card.locator('h2', { hasText: 'step 1 of 16' }).waitFor();
    const again = { ...checked, 'clone/success': 0.3125, 'clone/checked_episodes': 32 };
    run.events.append({ type: 'clone', step: 12, steps: 16, metrics: again });
    run.events.append({ type: 'clone', step: 13, steps: 16, metrics: { 'clone/loss': 0.7 } });
    run.events.append({ type: 'phase', phase: 'train', steps: 60 });
    await card.locator('h2', { hasText: 'Reinforcing: its first step' }).waitFor();
    // Also for whoever opens it now.
    await page.reload();
    await card.locator('tr', { hasText: 'imitated 12 steps' }).waitFor();
    expect(await card.locator('tbody tr').count()).toBe(2);
    expect(wrong).toEqual([]);
    await close();
    await run.close();
  });

  test('an agent’s episode says why nobody can go on from its turns', async () => {
    const { page, wrong, close } = await viewer.open('/runs/hostile/steps/1/groups/0/0');
    const reason = 'An agent’s own code asks the model: its episodes cannot be taken back to a turn.';
    await page.locator(`text=${reason}`).waitFor();
    const fork = page.locator('button', { hasText: 'Fork at turn' });
    expect([await fork.isDisabled(), await fork.getAttribute('title')]).toEqual([true, reason]);
    expect(await page.locator('.state-card, .measure').count()).toBe(0);
    expect(wrong).toEqual([]);
    await close();
  });

  test('an episode is measured: a value for each turn, and nothing is stored', {
    timeout: 90_000,
  }, async () => {
    const before = filesOf(join(root, 'lake'));
    const outline = await viewer.ask<GroupOutline>('/api/runs/lake/places/3/groups/0');
    const { turns } = outline.members.find(({ member }) => member === 1)!;
    const opened = await viewer.open('/runs/lake/steps/3/groups/0/1');
    const { page, wrong } = opened;
    const card = page.locator('section.measure');
    await card.waitFor();
    await card.locator('select').first().selectOption('8');
    await card.getByRole('button', { name: 'Measure this episode' }).click();
    await card.getByRole('button', { name: 'Clear' }).waitFor({ timeout: 60_000 });
    expect(await card.locator('tbody tr').count()).toBe(turns.length);
    const shares = await card.locator('tbody td:nth-child(2)').allTextContents();
    // Of eight continuations: eighths.
    for (const text of shares)
      expect((Number(/^[01]\.\d\d/.exec(text.trim())![0]) * 8) % 1).toBeCloseTo(0, 1);
    expect(wrong).toEqual([]);
    expect(filesOf(join(root, 'lake'))).toEqual(before);
    await opened.close();
  });

  test('entropies that were not stored come from a checkpoint', { timeout: 60_000 }, async () => {
    const opened = await viewer.open('/runs/lake/steps/3/groups/0/1');
    const { page, wrong } = opened;
    await page.locator('.tokens').first().waitFor();
    await page.keyboard.press('2');
    await page.locator('text=Entropy under checkpoint').waitFor({ timeout: 30_000 });
    await page.waitForFunction(() =>
      [...CSS.highlights].some(([name, ranges]) => name.startsWith('entropy-') && ranges.size > 0),
    );
    expect(wrong).toEqual([]);
    await opened.close();
  });

  test('test tasks that were gained and lost are counted as in the files', {
    timeout: 60_000,
  }, async () => {
    const grid = await viewer.ask<EvaluationGrid>('/api/runs/lake/evaluations');
    expect(grid.evaluations).toEqual([0, 1, 2, 3]);
    expect(grid.rows).toHaveLength(12);
    const { members } = await viewer.ask<StepEpisodes>('/api/runs/lake/places/evaluation-3');
    const sampled = members.filter(({ label }) => label === 'sampled').sort((a, b) => a.group - b.group);
    expect(grid.shown.at(-1)!.sampled).toBe(sampled.map(({ success }) => (success ? '1' : '0')).join(''));
    const counts = countChanges(changedTasks(grid, 'sampled', 0, 3));
    const opened = await viewer.open('/runs/lake/evaluations');
    const { page, wrong } = opened;
    await page.locator('table.evaluations tr.current').waitFor();
    for (const [change, many] of Object.entries(counts)) {
      expect(await page.locator(`td.change`, { hasText: change }).count()).toBe(many);
    }
    const [most] = Object.entries(counts).sort(([, a], [, b]) => b - a)[0]!;
    await page.getByRole('button', { name: new RegExp(`^${most}`) }).click();
    expect(await page.locator('table.evaluations tbody tr').count()).toBe(
      counts[most as keyof typeof counts],
    );
    await page.keyboard.press('[');
    await page.waitForURL(/\/evaluations\/2/);
    await page.locator('table.evaluations tr.current').waitFor();
    await page.locator('table.evaluations tbody td a').first().click();
    await page.waitForURL(/\/evaluations\/\d+\/groups\/\d+\/0\?label=sampled/);
    await page.locator('.tokens').first().waitFor();
    // Two keys before the next frame: the second one is for the page that the first one opened.
    await page.evaluate(async () => {
      for (const _ of [1, 2]) {
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'u', bubbles: true }));
        await Promise.resolve();
      }
    });
    await page.locator('table.evaluations').waitFor();
    expect(wrong).toEqual([]);
    await opened.close();
  });

  test('judgements are listed with what they make, and can be withdrawn', { timeout: 60_000 }, async () => {
    const say = (body: object) => annotate(lake(), new Groups(), { place: '3', group: 0, ...body });
    await say({ member: 0, verdict: 'up' });
    const outline = await viewer.ask<GroupOutline>('/api/runs/lake/places/3/groups/0');
    const { action } = outline.members.find(({ member }) => member === 1)!.turns[0]!;
    await say({ member: 1, correction: { turn: 0, action: action === 'right' ? 'left' : 'right' } });
    await say({ member: 2, note: 'only a note' });
    await annotate(lake(), new Groups(), {
      ...{ place: 'evaluation-3', group: 0, member: 0, label: 'greedy', verdict: 'down' },
    });
    const opened = await viewer.open('/runs/lake');
    const { page, wrong } = opened;
    await page.locator('.tabs >> text=Annotations 4').click();
    await page.locator('table.judgements tr.current').waitFor();
    const makes = page.locator('table.judgements td.makes');
    expect(await makes.allTextContents()).toEqual([
      '1 conversation',
      'a pair',
      'nothing: a note alone',
      'nothing: a test task',
    ]);
    await page.locator('text=2 rows to train on, of them 1 pair').waitFor();
    await page.locator('pre >> text=--recipe dpo --set data=judged.jsonl').waitFor();
    await page.getByRole('button', { name: 'Withdraw the judgement of step 3, 0/2' }).click();
    await expect.poll(() => makes.count()).toBe(3);
    expect(readAnnotations(lake())).toHaveLength(3);
    await page.locator('table.judgements a').nth(1).click();
    await page.waitForURL(/groups\/0\/1\?turn=1$/);
    expect(wrong).toEqual([]);
    await opened.close();
  });

  test('runs are grouped by a setting, drawn with their mean, by four axes', {
    timeout: 60_000,
  }, async () => {
    const opened = await viewer.open('/?runs=lake,bare,damaged');
    const { page, wrong } = opened;
    await page.locator('section[aria-label=Curves] canvas').waitFor();
    await page.locator('select', { hasText: 'nothing' }).selectOption('world');
    expect(await page.locator('tr.grouping').count()).toBeGreaterThan(1);
    await page.locator('.chart-ends small >> text=mean of 3').waitFor();
    const axis = page.locator('section[aria-label=Curves] select');
    for (const name of ['episode', 'token', 'minute', 'step']) {
      await axis.selectOption(name);
      await page.locator(`[aria-label="Test success of 3 runs by ${name}"] canvas`).waitFor();
    }
    expect(wrong).toEqual([]);
    await opened.close();
  });

  test('pointing at one chart tells the values of all, and a click chooses the step', {
    timeout: 60_000,
  }, async () => {
    const opened = await viewer.open('/runs/lake?smooth=0');
    const { page, wrong } = opened;
    await page.locator('text=Groups of step 3').waitFor();
    const values = () => page.locator('.small-chart h2 b').allTextContents();
    const before = await values();
    const plot = page.locator('.success .u-over');
    const box = (await plot.boundingBox())!;
    // Between the evaluation before the first step and the end there are steps 1 and 2.
    await page.mouse.move(box.x + box.width * 0.35, box.y + 40);
    await expect.poll(values).not.toEqual(before);
    const pointed = await values();
    expect(pointed.filter((value, index) => value !== before[index]).length).toBeGreaterThan(3);
    await page.mouse.down();
    await page.mouse.up();
    await page.locator('text=Groups of step 1').waitFor();
    expect(wrong).toEqual([]);
    await opened.close();
  });
});
