/** `turnwise env play`, with the lines that a person types. */

import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runCommandLine } from '../command-line.ts';
import { memoryConsole, noInterrupts } from '../testing-console.test-helper.ts';
import { envCommand } from './env.ts';

const stdin = Object.getOwnPropertyDescriptor(process, 'stdin')!;
// Prompts go to the terminal itself.
beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  Object.defineProperty(process, 'stdin', stdin);
  vi.restoreAllMocks();
});

async function play(typed: readonly string[], ...more: string[]) {
  const input = new PassThrough();
  input.end(typed.map((line) => `${line}\n`).join(''));
  Object.defineProperty(process, 'stdin', { value: input, configurable: true });
  const console = memoryConsole();
  const code = await runCommandLine(['env', 'play', 'frozen-lake', '--set', 'slip=0', ...more], {
    commands: [envCommand],
    version: '0.1.0',
    console,
    interrupts: noInterrupts,
  });
  return { code, output: console.output(), errors: console.errors() };
}

test('a person plays a test task, asks the expert, and is told the end', async () => {
  const { code, output, errors } = await play(Array<string>(30).fill('?'));
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  expect(output).toContain('frozen-lake');
  expect(output).toContain('turn 1 of ');
  expect(output).toMatch(/the expert plays (left|down|right|up)/);
  expect(output).toContain('solved');
  expect(output).not.toContain('not solved');
});

test('options reach the environment, what is no action is a turn, an empty line is none', async () => {
  const { code, output } = await play(['', 'sideways', 'nonsense', 'none'], '--set', 'maxTurns=3');
  expect(code).toBe(0);
  expect(output).toContain('turn 1 of 3');
  expect(output).toContain('turn 3 of 3');
  expect(output).toContain('not solved');
});

test('without more lines the episode is left where it is', async () => {
  const { code, output } = await play([]);
  expect(code).toBe(0);
  expect(output).toContain('turn 1 of ');
  expect(output).not.toContain('solved');
});

test('a misspelt option is refused', async () => {
  const { code, errors } = await play([], '--set', 'slipp=1');
  expect(code).not.toBe(0);
  expect(errors).toContain('slip');
});
