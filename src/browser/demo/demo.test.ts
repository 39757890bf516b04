/** The demo in a real browser: an agent learns a few steps in it, is looked at, and goes on in Node. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBrowser, noBrowser, openBrowser, required } from '../../../tools/browser.ts';
import { type ServedDemo, startDemo } from '../../../tools/demo-process.ts';

const isMissing = findBrowser() === undefined && !required;
if (isMissing) console.warn(`Skipped: ${noBrowser}`);

const root = new URL('../../..', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-demo-'));
const axe = readFileSync(join(root, 'node_modules/axe-core/axe.min.js'), 'utf8');
const minutes = 60_000;
let demo: ServedDemo;
let browser: Browser;

beforeAll(async () => {
  if (isMissing) return;
  demo = await startDemo(join(folder, 'demo'));
  browser = await openBrowser();
}, 5 * minutes);
afterAll(async () => {
  await browser?.close();
  demo?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Opened {
  readonly page: Page;
  /** What went wrong: errors, violations of the policy, requests to other hosts. */
  readonly wrong: string[];
}

async function open(options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') wrong.push(message.text());
  });
  page.on('pageerror', (error) => wrong.push(error.message));
  await context.route('**', (route) => {
    const { origin, protocol } = new URL(route.request().url());
    if (origin === demo.origin || protocol === 'blob:') return route.continue();
    wrong.push(`request to ${origin}`);
    return route.abort();
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error(`policy ${violatedDirective} ${blockedURI}`),
    );
  });
  await page.goto(demo.origin);
  await page.locator('button >> text=Start').waitFor();
  return { page, wrong };
}

const close = ({ page }: Opened): Promise<void> => page.context().close();

/** What an accessibility checker and the width of the window find fault with. */
async function faultsOf(page: Page): Promise<string[]> {
  const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  const violations = (await page.evaluate(`${axe}; axe.run(document, { resultTypes: ['violations'] })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map(({ html }) => id + ' ' + html.slice(0, 160))))`)) as string[];
  return [...violations, ...(sideways > 0 ? [`${sideways} px too wide`] : [])];
}

async function begin(page: Page, steps: number): Promise<void> {
  await page.getByLabel('Steps').fill(String(steps));
  await page.getByRole('button', { name: /^Start/ }).click();
}

/** A run that fails says so on the page, long before the time is up. */
async function learned(page: Page, timeout: number): Promise<void> {
  const alert = page.getByRole('alert');
  await page.locator('text=It has learned').or(alert).waitFor({ timeout });
  expect(await alert.allTextContents()).toEqual([]);
}

