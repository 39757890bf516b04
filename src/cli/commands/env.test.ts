/** `turnwise env new` and `env check`, as people type them. */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eraseSequence } from '../../show/console.ts';
import { runCommandLine } from '../command-line.ts';
import { type MemoryConsole, memoryConsole, noInterrupts } from '../testing-console.test-helper.ts';
import { envCommand } from './env.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnwise-env-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const turnwise = (...line: string[]) => turnwiseOn(memoryConsole(), ...line);

async function turnwiseOn(console: MemoryConsole, ...line: string[]) {
  const code = await runCommandLine(line, {
    commands: [envCommand],
    version: '0.1.0',
    console,
    interrupts: noInterrupts,
  });
  return { code, output: console.output(), errors: console.errors().replaceAll('\n', ' ') };
}

const check = (...more: string[]) => turnwise('env', 'check', join(folder, 'treasure-hunt.ts'), ...more);

test('a new environment passes its check, and is not written twice', { timeout: 60_000 }, async () => {
  const made = await turnwise('env', 'new', 'treasure-hunt', '--folder', folder);
  expect(made.output).toContain('treasure-hunt.ts and treasure-hunt.test.ts are written.');
  expect(existsSync(join(folder, 'treasure-hunt.test.ts'))).toBe(true);
  // The package as users install it is not built here.
  const file = join(folder, 'treasure-hunt.ts');
  const from = (path: string) => resolve(import.meta.dirname, '../..', path);
  const imports = [
    `import { defineEnvironment } from '${from('env/environment.ts')}';`,
    `import { user } from '${from('core/messages.ts')}';`,
  ];
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^import .*$/m, imports.join('\n')));
  expect(await check('--episodes', '20', '--slowest', '100')).toMatchObject({ code: 0, errors: '' });
  const again = await turnwise('env', 'new', 'treasure-hunt', '--folder', folder);
  expect(again.errors).toContain('treasure-hunt.ts is there already.');
  expect((await turnwise('env', 'new', 'No Name', '--folder', folder)).errors).toContain('Seen: "No Name"');
});

test('whoever watches sees which check runs, until it has ended', { timeout: 60_000 }, async () => {
  const file = join(folder, 'treasure-hunt.ts');
  const few = ['--episodes', '12', '--slowest', '100'];
  const { output } = await turnwiseOn(memoryConsole({ interactive: true }), 'env', 'check', file, ...few);
  expect(output).toContain(`  …  laws\n${eraseSequence(1)}  ✓  laws          12 episodes twice`);
});

test('a fault has a counterexample, and can be left out', { timeout: 60_000 }, async () => {
  const file = join(folder, 'treasure-hunt.ts');
  writeFileSync(file, readFileSync(file, 'utf8').replace('reward: found ? 1 : 0', 'reward: found ? 2 : 0'));
  const failed = await check('--episodes', '12', '--slowest', '100');
  expect(failed.code).toBe(1);
  expect(failed.output).toContain('rewards: a return of 2 is outside 0 to 1');
  expect(failed.output).toContain('"split":"train","index":0,"seed":0,"actions":');
  expect(failed.errors).toContain('"treasure-hunt" fails 1 of 13 checks. Seen: rewards.');
  expect((await check('--episodes', '12', '--slowest', '100', '--skip', 'rewards')).code).toBe(0);
  expect((await check('--skip', 'reward')).errors).toContain('There is no check "reward".');
  const json = JSON.parse((await check('--episodes', '12', '--slowest', '100', '--json')).output) as {
    passes: boolean;
  };
  expect(json.passes).toBe(false);
});
