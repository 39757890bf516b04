/** Every page in a real browser, with runs that this test makes. */

import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBrowser, noBrowser, required } from '../../../tools/browser.ts';
import { version } from '../../run/version.ts';
import { annotate } from '../server/annotations.ts';
import { Groups } from '../server/groups.ts';
import { RunsFolder } from '../server/runs-folder.ts';
import type { ShownEpisode, StepEpisodes } from '../shapes.ts';
import { hostileText, makeViewRuns, markup } from '../testing/view-runs.ts';
import { Pages, violations } from './browser-pages.test-helper.ts';

const isMissing = findBrowser() === undefined && !required;
if (isMissing) console.warn(`Skipped: ${noBrowser}`);

const root = mkdtempSync(join(tmpdir(), 'turnwise-pages-'));
let viewer: Pages;

beforeAll(async () => {
  if (isMissing) return;
  await makeViewRuns(root);
  // Prompts that learn: one that is none, and one of somebody who means harm.
  const used = ['none', 'bad'].map((prompt) => ({ prompt, groups: 2, return: 0.25, success: 0.5 }));
  const texts = { none: '', bad: hostileText.repeat(20) };
  const told = { type: 'prompts', step: 1, used, best: 'bad', texts, time: new Date().toISOString() };
  appendFileSync(join(root, 'hostile', 'events.jsonl'), `${JSON.stringify(told)}\n`);
  // What a person said of two episodes.
  const said = [{ verdict: 'up', note: markup }, { correction: { turn: 0, action: 'right' } }];
  const folder = new RunsFolder({ root, version });
  for (const [member, one] of said.entries()) {
    await annotate(folder.find('lake'), new Groups(), { place: '3', group: 0, member, ...one });
  }
  viewer = await Pages.over(root);
}, 120_000);
afterAll(async () => {
  await viewer?.close();
  rmSync(root, { recursive: true, force: true });
});

const pages = {
  runs: ['/?runs=lake,bare', 'h1 >> text=Runs'],
  run: ['/runs/lake', 'text=Groups of step 3'],
  stopped: ['/runs/cut', 'text=Go on with'],
  group: ['/runs/lake/steps/3/groups/0', 'text=Side by side'],
  episode: ['/runs/lake/steps/3/groups/0/1', '.tokens'],
  evaluation: ['/runs/lake/evaluations/3/groups/0/0?label=greedy', '.tokens'],
  credit: ['/runs/lake/steps/3/groups/0/1?credit=gigpo&colour=advantage&turn=1', 'text=computed here'],
  play: ['/runs/lake/play', 'text=Sample one turn'],
  fork: ['/runs/lake/play?from=3&group=0&member=1&turns=0', 'text=What happened'],
  comparison: ['/comparisons/made', 'text=Differences, seed by seed'],
  metrics: ['/runs/lake/metrics', '.small-chart'],
  episodes: ['/runs/lake/episodes', 'table.episodes'],
  evaluations: ['/runs/lake/evaluations', 'table.evaluations'],
  'one evaluation': ['/runs/lake/evaluations/2?from=1&how=greedy', 'table.evaluations'],
  annotations: ['/annotations?run=lake', 'text=Train from them'],
  'all annotations': ['/annotations', 'text=2 episodes'],
  'no annotations': ['/annotations?run=bare', 'text=Nothing is judged yet'],
  states: ['/runs/lake/steps/3/groups/0/1?state=1', '.state-card .picture'],
  entropies: ['/runs/lake/steps/3/groups/0/1?colour=entropy', 'text=Entropy under checkpoint'],
  configuration: ['/runs/lake/config', 'text=model.width'],
  log: ['/runs/lake/log', '.log li'],
  'hostile run': ['/runs/hostile', 'text=2 prompts tried'],
  'hostile group': ['/runs/hostile/steps/1/groups/0', 'text=Side by side'],
  'hostile episode': ['/runs/hostile/steps/1/groups/0/0', '.call'],
  'hostile metrics': ['/runs/hostile/metrics', '.small-chart'],
  'hostile episodes': ['/runs/hostile/episodes', 'table.episodes'],
  'hostile evaluations': ['/runs/hostile/evaluations', 'text=No evaluation is stored yet'],
  'hostile configuration': ['/runs/hostile/config', 'text=note'],
  'hostile log': ['/runs/hostile/log', '.log li'],
  'chosen runs': ['/compare?runs=lake,bare,hostile,gone', 'table.intervals'],
  'unknown run': ['/runs/none', 'text=run-unknown'],
  'unknown page': ['/nothing/here', 'text=There is no such page'],
} as const;

