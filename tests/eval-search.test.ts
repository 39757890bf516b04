/** `turnwise eval --search`: a trained run is measured with search, and what it took of the environment is told. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { evalCommand } from '../src/cli/commands/eval.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import type { EvaluationResult } from '../src/eval/evaluate.ts';
import { train } from '../src/exports/train.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-eval-search-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

const tiny = {
  steps: 1,
  threads: 1,
  model: { width: 8, layers: 1, heads: 1, hidden: 8 },
  clone: { demonstrations: 24, steps: 8, batch: 8 },
  rollout: { tasks: 2, group: 2, maxTurns: 6 },
  evaluation: { every: 0, finalTasks: 2 },
};

beforeAll(async () => {
  await train({ world: 'frozen-lake', recipe: 'ppo', name: 'critic', runs, settings: tiny });
  await train({ world: 'frozen-lake', recipe: 'rloo', name: 'plain', runs, settings: tiny });
  await train({
    world: 'kuhn-poker',
    name: 'two',
    runs,
    settings: { ...tiny, rollout: { tasks: 2, group: 2 } },
  });
}, 120_000);

async function evaluated(...words: readonly string[]) {
  const console = memoryConsole({ columns: 100 });
  const code = await runCommandLine(['eval', ...words, '--runs', runs, '--tasks', '5'], {
    commands: [evalCommand],
    version: '0.1.0',
    console,
    interrupts: noInterrupts,
  });
  return { code, output: console.output(), errors: console.errors() };
}

interface Told {
  readonly sampled: EvaluationResult;
  readonly searched: EvaluationResult;
  readonly search: object;
}

/** What the last line says; those before it tell of progress. */
const told = (output: string): Told => JSON.parse(output.trim().split('\n').at(-1)!) as Told;

test('best of turns tries so many actions in every turn, by the critic where there is one', async () => {
  const { output } = await evaluated('critic', '--search', 'best-of-turns', '--width', '3', '--json');
  const { sampled, searched, search } = told(output);
  expect(search).toEqual({ name: 'best-of-turns', choice: 'rewards and critic', width: 3 });
  expect(searched.searched).toBeCloseTo(3 * searched.turns, 6);
  expect([searched.episodes, sampled.searched]).toEqual([5, undefined]);
  const plain = await evaluated('plain', '--search', 'best-of-turns');
  expect(plain.output.replaceAll(/\s+/g, ' ')).toMatch(/steps played/);
  expect(plain.output.replaceAll(/\s+/g, ' ')).toMatch(
    /searched: best-of-turns, width 4; .* rewards so far, since the recipe has no critic\./,
  );
});

test.each(['best-of', 'mcts'])('%s plays so many episodes, and the best counts', async (name) => {
  const { output } = await evaluated('plain', '--search', name, '--episodes', '6', '--json');
  const { sampled, searched, search } = told(output);
  expect(search).toMatchObject({ name, choice: 'outcomes', episodes: 6 });
  expect(searched.success).toBeGreaterThanOrEqual(sampled.success);
  expect(searched.searched).toBeGreaterThan(searched.turns);
});

test.each<readonly [string, readonly string[], RegExp]>([
  ['a size without a search', ['plain', '--width', '3'], /--width is the size of a search.*Add --search/],
  ['a size that it does not read', ['plain', '--search', 'best-of', '--width', '3'], /does not read --width/],
  [
    'episodes that are kept',
    ['plain', '--search', 'best-of', '--record', 'a.jsonl'],
    /a search counts one of many/,
  ],
  ['two roles', ['two', '--search', 'best-of'], /rewards of one role/],
  ['another name', ['plain', '--search', 'beam'], /best-of-turns, best-of, mcts/],
])('refused: %s', async (_, words, reason) => {
  const { code, errors } = await evaluated(...words);
  expect(code).toBe(2);
  expect(errors.replaceAll(/\s+/g, ' ')).toMatch(reason);
});
