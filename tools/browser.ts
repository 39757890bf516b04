/** A browser for tests: one that is installed. Where there is none the tests are skipped, and say so; CI demands one. */

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge'];
const elsewhere = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** The variable with which CI makes a missing browser a failure. */
export const required = process.env.TURNWISE_BROWSER_TESTS === 'required';

/** Path of an installed browser: that in CHROMIUM, or one with a usual name. */
export function findBrowser(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = (environment.PATH ?? '').split(delimiter).filter(Boolean);
  const paths = [
    ...(environment.CHROMIUM ? [environment.CHROMIUM] : []),
    ...folders.flatMap((folder) => names.map((name) => join(folder, name))),
    ...elsewhere,
  ];
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export const noBrowser = 'no Chromium is installed: these tests need one on PATH, or its path in CHROMIUM';

/** @param more arguments of the browser */
export function openBrowser(more: readonly string[] = []): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error(noBrowser);
  // Containers give it no sandbox of its own; it only ever opens pages of these tests.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage', ...more] });
}
