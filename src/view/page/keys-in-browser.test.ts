/** Every key of every page, in a real browser; and what else leads about: buttons, addresses, a thumb. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBrowser, noBrowser, required } from '../../../tools/browser.ts';
import { version } from '../../run/version.ts';
import { annotate, readAnnotations } from '../server/annotations.ts';
import { Groups } from '../server/groups.ts';
import { RunsFolder } from '../server/runs-folder.ts';
import type { GroupOutline } from '../shapes.ts';
import { makeViewRuns } from '../testing/view-runs.ts';
import { Pages } from './browser-pages.test-helper.ts';
import { leavesMajority } from './group/prefix-tree.ts';

const isMissing = findBrowser() === undefined && !required;
if (isMissing) console.warn(`Skipped: ${noBrowser}`);

const root = mkdtempSync(join(tmpdir(), 'turnwise-keys-'));
const lake = () => new RunsFolder({ root, version }).find('lake');
let viewer: Pages;

beforeAll(async () => {
  if (isMissing) return;
  await makeViewRuns(root);
  for (const member of [0, 1]) {
    await annotate(lake(), new Groups(), { place: '3', group: 1, member, verdict: 'up' });
  }
  viewer = await Pages.over(root);
}, 120_000);
afterAll(async () => {
  await viewer?.close();
  rmSync(root, { recursive: true, force: true });
});

/** The keys that `?` lists, as one text. */
async function listed(page: Page): Promise<string> {
  await page.keyboard.press('?');
  await page.locator('section.keys').waitFor();
  const keys = await page.locator('section.keys kbd').allTextContents();
  await page.keyboard.press('?');
  return keys.sort().join(' ');
}

const order = (keys: string): string => keys.split(' ').sort().join(' ');
const current = (page: Page, table: string): Promise<number> =>
  page.evaluate(
    (rows) => [...document.querySelectorAll(rows)].findIndex((row) => row.classList.contains('current')),
    `${table} tbody tr`,
  );
const asked = (page: Page, name: string): string | null => new URL(page.url()).searchParams.get(name);

