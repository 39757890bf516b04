/** An environment whose code never gives way does not keep a person from ending its check. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';

const command = new URL('../dist/src/cli/main.js', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-endless-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

writeFileSync(
  join(folder, 'endless.mjs'),
  `import { defineEnvironment } from 'turnwise/env';
export const endless = defineEnvironment({
  name: 'endless',
  description: 'whose step does not return',
  maxTurns: 2,
  tasks: () => ({ size: 1, at: () => ({}) }),
  start: () => ({ state: 0, messages: [{ role: 'user', content: 'go' }] }),
  actions: () => ['go'],
  step: () => {
    for (;;);
  },
});
`,
);

test.for(['SIGINT', 'SIGTERM'] as const)('%s', { timeout: 60_000 }, async (signal) => {
  const child = spawn(process.execPath, [command, 'env', 'check', './endless.mjs'], { cwd: folder });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close');
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    // What has ended is shown at once; the next check steps.
    if (output.includes('tasks')) setTimeout(() => child.kill(signal), 500);
  });
  await ended;
  expect(output).toMatch(/^endless\n {2}✓ {2}tasks +1 train/);
  expect(child.signalCode).toBe(signal);
});
