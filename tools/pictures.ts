/**
 * Pictures of the viewer for the documents: the pages of one run, in docs/pictures.
 *
 *     npm run build && node dist/tools/pictures.js RUNS RUN
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { version } from '../src/run/version.ts';
import { listenView } from '../src/view/server/listen.ts';
import { openBrowser } from './browser.ts';

const folder = new URL('../../docs/pictures', import.meta.url).pathname;
const settleMs = 2500;

const [root, run] = process.argv.slice(2);
if (root === undefined || run === undefined) throw new Error('usage: node dist/tools/pictures.js RUNS RUN');

const server = await listenView({ root, version }, 0);
const { origin, hash } = new URL(server.address());
const browser = await openBrowser();
mkdirSync(folder, { recursive: true });

async function picture(
  name: string,
  path: string,
  { height = 900, ready = async (_page: Page) => {} } = {},
): Promise<string> {
  const context = await browser.newContext({ viewport: { width: 1280, height }, colorScheme: 'light' });
  const page = await context.newPage();
  await page.goto(`${origin}${path}${hash}`);
  await page.waitForTimeout(settleMs);
  await ready(page);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  const first = await page
    .locator('main table a[href*="/groups/"], main a[href*="/groups/"]')
    .first()
    .getAttribute('href', { timeout: settleMs })
    .catch(() => null);
  await context.close();
  process.stdout.write(`${name}.png\n`);
  return first ?? '';
}

const settled = async (page: Page): Promise<void> => {
  await page.waitForTimeout(settleMs);
};

const group = await picture('run', `/runs/${run}`);
const episode = group === '' ? '' : await picture('group', group, { ready: settled });
if (episode !== '') await picture('episode', episode, { height: 1100, ready: settled });
await picture('evaluations', `/runs/${run}/evaluations`);
await picture('play', `/runs/${run}/play`, {
  ready: async (page) => {
    // Two turns are sampled.
    for (let turn = 0; turn < 2; turn++) {
      await page.keyboard.press('s');
      await settled(page);
    }
  },
});
await browser.close();
await server.close();