describe.skipIf(isMissing)('keys', () => {
  test.each([
    ['/?runs=lake', 'tr.current', 't ? j k g G ↵ space / x c'],
    ['/runs/lake', 'table.groups tr.current', 't ? u j k g G ↵ [ ] x s b n N /'],
    ['/runs/lake/metrics', '.small-chart canvas', 't ? u / x s'],
    ['/runs/lake/episodes', 'tr.current', 't ? u j k g G ↵ [ ]'],
    ['/runs/lake/evaluations', 'tr.current', 't ? u j k g G ↵ [ ]'],
    ['/runs/lake/config', '.settings-list', 't ? u /'],
    ['/runs/lake/steps/3/groups/0', '.pair-row', 't ? u j k g G ↵ [ ] n N'],
    ['/runs/lake/steps/3/groups/0/1', '.tokens', 't ? u j k g G [ ] d f i r v 1 2 3 4 + - c / n N'],
    ['/runs/lake/play', '.controls', 't ? u s p a'],
    ['/annotations?run=lake', 'tr.current', 't ? u j k g G ↵'],
  ])('%s tells all of its keys', { timeout: 60_000 }, async (path, shows, keys) => {
    const opened = await viewer.open(path);
    await opened.page.locator(shows).first().waitFor();
    expect(await listed(opened.page)).toBe(order(keys));
    await opened.close();
  });

  test.each([
    ['/', 'table.runs'],
    ['/runs/lake', 'table.groups'],
    ['/runs/lake/episodes', 'table.episodes'],
    ['/runs/lake/evaluations', 'table.evaluations'],
    ['/runs/lake/steps/3/groups/0', 'table.members-table'],
    ['/annotations?run=lake', 'table.judgements'],
  ])('j k g G and ↵ walk through the rows of %s', { timeout: 60_000 }, async (path, table) => {
    const opened = await viewer.open(path);
    const { page, wrong } = opened;
    await page.locator(`${table} tr.current`).waitFor();
    const rows = await page.locator(`${table} tbody tr`).count();
    const at: number[] = [];
    for (const key of ['k', 'j', 'k', 'j', 'G', 'G', 'j', 'k', 'g', 'g', 'Control+j', 'j']) {
      await page.keyboard.press(key);
      await page.locator(`${table} tr.current`).waitFor();
      at.push(await current(page, table));
    }
    const last = Math.min(rows, 100) - 1;
    expect(at).toEqual([0, 1, 0, 1, last, last, last, last - 1, 0, 0, 0, 1]);
    const before = page.url();
    await page.keyboard.press('Enter');
    await page.waitForFunction((url) => location.href !== url, before);
    expect(wrong).toEqual([]);
    await opened.close();
  });

  test('in an episode every key does what its button does', { timeout: 90_000 }, async () => {
    const path = '/api/runs/lake/places/3/groups';
    const groups = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((group) => viewer.ask<GroupOutline>(`${path}/${group}`)),
    );
    const found = groups
      .flatMap(({ group, members }) =>
        members.map(({ member, turns }, index) => ({
          ...{ group, member, turns: turns.length, leaves: leavesMajority(members, index) },
        })),
      )
      .filter(({ member }) => member === 1 || member === 2);
    const { group, member, leaves, turns } = found.find((one) => one.leaves !== undefined) ?? found[0]!;
    const opened = await viewer.open(`/runs/lake/steps/3/groups/${group}/${member}`);
    const { page, wrong } = opened;
    const press = async (key: string): Promise<void> => {
      await page.keyboard.press(key);
      await page.locator('.tokens').first().waitFor();
    };
    await page.locator('.tokens').first().waitFor();
    await press('G');
    expect(asked(page, 'turn')).toBe(String(turns));
    await press('g');
    expect(asked(page, 'turn')).toBe('1');
    await press('d');
    if (leaves !== undefined) expect(asked(page, 'turn')).toBe(String(leaves + 1));
    for (const [key, name] of [
      ['4', 'mask'],
      ['3', 'advantage'],
      ['1', null],
    ] as const) {
      await press(key);
      expect(asked(page, 'colour')).toBe(name);
    }
    const highlighted = (name: string) =>
      page.evaluate((of) => [...(CSS.highlights.get(of) ?? [])].length, name);
    // All tokens are in the loss: `n` leads from one to the next, and tells it.
    await press('4');
    await expect.poll(() => highlighted('mask-trained'), { timeout: 10_000 }).toBeGreaterThan(0);
    const inLoss = await highlighted('mask-trained');
    const place = page.locator('.find [role=status]');
    for (const [key, steps] of [
      ['n', 0],
      ['n', 1],
      ['N', 0],
      ['N', -1],
    ] as const) {
      await press(key);
      const at = (steps + inLoss) % inLoss;
      expect(await place.textContent()).toBe(`${at + 1} of ${inLoss}`);
    }
    await page.locator('.token-facts b').waitFor();
    await press('1');
    await page.locator('.scale button').first().click();
    expect(asked(page, 'level')).toBe('0');
    await press('/');
    await page.keyboard.type('ROWS');
    await page.keyboard.press('Enter');
    const texts = Number(/^1 of (\d+)$/.exec((await place.textContent())!)![1]);
    await page.keyboard.press('Escape');
    await press('N');
    expect(await place.textContent()).toBe(`${texts} of ${texts}`);
    // The page marks what it found after it has drawn the number, so both are read until they agree.
    await expect
      .poll(async () => [await highlighted('found'), await highlighted('found-here')], { timeout: 10_000 })
      .toEqual([texts - 1, 1]);
    expect(asked(page, 'find')).toBe('ROWS');
    await page.locator('#search').fill('');
    await page.keyboard.press('Escape');
    await press('i');
    expect(await page.locator('pre.ids').count()).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Token ids' }).click();
    expect(await page.locator('pre.ids').count()).toBe(0);
    await press('r');
    await page.locator('.raw pre').waitFor();
    await page.getByRole('button', { name: 'Raw record' }).click();
    await page.locator('.raw').waitFor({ state: 'detached' });
    await press('v');
    await page.locator('.state-card .picture').first().waitFor({ timeout: 30_000 });
    await page.getByRole('button', { name: 'Hide' }).click();
    expect(asked(page, 'state')).toBeNull();
    const verdict = (): string | undefined =>
      readAnnotations(lake()).find((one) => one.group === group && one.member === member)?.verdict;
    await press('+');
    await expect.poll(verdict).toBe('up');
    await page.locator('[aria-pressed=true] >> text=Good').waitFor();
    await press('-');
    await expect.poll(verdict).toBe('down');
    await page.getByRole('button', { name: '▼ Bad' }).click();
    await expect.poll(verdict).toBeUndefined();
    await press('c');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('correction');
    await page.keyboard.type('j');
    await page.keyboard.press('Escape');
    await expect
      .poll(() => readAnnotations(lake()).some(({ correction }) => correction?.action === 'j'))
      .toBe(true);
    await press(']');
    await page.waitForURL(new RegExp(`/groups/${group}/${member + 1}`));
    await page.locator('.tokens').first().waitFor();
    await press('[');
    await page.waitForURL(new RegExp(`/groups/${group}/${member}`));
    await page.locator('.tokens').first().waitFor();
    await page.keyboard.press('f');
    await page.waitForURL(/\/play\?from=3/);
    expect(wrong).toEqual([]);
    await opened.close();
  });

  test('a run: steps, axes, smoothing, and one document of it', { timeout: 60_000 }, async () => {
    const opened = await viewer.open('/runs/lake');
    const { page, wrong } = opened;
    await page.locator('text=Groups of step 3').waitFor();
    await page.keyboard.press('[');
    await page.locator('text=Groups of step 2').waitFor();
    await page.getByRole('button', { name: 'Next stored step' }).click();
    await page.locator('text=Groups of step 3').waitFor();
    const axes: (string | null)[] = [];
    for (let turn = 0; turn < 5; turn++) {
      await page.keyboard.press('x');
      await page.locator('.success canvas').waitFor();
      axes.push(await page.locator('select').first().inputValue());
    }
    expect(axes).toEqual(['minute', 'episode', 'turn', 'token', 'step']);
    const before = await page.getByLabel('Smoothing').inputValue();
    await page.keyboard.press('s');
    expect(await page.getByLabel('Smoothing').inputValue()).not.toBe(before);
    await page.keyboard.press('/');
    await page.waitForURL(/\/metrics$/);
    await page.locator('#search:focus').waitFor();
    await page.keyboard.type('clip');
    expect(asked(page, 'q')).toBe('clip');
    await page.goBack();
    await page.locator('text=Groups of step').first().waitFor();
    const saved = page.waitForEvent('download');
    await page.keyboard.press('b');
    expect((await saved).suggestedFilename()).toBe('lake.html');
    expect(wrong).toEqual([]);
    await opened.close();
  });

  test('a checkpoint is played by keys', { timeout: 90_000 }, async () => {
    const opened = await viewer.open('/runs/lake/play');
    const { page, wrong } = opened;
    await page.locator('.controls').waitFor();
    await page.keyboard.press('s');
    await page.locator('.call.policy').first().waitFor();
    await page.locator('.controls, .episode-end').first().waitFor();
    await page.keyboard.press('p');
    await page.locator('.episode-end').waitFor();
    await page.keyboard.press('a');
    await page.locator('.controls').waitFor();
    expect(asked(page, 'attempt')).toBe('1');
    expect(wrong).toEqual([]);
    await opened.close();
  });

  test('runs are chosen, filtered and drawn, and keys can be turned off', { timeout: 60_000 }, async () => {
    const opened = await viewer.open('/');
    const { page, wrong } = opened;
    await page.locator('tr.current').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('lake finished seed 1');
    await page.keyboard.press('Escape');
    await page.locator('tr.current >> text=lake').waitFor();
    await page.keyboard.press(' ');
    await page.locator('section[aria-label=Curves] canvas').waitFor();
    await page.keyboard.press('x');
    expect(asked(page, 'x')).toBe('episode');
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    const before = await theme();
    await page.keyboard.press('t');
    expect(await theme()).not.toBe(before);
    await page.getByRole('button', { name: /^Theme/ }).click();
    expect(await theme()).toBe(before);
    await page.keyboard.press('?');
    await page.getByLabel('Keys work').uncheck();
    await page.keyboard.press('Escape');
    await page.locator('section.keys').waitFor({ state: 'detached' });
    await page.keyboard.press('t');
    expect(await theme()).toBe(before);
    expect(wrong).toEqual([]);
    await opened.close();
  });
});

