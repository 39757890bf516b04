/** `turnwise rescore`: another reward over stored episodes, and nothing sampled. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Episode } from '../../core/episode.ts';
import { train } from '../../exports/train.ts';
import type { Rescored, ScoreSummary } from '../../run/reward/rescore.ts';
import { readEpisodeFile } from '../../store/rollouts/read-episodes.ts';
import { runCommandLine } from '../command-line.ts';
import { memoryConsole, noInterrupts } from '../testing-console.test-helper.ts';
import { rescoreCommand } from './rescore.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-rescore-'));
const shardPath = join(runs, 'lake', 'rollouts', '1.jsonl.gz');
let played: Episode[] = [];
afterAll(() => rmSync(runs, { recursive: true, force: true }));
beforeAll(async () => {
  await train({
    world: 'frozen-lake',
    recipe: 'rloo',
    name: 'lake',
    runs,
    settings: {
      seed: 4,
      steps: 1,
      threads: 1,
      model: { width: 8, layers: 1, heads: 1, hidden: 8 },
      clone: { demonstrations: 48, steps: 60, batch: 16, learningRate: 2e-2 },
      rollout: { tasks: 4, group: 8 },
      evaluation: { every: 0, finalTasks: 2 },
    },
  });
  played = readEpisodeFile(shardPath)!.groups.flatMap(({ members }) => members);
  expect(new Set(played.map(({ success }) => success.agent)).size).toBe(2);
}, 60_000);

let files = 0;
const rescore = (code: string, ...words: string[]) => rescoreIn('lake', code, ...words);
async function rescoreIn(run: string, code: string, ...words: string[]) {
  const file = join(runs, `reward-${files++}.mjs`);
  writeFileSync(file, code);
  const console = memoryConsole();
  const exit = await runCommandLine(['rescore', run, '--reward', file, ...words, '--runs', runs], {
    commands: [rescoreCommand],
    version: JSON.parse(readFileSync('package.json', 'utf8')).version,
    console,
    interrupts: noInterrupts,
  });
  return { exit, output: console.output(), errors: console.errors() };
}
const summaries = (output: string): (ScoreSummary & { place: string })[] =>
  output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ScoreSummary & { place: string });

test('each stored step has the scores of the file beside what was earned', async () => {
  const before = readFileSync(shardPath);
  const out = join(runs, 'scores.jsonl');
  const code = 'export const score = ({ success, calls }) => (success.agent ? 3 : 1) - calls.length / 100;';
  const { output, exit } = await rescore(code, '--at', '1', '--out', out, '--json');
  expect(exit).toBe(0);
  const [step, all] = summaries(output);
  expect(step).toEqual({ ...all, place: '1' });
  const expected = played.map(({ success, calls }) => (success.agent ? 3 : 1) - calls.length / 100);
  const wins = expected.filter((score) => score > 2);
  expect(step).toMatchObject({ episodes: 32, scored: 32, failed: 0, sameOrder: 1 });
  expect(step!.score).toBeCloseTo(expected.reduce((sum, one) => sum + one) / 32, 12);
  expect(step!.ofSuccesses).toBeCloseTo(wins.reduce((sum, one) => sum + one) / wins.length, 12);
  const lines = readFileSync(out, 'utf8').trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as Rescored).score)).toEqual(expected);
  expect(readFileSync(shardPath)).toEqual(before);
});

test('a score of the whole group, and one that turns the order around', async () => {
  const code = 'export const scoreGroup = (all) => all.map(({ outcome }) => -outcome.agent);';
  const [step] = summaries((await rescore(code, '--at', '1', '--json')).output);
  expect(step!.sameOrder).toBe(0);
  const blind = await rescore('export const score = () => 1;', '--at', '1', '--json');
  expect(summaries(blind.output)[0]!.sameOrder).toBe(0.5);
});

test('all that is stored, in words', async () => {
  const { output } = await rescore('export const score = ({ success }) => Number(success.agent);');
  const lines = output.trim().split('\n');
  expect(lines[0]!.trim().split(/\s{2,}|(?<=\w) (?=[a-z])/)[0]).toBe('episodes');
  expect(lines.map((line) => line.split(' ')[0])).toContain('evaluation-1');
  expect(lines.at(-1)).toMatch(/^all /);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
});

test('a score that fails scores nothing: it is no label', async () => {
  const code = 'export const score = () => { throw new Error("no such field"); };';
  const { output, errors } = await rescore(code, '--at', '1', '--json');
  expect(summaries(output)[0]).toMatchObject({ episodes: 32, scored: 0, failed: 32 });
  expect(summaries(output)[0]).not.toHaveProperty('score');
  expect(errors).toContain('no such field');
  const never = await rescore(
    'export const score = () => new Promise(() => {});',
    '--at',
    '1',
    '--timeout-ms',
    '20',
    '--json',
  );
  expect(summaries(never.output)[0]).toMatchObject({ scored: 0, failed: 32 });
});

test('an episode of several roles counts once', async () => {
  await train({
    ...{ world: 'kuhn-poker', recipe: 'rloo', name: 'game', runs },
    settings: {
      ...{ seed: 4, steps: 1, threads: 1 },
      model: { width: 8, layers: 1, heads: 1, hidden: 8 },
      clone: { demonstrations: 16, steps: 2, batch: 8 },
      rollout: { tasks: 2, group: 6 },
      evaluation: { every: 0, finalTasks: 2 },
    },
  });
  const counted = async (code: string) => {
    const [before, step, after, all] = summaries((await rescoreIn('game', code, '--json')).output);
    // Before and after: 2 tasks, sampled and greedy.
    expect([before!.episodes, after!.episodes, all!.episodes]).toEqual([4, 4, 20]);
    return step;
  };
  const both = 'export const score = ({ outcome }) => outcome;';
  expect(await counted(both)).toMatchObject({ episodes: 12, scored: 12, failed: 0, sameOrder: 1 });
  const one = 'export const score = ({ outcome: { first } }) => (first > 0 ? { first } : undefined);';
  const wins = readEpisodeFile(join(runs, 'game', 'rollouts', '1.jsonl.gz'))!
    .groups.flatMap(({ members }) => members)
    .filter(({ outcome }) => outcome.first! > 0).length;
  expect(await counted(one)).toMatchObject({ episodes: 12, scored: wins, failed: 0 });
  const number = 'export const score = () => 1;';
  expect(await counted(number)).toMatchObject({ episodes: 12, scored: 0, failed: 12 });
});

test('episodes without a score, and files and steps that there are not', async () => {
  const some = await rescore(
    'export const score = ({ success }) => (success.agent ? 1 : undefined);',
    '--at',
    '1',
    '--json',
  );
  const wins = played.filter(({ success }) => success.agent).length;
  expect(summaries(some.output)[0]).toMatchObject({ scored: wins, failed: 0 });
  expect((await rescore('export const other = 1;')).errors).toContain('file-unusable');
  expect((await rescore('export const score = () => 1;', '--at', '7')).errors).toMatch(
    /evaluation-1.*option-value/s,
  );
});
