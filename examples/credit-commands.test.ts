/** Every command about credit that the documents show for the file that is shipped with them works as it stands. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { creditCommand } from '../src/cli/commands/credit.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';

const root = new URL('..', import.meta.url).pathname;
const shown = ['credit-methods.md', 'credit.md']
  .flatMap((name) =>
    [...readFileSync(`${root}docs/${name}`, 'utf8').matchAll(/^turnwise (credit .*)$/gm)].map(
      ([, words]) => words!,
    ),
  )
  .filter((words) => words.includes('examples/'));

test('there is one for each method and shaping', () => {
  expect(shown.length).toBeGreaterThanOrEqual(44);
});

test.each(shown)('turnwise %s', async (words) => {
  const console = memoryConsole({ columns: 100 });
  const line = words.split(' ').map((word) => (word.endsWith('.jsonl') ? `${root}${word}` : word));
  const code = await runCommandLine(line, {
    commands: [creditCommand],
    version: '0',
    console,
    interrupts: noInterrupts,
  });
  expect(console.errors()).toBe('');
  expect(code).toBe(0);
  expect(console.output()).toMatch(/^trajectory +turn|^\{"method"|^Recompute/);
});
