import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RunDirectory } from '../store/run-directory.ts';
import { latestRun, runNames, startedRuns } from '../store/runs.ts';
import { runCommandLine } from './command-line.ts';
import { runsCommand } from './commands/runs.ts';
import { trainCommand } from './commands/train.ts';
import { writeExampleRun } from './example-run.test-helper.ts';
import { removeRun } from './remove-run.ts';
import { memoryConsole, noInterrupts } from './testing-console.test-helper.ts';

let root: string;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'turnwise-remove-'));
  await writeExampleRun(root, 'good');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function turnwise(...line: string[]) {
  const console = memoryConsole();
  const commands = [runsCommand, trainCommand];
  const words = [...line, '--runs', root];
  const code = await runCommandLine(words, { commands, version: '0', console, interrupts: noInterrupts });
  return {
    code,
    output: console.output(),
    errors: console.errors().replaceAll('\n', ' ').replaceAll(root, 'runs'),
  };
}

/** A process that was killed before it did anything leaves this behind. */
async function husk(name: string): Promise<void> {
  const common = {
    version: '0',
    world: { name: 'frozen-lake', source: 'frozen-lake' },
    recipe: 'rloo',
    config: {},
  };
  await RunDirectory.create({ root, name, ...common }).close();
  const later = Date.now() / 1000 + 60;
  utimesSync(join(root, name, 'config.json'), later, later);
}

test('a run that never began is not listed, and stands before no good one', async () => {
  await husk('husk');
  expect(runNames(root)).toEqual(['good', 'husk']);
  expect(startedRuns(root)).toEqual(['good']);
  expect(latestRun(root, ({ name }) => name === 'frozen-lake')).toBe('good');
  expect((await turnwise('runs')).output).not.toContain('husk');
  expect((await turnwise('runs', 'rm', 'husk', '--yes')).output).toBe('husk is removed.\n');
});

test('a run that is refused before it begins leaves no folder', async () => {
  const { code, errors } = await turnwise('train', 'frozen-lake', '--name', 'refused', '--set', 'start=gone');
  expect(code).toBe(2);
  expect(errors).toContain('gone');
  expect(readdirSync(root)).toEqual(['good']);
});

test('a run is removed with --yes, whole', async () => {
  expect(await turnwise('runs', 'rm', 'good', '--yes')).toMatchObject({
    code: 0,
    output: 'good is removed.\n',
  });
  expect(readdirSync(root)).toEqual([]);
  expect((await turnwise('runs', 'rm', 'good', '--yes')).errors).toContain('There is no run named "good"');
});

test('nobody to ask, another process at work, or no name: nothing is removed', async () => {
  expect((await turnwise('runs', 'rm', 'good')).errors).toBe(
    'error: Nobody can be asked whether to remove "good". Say so with: turnwise runs rm good --yes --runs runs. (removal-unconfirmed) ',
  );
  const writing = RunDirectory.openForWriting({ root, name: 'good', version: '0' });
  expect((await turnwise('runs', 'rm', 'good', '--yes')).errors).toContain('(run-busy)');
  await writing.close();
  expect((await turnwise('runs', 'rm', '--yes')).errors).toContain('turnwise runs rm needs a run');
  expect(existsSync(join(root, 'good', 'events.jsonl'))).toBe(true);
});

test.each([
  ['y', false],
  ['Yes ', false],
  ['', true],
  ['n', true],
  [undefined, true],
])('asked, %j leaves the run: %s', async (answer, kept) => {
  const console = memoryConsole({ interactive: true });
  const asked: string[] = [];
  const ask = async (prompt: string) => {
    asked.push(prompt);
    return answer;
  };
  const run = RunDirectory.openForReading({ root, name: 'good', version: '0' });
  await removeRun(run, { root, yes: false }, console, () => ({ ask, close: () => undefined }));
  expect(asked).toEqual(['Remove good (4 steps, finished) for good? [y/N] ']);
  expect(runNames(root)).toEqual(kept ? ['good'] : []);
});
