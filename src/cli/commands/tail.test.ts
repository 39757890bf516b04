/** `turnwise tail` as a process: beside a run that ended, and one that is written. */

import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { version } from '../../run/version.ts';
import { painter } from '../../show/console.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { overviewOf } from '../../view/server/overview.ts';
import { RunsFolder } from '../../view/server/runs-folder.ts';
import { writeExampleRun } from '../example-run.test-helper.ts';
import { tailBlock } from '../terminal/tail-text.ts';

const main = new URL('../../../dist/src/cli/main.js', import.meta.url).pathname;
const root = mkdtempSync(join(tmpdir(), 'turnwise-tail-'));
beforeAll(() => writeExampleRun(root, 'example'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function tail(
  words: readonly string[],
  onOut: (out: string) => void = () => {},
): Promise<[number | null, string]> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [main, 'tail', '--runs', root, ...words]);
    let out = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        out += chunk.toString('utf8');
        onOut(out);
      });
    }
    child.on('close', (code) => resolve([code, out]));
  });
}

test('of a run that has ended it tells the last lines', { timeout: 60_000 }, async () => {
  const [code, out] = await tail(['example', '--lines', '2']);
  expect(code).toBe(0);
  expect(out.trim().split('\n')).toHaveLength(2);
  expect(out).toMatch(/finished after \d+ steps/);
  const [unknown, message] = await tail(['exampel']);
  expect([unknown, message]).toEqual([2, expect.stringContaining('Did you mean "example"?')]);
});

test('of one that goes on it tells what happens, and ends with it', { timeout: 60_000 }, async () => {
  const run = RunDirectory.create({
    root,
    name: 'live',
    version,
    world: { name: 'w', source: 'w' },
    recipe: 'rloo',
    config: { seed: 1 },
  });
  run.events.append({ type: 'phase', phase: 'train', steps: 2 });
  let added = false;
  const ended = tail(['live'], (out) => {
    if (added || !out.includes('train')) return;
    added = true;
    const line = { type: 'warning', code: 'late', message: 'esc \u001b[31m', time: new Date().toISOString() };
    appendFileSync(run.events.path, `${JSON.stringify(line)}\n`);
    setTimeout(() => void run.close(), 1500);
  });
  const [code, out] = await ended;
  expect(code).toBe(0);
  expect(out).toContain('warning late: esc');
  expect(out).not.toContain('\u001b');
});

test('the block has the figures of the page, and fits', () => {
  const folder = new RunsFolder({ root, version });
  const run = folder.find('example');
  const curve = run.metrics().series(['reward/success'], 80);
  const lines = tailBlock(overviewOf(folder, run), curve, 60, painter(true)).map(stripVTControlCharacters);
  expect(lines[0]).toMatch(/^example {2}✓ finished/);
  expect(lines.join('\n')).toContain('Held-out success');
  expect(lines.filter((line) => line.includes('●')).length).toBeGreaterThan(1);
});

test('what was practised is not called held out', () => {
  const folder = new RunsFolder({ root, version });
  const run = folder.find('example');
  const overview = overviewOf(folder, run);
  const { start, ...history } = overview.history;
  const practised = { ...history, start: { ...start!, testTasks: 'practised' as const } };
  const curve = run.metrics().series(['reward/success'], 80);
  const text = tailBlock({ ...overview, history: practised }, curve, 80, painter(false)).join('\n');
  expect(text).toContain('Test success');
  expect(text).not.toMatch(/held.out/i);
});
