/** What a browser takes to learn frozen-lake beside Node, with the same settings, and what a visitor loads for it. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { demoSettings, usualSteps } from '../src/browser/demo/settings.ts';
import { train } from '../src/exports/train.ts';
import { openBrowser } from '../tools/browser.ts';
import { startDemo } from '../tools/demo-process.ts';

const longest = 40 * 60_000;

interface Learned {
  readonly seconds: number;
  readonly before: number;
  readonly after: number;
}

/** @param names numbers of threads; default: 1, since a second gains so small a model little */
export async function benchBrowser(names: readonly string[]): Promise<object> {
  const threads = names.length > 0 ? names.map(Number) : [1];
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-bench-browser-'));
  try {
    const demo = await startDemo(join(folder, 'demo'));
    const results: Record<string, object> = {};
    try {
      for (const count of threads) {
        const chromium = told(`Chromium, threads ${count}`, await inChromium(demo.origin, count));
        const node = told(`Node, threads ${count}`, await inNode(folder, count));
        results[`threads${count}`] = { chromium, node, chromiumOfNode: chromium.seconds / node.seconds };
      }
    } finally {
      demo.close();
    }
    const bytes = (name: string): object => {
      const content = readFileSync(join(folder, 'demo', name));
      return { bytes: content.length, gzipBytes: gzipSync(content, { level: 9 }).length };
    };
    return {
      steps: usualSteps['frozen-lake'],
      ...results,
      page: bytes('main.js'),
      worker: bytes('worker.js'),
      runtime: bytes('ort/ort-wasm-simd-threaded.wasm'),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** It takes minutes, so each figure is told when it is there. */
function told(what: string, learned: Learned): Learned {
  process.stderr.write(`${what}: ${JSON.stringify(learned)}\n`);
  return learned;
}

/** From the click to the last evaluation, the runtime's loading included. */
async function inChromium(origin: string, threads: number): Promise<Learned> {
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(origin);
    await page.getByLabel('Threads').selectOption(String(threads));
    const began = performance.now();
    await page.getByRole('button', { name: 'Start' }).click();
    await page.locator('text=It has learned').waitFor({ timeout: longest });
    const seconds = (performance.now() - began) / 1000;
    const rows = await page
      .locator('.success tbody tr')
      .evaluateAll((all) => all.map((row) => Number(row.querySelector('td')?.textContent)));
    return { seconds, before: rows[0] ?? Number.NaN, after: rows.at(-1) ?? Number.NaN };
  } finally {
    await browser.close();
  }
}

async function inNode(folder: string, threads: number): Promise<Learned> {
  const began = performance.now();
  const { before, after } = await train({
    world: 'frozen-lake',
    recipe: 'rloo',
    settings: { ...demoSettings('frozen-lake', usualSteps['frozen-lake'], 1), threads },
    runs: join(folder, 'runs'),
    name: `threads-${threads}`,
  });
  const seconds = (performance.now() - began) / 1000;
  return { seconds, before: before.sampled.success, after: after.sampled.success };
}