/** A folder for a picture of every page in every look, to be looked at. */
const pictures = process.env.TURNWISE_PICTURES;

describe.skipIf(isMissing)('in a browser', () => {
  const looks = [
    { width: 1280, colorScheme: 'light' },
    { width: 400, colorScheme: 'dark' },
    { width: 400, colorScheme: 'light' },
    { width: 1280, colorScheme: 'dark' },
  ] as const;

  test.each(looks)(
    'every page at $width px, $colorScheme',
    { timeout: 300_000 },
    async ({ width, colorScheme }) => {
      const problems: string[] = [];
      const viewport = { width, height: 800 };
      const opened = await viewer.open('/', { viewport, colorScheme });
      const { page, wrong } = opened;
      for (const [name, [path, shows]] of Object.entries(pages)) {
        await page.goto(`${viewer.server.origin}${path}`);
        await page.locator(shows).first().waitFor({ timeout: 30_000 });
        await page.waitForTimeout(100);
        const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (sideways > 0) problems.push(`${name}: ${sideways} px too wide`);
        if (page.url().includes('token')) problems.push(`${name}: the key is in the address`);
        if ((await page.title()).includes('owned')) problems.push(`${name}: a script of an episode ran`);
        const found = [...(await violations(page)), ...wrong.splice(0)];
        problems.push(...found.map((problem) => `${name}: ${problem}`));
        if (pictures !== undefined) {
          const file = `${name.replaceAll(' ', '-')}-${width}-${colorScheme}.png`;
          await page.screenshot({ path: join(pictures, file), fullPage: true });
        }
      }
      await opened.close();
      expect(problems).toEqual([]);
    },
  );

  test('tokens are coloured in one text, and tell their numbers', { timeout: 60_000 }, async () => {
    const opened = await viewer.open(pages.episode[0]);
    const { page } = opened;
    const tokens = page.locator('.tokens').first();
    await tokens.waitFor();
    expect(await tokens.evaluate((node) => node.childNodes.length)).toBe(1);
    const painted = () =>
      page.evaluate(() => [...CSS.highlights].filter(([, ranges]) => ranges.size > 0).map(([name]) => name));
    expect((await painted()).every((name) => name.startsWith('surprise-'))).toBe(true);
    expect(await painted()).not.toEqual([]);
    await page.keyboard.press('3');
    await page.waitForFunction(() =>
      [...CSS.highlights].some(([name, ranges]) => name.startsWith('advantage-') && ranges.size > 0),
    );
    expect((await painted()).some((name) => name.startsWith('surprise-'))).toBe(false);
    await tokens.focus();
    await page.keyboard.press('ArrowRight');
    await page.locator('.token-facts >> text=/^id \\d+$/').first().waitFor();
    await opened.close();
  });

  test('a browser without highlights colours an element for each token', { timeout: 60_000 }, async () => {
    const opened = await viewer.open('/');
    const { page, wrong } = opened;
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'Highlight'));
    await page.goto(`${viewer.server.origin}${pages.episode[0]}`);
    const tokens = page.locator('.tokens').first();
    await tokens.waitFor();
    const { calls } = await viewer.ask<ShownEpisode>('/api/runs/lake/places/3/groups/0/members/1');
    expect(await tokens.locator('span').allTextContents()).toEqual(calls[0]!.pieces);
    expect(await tokens.textContent()).toBe(calls[0]!.text.text);
    expect(await tokens.locator('span[class*=surprise-]').count()).toBe(calls[0]!.pieces!.length);
    await tokens.locator('span').first().hover();
    await page.locator('.token-facts >> text=/^id \\d+$/').first().waitFor();
    expect(wrong).toEqual([]);
    await opened.close();
  });

  test('the credit method is switched, with its options', { timeout: 60_000 }, async () => {
    const { members } = await viewer.ask<StepEpisodes>('/api/runs/lake/places/3');
    // Where all members have the same return, no method tells them apart.
    const told = members.find((one) =>
      members.some((other) => other.group === one.group && other.return !== one.return),
    )!;
    const opened = await viewer.open(`/runs/lake/steps/3/groups/${told.group}/${told.member}`);
    const { page, wrong } = opened;
    const select = page.locator('section.credit select').first();
    await select.waitFor();
    await select.selectOption('gigpo');
    await page.locator('section.credit th >> text=gigpo').waitFor();
    const cell = page.locator('section.credit tbody tr').first().locator('td').last();
    const before = await cell.textContent();
    await page.getByLabel('omega').fill('7');
    await page.getByLabel('omega').press('Tab');
    await page.waitForURL(/credit\.omega=7/);
    await expect.poll(() => cell.textContent(), { timeout: 10_000 }).not.toBe(before);
    await select.selectOption('turn-gae');
    await page.locator('section.credit [role=alert] >> text=turn-gae needs').waitFor();
    expect(wrong).toEqual([]);
    await opened.close();
  });

  test('hostile text is shown, and does nothing', { timeout: 60_000 }, async () => {
    const opened = await viewer.open(pages['hostile episode'][0]);
    const { page, wrong } = opened;
    await page.locator('.message').first().waitFor();
    const text = (await page.locator('section.conversation').textContent()) ?? '';
    expect(text).toContain('<img src=x onerror=');
    for (const box of ['⟦ESC⟧', '⟦RLO⟧', '⟦NUL⟧', '⟦U+D800⟧']) expect(text).toContain(box);
    for (const character of '\u202e\u001b\u0000') expect(text).not.toContain(character);
    expect(await page.locator('main img, main script').count()).toBe(0);
    const more = page.locator('button', { hasText: 'Show' }).first();
    await more.click();
    await page.locator('text=/68k characters of/').first().waitFor();
    expect(await page.title()).not.toContain('owned');
    expect(wrong).toEqual([]);
    await opened.close();
  });

  test('what a page may not do is stopped, and noticed here', { timeout: 30_000 }, async () => {
    const opened = await viewer.open('/runs/lake');
    const { page, wrong } = opened;
    await page.locator('.figures').waitFor();
    await page.evaluate(async () => {
      const image = document.createElement('img');
      image.src = 'https://example.com/pixel.png';
      document.body.append(image);
      await fetch('https://example.com/').catch(() => {});
      const script = document.createElement('div');
      try {
        script.innerHTML = '<b>markup</b>';
      } catch {
        // Trusted types.
      }
      script.setAttribute('style', 'color: red');
    });
    for (const directive of ['img-src', 'connect-src', 'require-trusted-types-for', 'style-src']) {
      await expect.poll(() => wrong.join('\n')).toContain(`policy ${directive}`);
    }
    await opened.close();
  });

  test('without the key there is nothing to see', { timeout: 30_000 }, async () => {
    const { page, close } = await viewer.openLocked('/runs/lake');
    await page.locator('text=The key is missing or wrong').waitFor();
    await close();
  });

  test('an event is on the screen soon after it is written', { timeout: 60_000 }, async () => {
    const opened = await viewer.open('/runs/cut');
    const { page, wrong } = opened;
    await page.locator('dt >> text=Failed episodes').waitFor();
    await page.waitForTimeout(500);
    const path = join(root, 'cut', 'events.jsonl');
    appendFileSync(path, '\n');
    const warnings = page.locator('.figures .note >> text=/\\d+ warning/');
    const before = Number(/(\d+) warning/.exec((await warnings.textContent())!)![1]);
    for (let number = 1; number <= 3; number++) {
      const event = { type: 'warning', code: 'test', message: 'one more', time: new Date().toISOString() };
      appendFileSync(path, `${JSON.stringify(event)}\n`);
      await page.locator(`.figures .note >> text=/\\b${before + number} warning/`).waitFor({ timeout: 5000 });
    }
    expect(wrong).toEqual([]);
    await opened.close();
  });
});
