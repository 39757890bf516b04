/** The viewer as a process: alone, and beside a run. */

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeExampleRun } from '../example-run.test-helper.ts';
import { viewBeside } from '../terminal/view-beside.ts';

const main = new URL('../../../dist/src/cli/main.js', import.meta.url).pathname;
const root = mkdtempSync(join(tmpdir(), 'turnwise-view-command-'));
beforeAll(() => writeExampleRun(root, 'example'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** @param onOut told what it has written so far, and how to interrupt it */
function view(words: readonly string[], onOut: (out: string, interrupt: () => void) => void): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [main, 'view', '--runs', root, ...words]);
    let [out, error] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString('utf8');
      onOut(out, () => child.kill('SIGINT'));
    });
    child.stderr.on('data', (chunk: Buffer) => {
      error += chunk.toString('utf8');
    });
    child.on('close', (code) => resolve({ code, out, error }));
  });
}

const namesAt = async (address: string): Promise<string[]> => {
  const { origin, hash } = new URL(address);
  const headers = { authorization: `Bearer ${hash.replace('#token=', '')}` };
  const response = await fetch(`${origin}/api/runs`, { headers });
  return ((await response.json()) as { runs: { name: string }[] }).runs.map(({ name }) => name);
};

test('it prints an address that begins with the run, and ends at Ctrl-C', { timeout: 60_000 }, async () => {
  let names: string[] | undefined;
  const { code, out } = await view(['example', '--json'], (text, interrupt) => {
    if (!text.includes('\n')) return;
    const { address } = JSON.parse(text) as { readonly address: string };
    expect(new URL(address).pathname).toBe('/runs/example');
    void namesAt(address).then((found) => {
      names = found;
      interrupt();
    });
  });
  expect([code, names]).toEqual([0, ['example']]);
  expect(out.split('\n')).toHaveLength(2);
});

test('a run that there is not is an error before anything is served', { timeout: 60_000 }, async () => {
  const { code, out, error } = await view(['exampel'], () => {});
  expect([code, out]).toEqual([2, '']);
  expect(error).toContain('Did you mean "example"?');
});

test('beside a run it is a process of low priority that ends with it', { timeout: 60_000 }, async () => {
  const beside = await viewBeside(root, main);
  expect(await namesAt(beside.address)).toEqual(['example']);
  beside.close();
  await expect.poll(() => namesAt(beside.address).catch(() => 'gone'), { timeout: 20_000 }).toBe('gone');
});