describe.skipIf(isMissing)('addresses', () => {
  test.each([
    ['/?runs=lake,bare&by=world&x=token', ['section[aria-label=Curves] canvas', 'tr.grouping']],
    ['/runs/lake?step=2&x=token&smooth=0&bar=0', ['text=Groups of step 2', '.success canvas']],
    ['/runs/lake/metrics?q=kl&x=minute', ['.small-chart canvas']],
    ['/runs/lake/episodes?at=evaluation-3&where=succeeded&sort=turns', ['table.episodes']],
    ['/runs/lake/evaluations/2?from=1&how=greedy', ['table.evaluations', 'text=after step 2']],
    ['/runs/lake/config?q=width', ['text=model.width']],
    ['/runs/lake/steps/3/groups/0?a=2&b=3', ['text=Side by side']],
    [
      '/runs/lake/steps/3/groups/0/1?turn=1&colour=advantage&credit=gigpo&credit.omega=7&lanes=contexts',
      ['.call.chosen', 'section.credit th >> text=gigpo'],
    ],
    ['/compare?runs=lake,bare&x=token', ['table.intervals svg', 'text=Settings that differ', 'canvas']],
    ['/comparisons/made', ['text=Differences, seed by seed']],
    ['/annotations?run=lake', ['table.judgements']],
  ])('%s shows the same again', { timeout: 60_000 }, async (path, shows) => {
    const opened = await viewer.open(path);
    const { page, wrong } = opened;
    const read = async (): Promise<string> => {
      for (const place of shows) await page.locator(place).first().waitFor();
      await page.waitForTimeout(200);
      const values = await page
        .locator('main select')
        .evaluateAll((all) => all.map((one) => (one as HTMLSelectElement).value).join(' '));
      return `${page.url()} ${values}`;
    };
    const first = await read();
    expect(first).toContain(path);
    await page.reload();
    expect(await read()).toBe(first);
    expect(wrong).toEqual([]);
    await opened.close();
  });

  test('at 400 px the next member is under the thumb', { timeout: 60_000 }, async () => {
    const size = { width: 400, height: 800 };
    const opened = await viewer.open('/runs/lake/steps/3/groups/0/1', { viewport: size, hasTouch: true });
    const { page, wrong } = opened;
    await page.locator('.tokens').first().waitFor();
    const next = page.getByRole('button', { name: 'Next', exact: false }).first();
    const box = (await next.boundingBox())!;
    expect(box.y).toBeGreaterThan(size.height / 2);
    expect(box.y + box.height).toBeLessThanOrEqual(size.height);
    expect(box.height).toBeGreaterThanOrEqual(40);
    await next.tap();
    await page.waitForURL(/groups\/0\/2$/);
    await page.locator('.tokens').first().waitFor();
    await page.getByRole('button', { name: 'Previous' }).first().tap();
    await page.waitForURL(/groups\/0\/1$/);
    expect(wrong).toEqual([]);
    await opened.close();
  });
});
