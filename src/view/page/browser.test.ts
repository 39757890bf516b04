/** Every page in a real browser, with runs that this test makes. */

import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBrowser, noBrowser, openBrowser, required } from '../../../tools/browser.ts';
import { version } from '../../run/version.ts';
import { listenView, type ViewServer } from '../server/listen.ts';
import type { StepEpisodes } from '../shapes.ts';
import { makeViewRuns } from '../testing/view-runs.ts';

const isMissing = findBrowser() === undefined && !required;
if (isMissing) console.warn(`Skipped: ${noBrowser}`);

const root = mkdtempSync(join(tmpdir(), 'turnwise-pages-'));
const axe = readFileSync(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
let server: ViewServer;
let browser: Browser;

beforeAll(async () => {
  if (isMissing) return;
  await makeViewRuns(root);
  server = await listenView({ root, version }, 0);
  browser = await openBrowser();
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
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
  configuration: ['/runs/lake/config', 'text=model.width'],
  log: ['/runs/lake/log', '.log li'],
  'hostile run': ['/runs/hostile', 'text=Groups of step 1'],
  'hostile group': ['/runs/hostile/steps/1/groups/0', 'text=Side by side'],
  'hostile episode': ['/runs/hostile/steps/1/groups/0/0', '.call'],
  'unknown run': ['/runs/none', 'text=run-unknown'],
  'unknown page': ['/nothing/here', 'text=There is no such page'],
} as const;

interface Opened {
  readonly page: Page;
  /** What went wrong: errors, violations of the policy, requests to other hosts. */
  readonly wrong: string[];
}

async function open(path: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const wrong: string[] = [];
  // An answer that refuses is told in the page, where a test expects it.
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) wrong.push(message.text());
  });
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('dialog', (dialog) => wrong.push(`dialog ${dialog.message()}`));
  await context.route('**', (route) => {
    const { origin } = new URL(route.request().url());
    if (origin === server.origin) return route.continue();
    wrong.push(`request to ${origin}`);
    return route.abort();
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error(`policy ${violatedDirective} ${blockedURI}`),
    );
  });
  await page.goto(`${server.origin}${path}#token=${server.key}`);
  return { page, wrong };
}

const close = ({ page }: Opened): Promise<void> => page.context().close();

/** The place is there, and so are the listeners that its page adds after it was drawn. */
async function listening(place: Locator): Promise<void> {
  await place.waitFor();
  await place.page().evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
}

describe.skipIf(isMissing)('in a browser', () => {
  const looks = [
    { width: 1280, colorScheme: 'light' },
    { width: 400, colorScheme: 'dark' },
    { width: 400, colorScheme: 'light' },
    { width: 1280, colorScheme: 'dark' },
  ] as const;

  test.each(looks)(
    'every page at $width px, $colorScheme',
    { timeout: 240_000 },
    async ({ width, colorScheme }) => {
      const problems: string[] = [];
      for (const [name, [path, shows]] of Object.entries(pages)) {
        const opened = await open(path, { viewport: { width, height: 800 }, colorScheme });
        const { page, wrong } = opened;
        await page.locator(shows).first().waitFor({ timeout: 15_000 });
        await page.waitForTimeout(100);
        const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (sideways > 0) problems.push(`${name}: ${sideways} px too wide`);
        if (page.url().includes('token')) problems.push(`${name}: the key is in the address`);
        if ((await page.title()).includes('owned')) problems.push(`${name}: a script of an episode ran`);
        const violations = (await page.evaluate(`${axe}; axe.run(document, { resultTypes: ['violations'] })
          .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
            nodes.slice(0, 3).map(({ html }) => id + ' ' + html.slice(0, 160))))`)) as string[];
        problems.push(...[...violations, ...wrong].map((problem) => `${name}: ${problem}`));
        await close(opened);
      }
      expect(problems).toEqual([]);
    },
  );

  test('keys lead through runs, groups, members and turns, and back', { timeout: 60_000 }, async () => {
    const opened = await open('/');
    const { page, wrong } = opened;
    await listening(page.locator('tr.current'));
    await page.keyboard.press('G');
    await page.keyboard.press('k');
    await page.keyboard.press('g');
    expect(await page.locator('tbody tr').first().getAttribute('class')).toBe('current');
    await page.keyboard.press('/');
    await page.keyboard.type('lake');
    await page.keyboard.press('Escape');
    await listening(page.locator('tr.current >> text=lake'));
    await page.goto(`${server.origin}/runs/lake`);
    await listening(page.locator('text=Groups of step 3'));
    await page.keyboard.press('[');
    await listening(page.locator('text=Groups of step 2'));
    expect(new URL(page.url()).search).toBe('?step=2');
    await page.keyboard.press(']');
    await page.keyboard.press('x');
    expect(await page.locator('select').first().inputValue()).toBe('minute');
    await listening(page.locator('table.groups tr.current'));
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/steps\/3\/groups\/\d+$/);
    await listening(page.locator('.members-table tr.current'));
    await page.keyboard.press('j');
    await listening(page.locator('.members-table tbody tr:nth-child(2).current'));
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/groups\/\d+\/1$/);
    await listening(page.locator('.tokens').first());
    await page.keyboard.press('j');
    expect(new URL(page.url()).searchParams.get('turn')).toBe('1');
    await listening(page.locator('.call.chosen'));
    await page.keyboard.press('2');
    await page.keyboard.press('3');
    expect(new URL(page.url()).searchParams.get('colour')).toBe('advantage');
    await page.keyboard.press('i');
    await listening(page.locator('pre.ids').first());
    await page.keyboard.press('r');
    await listening(page.locator('.raw pre'));
    await page.keyboard.press('u');
    await page.waitForURL(/\/groups\/\d+$/);
    await listening(page.locator('.members-table tr.current'));
    await page.keyboard.press('u');
    await listening(page.locator('text=Groups of step 3'));
    const before = await page.evaluate(() => document.documentElement.dataset.theme);
    await page.keyboard.press('t');
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).not.toBe(before);
    await page.keyboard.press('?');
    await listening(page.locator('section.keys'));
    await page.getByLabel('Keys work').uncheck();
    await page.keyboard.press('Escape');
    await page.keyboard.press('u');
    expect(page.url()).toContain('/runs/lake');
    expect(wrong).toEqual([]);
    await close(opened);
  });

  test('tokens are coloured in one text, and tell their numbers', { timeout: 60_000 }, async () => {
    const opened = await open(pages.episode[0]);
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
    await close(opened);
  });

  test('the credit method is switched, with its options', { timeout: 60_000 }, async () => {
    const response = await fetch(`${server.origin}/api/runs/lake/places/3`, {
      headers: { authorization: `Bearer ${server.key}` },
    });
    const { members } = (await response.json()) as StepEpisodes;
    // Where all members have the same return, no method tells them apart.
    const told = members.find((one) =>
      members.some((other) => other.group === one.group && other.return !== one.return),
    )!;
    const opened = await open(`/runs/lake/steps/3/groups/${told.group}/${told.member}`);
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
    await close(opened);
  });

  test('hostile text is shown, and does nothing', { timeout: 60_000 }, async () => {
    const opened = await open(pages['hostile episode'][0]);
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
    await close(opened);
  });

  test('without the key there is nothing to see', { timeout: 30_000 }, async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${server.origin}/runs/lake`);
    await page.locator('text=The key is missing or wrong').waitFor();
    await context.close();
  });

  test('an event is on the screen soon after it is written', { timeout: 60_000 }, async () => {
    const opened = await open('/runs/cut');
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
    await close(opened);
  });
});
