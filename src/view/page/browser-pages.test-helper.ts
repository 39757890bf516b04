/** Pages of a viewer in an installed browser: what goes wrong in one is collected, and no other host is ever asked. */

import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openBrowser } from '../../../tools/browser.ts';
import { version } from '../../run/version.ts';
import { listenView, type ViewServer } from '../server/listen.ts';

const axe = readFileSync(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

export interface Opened {
  readonly page: Page;
  /** What went wrong: errors, violations of the policy, requests to other hosts. */
  readonly wrong: string[];
  close(): Promise<void>;
}

export class Pages {
  readonly server: ViewServer;
  readonly #browser: Browser;

  private constructor(server: ViewServer, browser: Browser) {
    this.server = server;
    this.#browser = browser;
  }

  static async over(root: string): Promise<Pages> {
    return new Pages(await listenView({ root, version }, 0), await openBrowser());
  }

  async open(path: string, options: BrowserContextOptions = {}): Promise<Opened> {
    const { server } = this;
    const context = await this.#browser.newContext(options);
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
    return { page, wrong, close: () => context.close() };
  }

  /** A page without the key. */
  async openLocked(path: string): Promise<Opened> {
    const context = await this.#browser.newContext();
    const page = await context.newPage();
    await page.goto(`${this.server.origin}${path}`);
    return { page, wrong: [], close: () => context.close() };
  }

  async ask<T>(path: string): Promise<T> {
    const headers = { authorization: `Bearer ${this.server.key}` };
    const response = await fetch(`${this.server.origin}${path}`, { headers });
    return (await response.json()) as T;
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.server.close();
  }
}

/** What axe finds, with the beginning of the element. */
export async function violations(page: Page): Promise<string[]> {
  return (await page.evaluate(`${axe}; axe.run(document, { resultTypes: ['violations'] })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map(({ html }) => id + ' ' + html.slice(0, 160))))`)) as string[];
}
