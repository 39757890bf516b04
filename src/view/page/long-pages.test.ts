/** Pages of very many rows and turns in a real browser: what is near the screen is in the document, and nothing is out of reach. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBrowser, noBrowser, required } from '../../../tools/browser.ts';
import type { Group } from '../../core/episode.ts';
import { madeCall, madeEpisode, madeKey, madeTransition } from '../../core/testing/made-episodes.ts';
import { version } from '../../run/version.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { Pages, violations } from './browser-pages.test-helper.ts';

const isMissing = findBrowser() === undefined && !required;
if (isMissing) console.warn(`Skipped: ${noBrowser}`);

const groups = 300;
const members = 4;
const rows = groups * members;
const turns = 240;
/** More than are near a screen. */
const many = 200;

const root = mkdtempSync(join(tmpdir(), 'turnwise-long-'));
let viewer: Pages;

beforeAll(async () => {
  if (isMissing) return;
  const run = RunDirectory.create({
    ...{ root, name: 'long', version, recipe: 'rloo', config: { seed: 1 } },
    world: { name: 'made', source: 'made' },
  });
  run.events.append({ type: 'phase', phase: 'train', steps: 1 });
  const words = ['<pad>', '<unk>', '<act>', '<end>', 'left', 'right'];
  const writer = run.storeRollouts({
    world: { source: 'made', options: {}, version: null },
    tokenizer: run.keepTokenizer({ words }),
  });
  await writer.write(
    1,
    Array.from({ length: groups }, (_, group) => groupOf(group)),
  );
  // More columns than a narrow page holds.
  for (let step = 0; step <= 12; step++) {
    await run.storeEvaluation(step, { sampled: [groupOf(1), groupOf(2)], greedy: [groupOf(1), groupOf(2)] });
  }
  await run.close();
  viewer = await Pages.over(root);
}, 120_000);
afterAll(async () => {
  await viewer?.close();
  rmSync(root, { recursive: true, force: true });
});

/** The first episode has many turns, of different heights. */
function groupOf(group: number): Group {
  const length = (member: number): number => (group === 0 && member === 0 ? turns : 1);
  const episode = (member: number) =>
    madeEpisode(
      member,
      Array.from({ length: length(member) }, (_, turn) =>
        madeCall(turn, [4 + (turn % 2)], {
          // One token of all is a surprise.
          logprobs: [turn === 200 ? -2 : -0.01],
          messages: [{ role: 'user', content: `situation ${turn + 1}. ${'and so on '.repeat(turn % 40)}` }],
          text: 'left',
        }),
      ),
      Array.from({ length: length(member) }, (_, turn) =>
        madeTransition(turn, member % 2, { action: 'left' }),
      ),
      { key: madeKey({ step: 1, group, member }) },
    );
  return { step: 1, group, members: Array.from({ length: members }, (_, member) => episode(member)) };
}

describe.skipIf(isMissing)('long pages', () => {
  test('many evaluations do not widen a narrow page', { timeout: 60_000 }, async () => {
    const opened = await viewer.open('/runs/long/evaluations', { viewport: { width: 400, height: 800 } });
    const { page, wrong } = opened;
    await page.locator('table.evaluations tbody tr').first().waitFor();
    expect(await page.locator('table.evaluations thead th').count()).toBe(2 + 13);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
    expect(wrong).toEqual([]);
    await opened.close();
  });

  test('a table of 1,200 rows holds those near the screen', { timeout: 90_000 }, async () => {
    const opened = await viewer.open('/runs/long/episodes');
    const { page, wrong } = opened;
    const shown = page.locator('table.episodes tbody tr[aria-rowindex]');
    const current = page.locator('table.episodes tr.current');
    await current.waitFor();
    await page.locator('.spacer').first().waitFor({ state: 'attached' });
    expect(await shown.count()).toBeLessThan(many);
    expect(await page.locator('table.episodes').getAttribute('aria-rowcount')).toBe(String(rows + 1));
    const height = (): Promise<number> => page.evaluate(() => document.documentElement.scrollHeight);
    const whole = await height();
    for (const [key, row] of [
      ['G', rows - 1],
      ['k', rows - 2],
      ['g', 0],
      ['j', 1],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(() => current.getAttribute('aria-rowindex')).toBe(String(row + 2));
      await expect.poll(() => isOnScreen(current)).toBe(true);
      expect(await shown.count()).toBeLessThan(many);
    }
    // Whoever scrolls sees no gap, and the page is as long as it said.
    await page.mouse.move(600, 400);
    for (const share of [0.3, 0.5, 0.9]) {
      await page.evaluate((part) => scrollTo(0, part * document.documentElement.scrollHeight), share);
      const middle = (): Promise<number> =>
        page.evaluate(() => {
          const row = document.elementFromPoint(600, 400)?.closest('tr');
          return Number(row?.getAttribute('aria-rowindex') ?? 0) / 1200;
        });
      await expect.poll(middle).toBeGreaterThan(share - 0.1);
      expect(await middle()).toBeLessThan(share + 0.1);
    }
    expect(Math.abs((await height()) - whole) / whole).toBeLessThan(0.1);
    expect(await violations(page)).toEqual([]);
    expect(wrong).toEqual([]);
    await opened.close();
  });

  test('a conversation of 240 turns is walked, addressed and searched', { timeout: 120_000 }, async () => {
    const opened = await viewer.open('/runs/long/steps/1/groups/0/0?turn=150');
    const { page, wrong } = opened;
    const drawn = page.locator('article .call');
    const turn = (number: number) => page.locator(`#turn-${number}`);
    await turn(150).locator('.call.chosen').waitFor();
    await expect.poll(() => isOnScreen(turn(150).locator('.call-head'))).toBe(true);
    expect(await drawn.count()).toBeLessThan(turns / 2);
    expect(await turn(150).getAttribute('aria-posinset')).toBe('150');
    expect(await turn(150).getAttribute('aria-setsize')).toBe(String(turns));
    for (const [key, number] of [
      ['j', 151],
      ['G', turns],
      ['k', turns - 1],
      ['g', 1],
    ] as const) {
      await page.keyboard.press(key);
      await turn(number).locator('.call.chosen').waitFor();
      await expect.poll(() => isOnScreen(turn(number).locator('.call-head'))).toBe(true);
    }
    expect(await drawn.count()).toBeLessThan(turns / 2);
    expect(await violations(page)).toEqual([]);
    // The only token that surprises is far away.
    await page.keyboard.press('n');
    const told = page.locator('.find [role=status]');
    await expect.poll(() => told.textContent()).toBe('1 of 1');
    await expect.poll(() => isOnScreen(turn(201).locator('.tokens'))).toBe(true);
    await page.reload();
    await turn(1).locator('.call').waitFor();
    expect(await drawn.count()).toBeLessThan(turns / 2);
    await page.keyboard.press('/');
    await page.keyboard.type('situation 222.');
    await page.keyboard.press('Enter');
    await expect.poll(() => told.textContent()).toBe('1 of 1');
    await expect.poll(() => isOnScreen(turn(222).locator('.message').first())).toBe(true);
    expect(wrong).toEqual([]);
    await opened.close();
  });
});

async function isOnScreen(place: {
  boundingBox(): Promise<{ readonly y: number; readonly height: number } | null>;
}): Promise<boolean> {
  const box = await place.boundingBox();
  return box !== null && box.y >= 0 && box.y + Math.min(box.height, 40) <= 720;
}
