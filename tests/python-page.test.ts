/** The commands of docs/python-environments.md run as they stand there, with a smaller model, where Python has their packages. */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { envCommand } from '../src/cli/commands/env.ts';
import { envsCommand } from '../src/cli/commands/envs.ts';
import { trainCommand } from '../src/cli/commands/train.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import { hasPython, type PythonServer, runs, startPythonServer } from './python-server.ts';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const SERVE = 'python3 node_modules/turnwise/python/serve.py ';
const TURNWISE = 'npx turnwise ';
const PIP = 'pip install ';

/** The page's parts that have commands, by their headings. */
const parts = new Map(
  read('docs/python-environments.md')
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const blocks = [...part.matchAll(/```(sh|python)\n(.*?)```/gs)];
      const code = (language: string) =>
        blocks.filter(([, one]) => one === language).map(([, , text]) => text!);
      const lines = code('sh').flatMap((text) => text.trim().split('\n'));
      return [part.slice(0, part.indexOf('\n')), { lines, files: code('python') }] as const;
    })
    .filter(([, { lines }]) => lines.length > 0),
);
/** What Python must be able to do for a part. */
const needs: Readonly<Record<string, string>> = {
  Gymnasium: 'import gymnasium',
  TextArena: 'import textarena',
  verifiers: 'import datasets; from verifiers import load_environment',
  'Your own environment': 'import sys; assert sys.version_info >= (3, 9)',
};
const available = new Map(Object.entries(needs).map(([part, code]) => [part, hasPython && runs(code)]));

const folder = mkdtempSync(join(tmpdir(), 'turnwise-python-page-'));
beforeAll(() => {
  const parity = new URL('hf-parity/', import.meta.url).pathname;
  cpSync(join(parity, 'qwen3', 'bf16'), join(folder, 'checkpoint'), { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    cpSync(join(parity, 'tokenizer-qwen', file), join(folder, 'checkpoint', file));
  for (const file of [...parts.values()].flatMap(({ files }) => files))
    writeFileSync(join(folder, /^# (\w+\.py)/.exec(file)![1]!), file);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const small = {
  threads: 1,
  'rollout.tasks': 2,
  'rollout.group': 2,
  'rollout.maxTurns': 6,
  'clone.steps': 2,
  'clone.demonstrations': 8,
  'clone.batch': 4,
  'evaluation.every': 0,
  'evaluation.finalTasks': 2,
};
const untrained = { 'model.width': 16, 'model.layers': 1, 'model.heads': 2, 'model.hidden': 16 };
// Random weights neither imitate nor say much.
const pretrained = {
  'rollout.maxTurns': 2,
  'clone.steps': 0,
  'chat.maxTurnTokens': 4,
  'chat.contextLength': 512,
  'lora.rank': 4,
};

/** A line of the page, with this address and fewer episodes. */
function wordsOf(line: string, http: string): string[] {
  const words = line
    .slice(TURNWISE.length)
    .replace('http://127.0.0.1:8700', http)
    .replace('./checkpoint', join(folder, 'checkpoint'))
    .split(' ');
  if (words[0] === 'env') return [...words, '--slowest', '1000', '--episodes', '12'];
  if (words[0] !== 'train') return words;
  const settings = { ...small, ...(line.includes('--model') ? pretrained : untrained) };
  const set = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  return [...words, '--runs', join(folder, 'runs'), ...set];
}

async function turnwise(words: readonly string[]): Promise<string> {
  const console = memoryConsole();
  const commands = [envsCommand, envCommand, trainCommand];
  const options = { commands, version: '0.1.0', console, interrupts: noInterrupts };
  const code = await runCommandLine(words, options);
  expect(code, `${words.join(' ')}\n${console.output()}${console.errors()}`).toBe(0);
  return console.output();
}

const servedIn = (part: string): Promise<PythonServer> => {
  const line = parts.get(part)!.lines.find((one) => one.startsWith(SERVE))!;
  return startPythonServer(line.slice(SERVE.length).split(' '), { folder });
};

test('every part of the page is known here, with its server and its commands', () => {
  expect([...parts.keys()]).toEqual(Object.keys(needs));
  for (const [part, { lines }] of parts) {
    expect(
      lines.filter((line) => line.startsWith(SERVE)),
      part,
    ).toHaveLength(1);
    expect(
      lines.filter((line) => line.startsWith(`${TURNWISE}train `)),
      part,
    ).toHaveLength(1);
    for (const line of lines)
      expect(
        [SERVE, TURNWISE, PIP].some((start) => line.startsWith(start)),
        line,
      ).toBe(true);
  }
});

describe.each([...parts.keys()])('%s', (part) => {
  const left = available.get(part) ? '' : ` (left out: no Python for "${needs[part]}")`;
  test.skipIf(left !== '')(`its commands run${left}`, { timeout: 120_000 }, async () => {
    const server = await servedIn(part);
    try {
      for (const line of parts.get(part)!.lines.filter((one) => one.startsWith(TURNWISE))) {
        const output = await turnwise(wordsOf(line, server.http));
        if (line.startsWith(`${TURNWISE}train`)) {
          expect(output).not.toContain('failed:');
          expect(output).toContain('turnwise eval');
        }
      }
    } finally {
      await server.stop();
    }
  });
});
