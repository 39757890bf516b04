/** `turnwise replay`: an episode is what it was, and goes on from any turn. */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { train } from '../../exports/train.ts';
import { readEpisodeFile } from '../../store/rollouts/read-episodes.ts';
import type { PlayEvent } from '../../view/play/messages.ts';
import { runCommandLine } from '../command-line.ts';
import { memoryConsole, noInterrupts } from '../testing-console.test-helper.ts';
import { replayCommand } from './replay.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-replay-'));
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
      clone: { demonstrations: 24, steps: 12, batch: 8, learningRate: 2e-2 },
      rollout: { tasks: 2, group: 2 },
      evaluation: { every: 0, finalTasks: 2 },
    },
  });
}, 60_000);

const replay = (...words: string[]) => replayIn('lake', ...words);

async function replayIn(
  run: string,
  ...words: string[]
): Promise<{ code: number; output: string; errors: string }> {
  const console = memoryConsole();
  const code = await runCommandLine(['replay', run, ...words, '--runs', runs], {
    commands: [replayCommand],
    version: JSON.parse(readFileSync('package.json', 'utf8')).version,
    console,
    interrupts: noInterrupts,
  });
  return { code, output: console.output(), errors: console.errors() };
}

const eventsOf = (output: string): PlayEvent[] =>
  output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PlayEvent);

const stored = () => readEpisodeFile(join(runs, 'lake', 'rollouts', '1.jsonl.gz'))!.groups[1]!.members[1]!;

test('an episode is played again, word for word', async () => {
  const { output } = await replay('1/1/1', '--json');
  const events = eventsOf(output);
  const { calls, stop, success } = stored();
  const turns = events.filter((event) => event.kind === 'turn');
  expect(turns.map(({ text }) => text)).toEqual(calls.map(({ text }) => text));
  expect(turns.every(({ by }) => by === 'record')).toBe(true);
  expect(events.at(-1)).toMatchObject({ kind: 'end', stop, success });

  const { output: words } = await replay('1/1/1');
  expect(words).toContain('turn 1');
  expect(words).toContain('as recorded');
  expect(words).toContain(`record  ${success.agent ? '✓ solved' : '✗ not solved'}  ${stop}`);
});

test('it goes on from a turn, and another attempt draws otherwise', async () => {
  const after = async (attempt: number): Promise<string[]> => {
    const { output } = await replay('1/1/1', '--to', '1', '--json', '--attempt', String(attempt));
    const turns = eventsOf(output).filter((event) => event.kind === 'turn');
    expect(turns[0]!.by).toBe('record');
    expect(turns.slice(1).every(({ by }) => by === 'policy')).toBe(true);
    return turns.map(({ text }) => text);
  };
  const attempts = [await after(1), await after(1), await after(2), await after(3)];
  expect(attempts[1]).toEqual(attempts[0]);
  expect(new Set(attempts.map((texts) => texts.join(' '))).size).toBeGreaterThan(1);
  expect((await replay('1/1/1', '--to', '1')).output).toMatch(/now {5}.*\n {2}record {2}/);
});

test('a script or a model goes on in the place of the checkpoint', async () => {
  const { code, output } = await replay('1/1/1', '--to', '1', '--policy', 'script:expert', '--json');
  expect(code).toBe(0);
  expect(eventsOf(output).at(-1)).toMatchObject({ kind: 'end', stop: 'done', success: { agent: true } });
  const words = (await replay('1/1/1', '--to', '1', '--policy', 'script:expert')).output;
  expect(words).toMatch(/as recorded[\s\S]*script:expert[\s\S]*now {5}✓ solved/);
  expect(words).not.toContain('the checkpoint');
  // Another run is a player too, and nobody plays where nothing is left to play.
  const other = eventsOf((await replay('1/1/1', '--to', '1', '--policy', 'lake@1', '--json')).output);
  expect(other.at(-1)!.kind).toBe('end');
  expect(
    eventsOf((await replay('1/1/1', '--policy', 'script:expert', '--json')).output).at(-1)!,
  ).toMatchObject({
    stop: stored().stop,
  });
});

test('who goes on is somebody that there is', async () => {
  const refused = async (policy: string) => (await replay('1/1/1', '--to', '1', '--policy', policy)).errors;
  expect(await refused('past:3')).toContain('Nobody of this name goes on with an episode');
  expect(await refused('script:nobody')).toContain('script:expert|beginner|random');
  expect(await refused('no-such-run')).toContain('no-such-run');
  expect((await replay('1/1/1', '--policy', 'past:3')).errors).toContain('Nobody of this name');
});

test('another player plays on in its role, under its name', async () => {
  await train({
    ...{ world: 'kuhn-poker', recipe: 'rloo', name: 'game', runs },
    settings: {
      ...{ seed: 4, steps: 1, threads: 1 },
      model: { width: 8, layers: 1, heads: 1, hidden: 8 },
      clone: { demonstrations: 16, steps: 2, batch: 8 },
      rollout: { tasks: 2, group: 2, choices: true },
      evaluation: { every: 0, finalTasks: 2 },
      ...{ players: { rival: 'script:random' }, seats: { second: 'rival' } },
    },
  });
  const writers = async (...words: string[]) => {
    const { output } = await replayIn('game', '1/0/0', '--to', '0', ...words);
    return output.split('\n').flatMap((line) => /^ {2}› \S+ {2}(.+)$/.exec(line)?.[1] ?? []);
  };
  expect((await writers()).slice(0, 2)).toEqual(['the checkpoint', 'rival']);
  expect((await writers('--policy', 'script:expert')).slice(0, 2)).toEqual(['script:expert', 'rival']);
});

test('an episode of an evaluation is found by its file', async () => {
  const { code, output } = await replay('evaluation-1/0/0', '--label', 'greedy', '--json');
  expect(code).toBe(0);
  expect(eventsOf(output).at(-1)!.kind).toBe('end');
});

test('what is not there is named', async () => {
  expect(await replay('first')).toMatchObject({
    code: 2,
    errors: expect.stringContaining('STEP/GROUP/MEMBER'),
  });
  expect(await replay('1/9/0')).toMatchObject({
    code: 1,
    errors: expect.stringContaining('episode-unknown'),
  });
  expect(await replay('1/1/9')).toMatchObject({ code: 1, errors: expect.stringContaining('member 9') });
});

test('a replay that ends otherwise says so, and why', async () => {
  // As if the environment had changed since.
  cpSync(join(runs, 'lake'), join(runs, 'changed'), { recursive: true });
  const path = join(runs, 'changed', 'config.json');
  const file = JSON.parse(readFileSync(path, 'utf8')) as { config: { environment: object } };
  file.config.environment = { ...file.config.environment, slip: 1 };
  writeFileSync(path, JSON.stringify(file));
  const longest = readEpisodeFile(join(runs, 'lake', 'rollouts', '1.jsonl.gz'))!
    .groups.flatMap(({ members }) => members)
    .sort((a, b) => b.transitions.length - a.transitions.length)[0]!;
  const { group, member } = longest.key;
  const { code, output } = await replayIn('changed', `1/${group}/${member}`);
  expect(code).toBe(0);
  expect(output).toContain('This environment is not the one that was recorded');
  expect(output).toContain('did not end as it was recorded: another stop');
  expect(output).toMatch(/now {5}✗ not solved {2}failed:policy[\s\S]*record {2}/);
});