const looks = [
  { width: 1280, colorScheme: 'light' },
  { width: 400, colorScheme: 'dark' },
  { width: 400, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
] as const;

describe.skipIf(isMissing)('the demo in a browser', () => {
  test('an agent learns frozen-lake, its episodes open, and its checkpoint plays in Node', {
    timeout: 6 * minutes,
  }, async () => {
    const opened = await open({ viewport: { width: 1280, height: 900 }, acceptDownloads: true });
    const { page, wrong } = opened;
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    await begin(page, 2);
    await learned(page, 5 * minutes);
    expect(await page.locator('.bar-of-phase').textContent()).toMatch(/WebAssembly, (2 threads|one thread)$/);
    const rows = await page.locator('.success tbody tr').allTextContents();
    expect(rows.map((row) => /^\d/.exec(row)?.[0])).toEqual(['0', '2']);
    // The training episodes of the last step, with the credit that they were learned from.
    await page.locator('.episodes-of-run li a').first().click();
    await page.locator('text=Turn by turn').waitFor();
    expect(await page.locator('.members-table tbody tr').count()).toBe(8);
    await page.locator('.members-table tbody a').first().click();
    await page.locator('.tokens').first().waitFor();
    expect(await page.locator('[aria-label="Credit"] tbody tr').count()).toBeGreaterThan(0);
    expect(await page.locator('.conversation').textContent()).toMatch(/rows[+-]\d cols[+-]\d/);
    await page.goBack();
    await page.goBack();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download checkpoint 2' }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toBe('frozen-lake-browser-1.tar');
    const archive = join(folder, 'run.tar');
    await saved.saveAs(archive);
    expect(wrong).toEqual([]);
    await close(opened);

    const runs = join(folder, 'runs');
    mkdirSync(runs);
    execFileSync('tar', ['-xf', archive, '-C', runs]);
    const turnwise = (...line: string[]): string =>
      execFileSync(process.execPath, [join(root, 'dist/src/cli/main.js'), ...line, '--runs', runs], {
        encoding: 'utf8',
      });
    const told = turnwise('play', 'frozen-lake', '--run', 'frozen-lake-browser-1', '--episodes', '2');
    expect(told.match(/(✓|✗) (not )?solved, return/g)).toHaveLength(2);
    expect(turnwise('runs', 'show', 'frozen-lake-browser-1')).toContain('frozen-lake');
  });

  test('every look of the page, before a run and while one goes on', { timeout: 5 * minutes }, async () => {
    const problems: string[] = [];
    for (const { width, colorScheme } of looks) {
      const opened = await open({ viewport: { width, height: 800 }, colorScheme });
      const { page, wrong } = opened;
      const note = (where: string, faults: readonly string[]): void => {
        problems.push(...faults.map((fault) => `${width} ${colorScheme}, ${where}: ${fault}`));
      };
      note('first', await faultsOf(page));
      await page.getByRole('button', { name: 'Your own' }).click();
      note('editor', await faultsOf(page));
      await begin(page, 3);
      await page.locator('.episodes-of-run li').first().waitFor({ timeout: minutes });
      note('running', await faultsOf(page));
      note('errors', wrong);
      await close(opened);
    }
    expect(problems).toEqual([]);
  });

  test('a visitor is told what is wrong with her world, and stops one that does not return', {
    timeout: 3 * minutes,
  }, async () => {
    const opened = await open();
    const { page, wrong } = opened;
    await page.getByRole('button', { name: 'Your own' }).click();
    const editor = page.getByLabel('Code of your world');
    const example = await editor.inputValue();
    const told = async (code: string): Promise<string> => {
      await editor.fill(code);
      await begin(page, 1);
      const alert = page.getByRole('alert');
      await alert.waitFor();
      return (await alert.textContent()) ?? '';
    };
    expect(await told('export const world = {')).toMatch(/Your code does not run.*SyntaxError/);
    expect(await told('missing();')).toMatch(/ReferenceError: missing is not defined \(line 1\)/);
    expect(await told('export const other = 1;')).toMatch(/exports no world.*exports other/);
    expect(await told(example.replace('step: (place', 'stepp: (place'))).toMatch(/lacks step/);
    expect(await told(example.replace("'warmer' : 'colder'", '1 : 2'))).toMatch(/observation/);
    expect(await told(example.replace('state: place,', 'state: Math.random(),'))).toMatch(
      /the same seed gave two transcripts/,
    );
    await editor.fill(example.replace('const found', 'while (true) {}\n    const found'));
    await begin(page, 1);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('text=The code did not return').waitFor({ timeout: 10_000 });
    // The page, whose thread it is not, goes on.
    await editor.fill(example);
    await begin(page, 2);
    await learned(page, 2 * minutes);
    expect(wrong).toEqual([]);
    await close(opened);
  });

  test('her code can neither ask another host nor reach the page', { timeout: minutes }, async () => {
    const opened = await open();
    const { page } = opened;
    await page.getByRole('button', { name: 'Your own' }).click();
    const seen = `await fetch('https://example.com').then(() => 'asked', () => 'refused')`;
    await page
      .getByLabel('Code of your world')
      .fill(`throw new Error([${seen}, typeof document, typeof localStorage].join(' '));`);
    await begin(page, 1);
    await page.locator('text=refused undefined undefined').waitFor();
    await close(opened);
  });

  test('a run stops at once and keeps what it has learned', { timeout: 3 * minutes }, async () => {
    const opened = await open();
    const { page, wrong } = opened;
    await page.getByRole('button', { name: 'Your own' }).click();
    await begin(page, 1000);
    await page.getByRole('button', { name: /^Download checkpoint \d/ }).waitFor({ timeout: 2 * minutes });
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('text=Stopped').waitFor({ timeout: 5000 });
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: /^Download checkpoint \d/ }).click();
    const archive = join(folder, 'own.tar');
    await (await saving).saveAs(archive);
    expect(wrong).toEqual([]);
    await close(opened);
    // Her code is in the archive, and plays in Node as it is.
    const runs = join(folder, 'own-runs');
    mkdirSync(runs);
    execFileSync('tar', ['-xf', archive, '-C', runs]);
    const world = join(runs, 'own-browser-1/world.mjs');
    const line = ['play', world, '--run', 'own-browser-1', '--runs', runs];
    const told = execFileSync(process.execPath, [join(root, 'dist/src/cli/main.js'), ...line], {
      encoding: 'utf8',
    });
    expect(told).toMatch(/(✓|✗) (not )?solved, return/);
  });

  test('without the headers it learns with one thread', { timeout: 4 * minutes }, async () => {
    const alone = await startDemo(join(folder, 'one-thread'), ['--one-thread']);
    try {
      const page = await browser.newPage();
      await page.goto(alone.origin);
      expect(await page.evaluate(() => crossOriginIsolated)).toBe(false);
      await page.getByRole('button', { name: 'Your own' }).click();
      await begin(page, 1);
      await learned(page, 2 * minutes);
      expect(await page.locator('text=WebAssembly, one thread').count()).toBe(1);
      await page.close();
    } finally {
      alone.close();
    }
  });

  // Software that stands in for a GPU: its gradients must agree, but it is slower than WebAssembly.
  const software = ['--enable-unsafe-webgpu', '--enable-features=Vulkan', '--use-vulkan=swiftshader'];

  test.each([
    ['without WebGPU', [], /^WebAssembly, .*This browser offers no WebGPU\.$/],
    [
      'with WebGPU in software',
      [...software, '--use-webgpu-adapter=swiftshader'],
      /^WebAssembly, .*Not WebGPU, which is software here; its gradients agree within 0\.000\d+ %\.$/,
    ],
  ] as const)('%s it says what computes, and learns', { timeout: 4 * minutes }, async (_, args, says) => {
    const other = await openBrowser(args);
    try {
      const page = await other.newPage();
      await page.goto(demo.origin);
      await page.getByRole('button', { name: 'Your own' }).click();
      await page.getByLabel('Computes on').selectOption('webgpu');
      await begin(page, 1);
      await learned(page, 3 * minutes);
      expect(await page.locator('.bar-of-phase .ink3').textContent()).toMatch(says);
    } finally {
      await other.close();
    }
  });

  test('the folder holds all that it asks for', () => {
    for (const name of ['index.html', 'main.js', 'main.css', 'worker.js', '_headers', 'ort/ort.wasm.min.mjs'])
      expect(existsSync(join(folder, 'demo', name)), name).toBe(true);
    // Schemas come without their words in forty languages.
    expect(readFileSync(join(folder, 'demo/worker.js'), 'utf8')).not.toContain('Ongeldige invoer');
  });
});
