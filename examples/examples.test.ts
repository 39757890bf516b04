/** The example of the README runs as a user would run it, and the README shows it word for word. */

import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const source = read('./own-environment.ts');

test('an environment of one’s own trains, and is better on held-out tasks after than before', {
  timeout: 120_000,
}, async () => {
  const program = new URL('../dist/examples/own-environment.js', import.meta.url).pathname;
  if (!existsSync(program)) throw new Error(`${program} does not exist: run "npm run build" first`);
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-example-'));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: folder });
    const [before, after] = [...stdout.matchAll(/\d\.?\d*/g)].map(([figure]) => Number(figure));
    expect(before).toBeLessThan(0.4);
    expect(after).toBeGreaterThan(before! + 0.4);
    expect(existsSync(join(folder, 'runs', 'treasure-rloo-1', 'events.jsonl'))).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('it is short', () => {
  const lines = source.split('\n').filter((line) => line.trim() !== '' && !/^\s*(\/\/|\/\*\*)/.test(line));
  expect(lines.length).toBeLessThanOrEqual(30);
});

test('the README shows it word for word', () => {
  const blocks = [...read('../README.md').matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code!);
  const shown = blocks.filter((code) => code.includes('import { defineEnvironment, train }'));
  // The first line says what the file is; the README says so in its own words.
  expect(shown).toEqual([source.slice(source.indexOf('import '))]);
});
