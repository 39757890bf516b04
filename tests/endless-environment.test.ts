/** An environment whose code never gives way does not keep a person from ending a command that plays it. */

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
    process.stderr.write('stepping');
    for (;;);
  },
});
`,
);

const lines = [
  { words: ['env', 'check'], signal: 'SIGINT', shown: /^endless\n {2}✓ {2}tasks +1 train/ },
  { words: ['env', 'check'], signal: 'SIGTERM', shown: /^endless\n {2}✓ {2}tasks +1 train/ },
  { words: ['envs'], signal: 'SIGINT', shown: /^$/ },
] as const;

test.for(lines)('$words, $signal', { timeout: 60_000 }, async ({ words, signal, shown }) => {
  const child = spawn(process.execPath, [command, ...words, './endless.mjs'], { cwd: folder });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close');
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.once('data', () => child.kill(signal));
  await ended;
  expect(output).toMatch(shown);
  expect(child.signalCode).toBe(signal);
});
