/** Environments as files: each role keeps what it earned, and each hidden task is a task. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { dataCommand } from '../src/cli/commands/data.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import type { Episode } from '../src/core/episode.ts';
import { roleGroups } from '../src/core/trajectory.ts';
import { episodesOfRows } from '../src/data/episodes-of-rows.ts';
import { readRows } from '../src/data/read-rows.ts';
import { rowsOfGroup } from '../src/data/rows-of-episode.ts';
import { taggedText } from '../src/model/chat/renderer.ts';
import { unwatched } from '../src/rollout/watch.ts';
import { EpisodeRecording } from '../src/run/data/recording.ts';
import { createWorld, findEnvironment } from '../src/run/load/environments.ts';
import { demonstrate } from '../src/synth/demonstrations.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-rows-of-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { signal } = new AbortController();

async function turnwise(...line: string[]): Promise<{ code: number; output: string; errors: string }> {
  const console = memoryConsole();
  const code = await runCommandLine(line, {
    ...{ commands: [dataCommand], version: '0.1.0', console, interrupts: noInterrupts },
  });
  return { code, output: console.output(), errors: console.errors().replaceAll('\n', ' ') };
}

const place = (name: string): string => join(folder, name);

async function played(name: string, episodes: number): Promise<readonly Episode[]> {
  const groups = await demonstrate(createWorld(await findEnvironment(name), []), {
    ...{ demonstrations: episodes, beginnerShare: 0.5, randomRate: 0.3, seed: 1, maxTurns: 9 },
    ...{ turnTimeoutMs: 30_000, signal, watch: unwatched },
  });
  return groups.flatMap(({ members }) => members);
}

/** What each role did and earned, turn after turn. */
const trajectoriesOf = (episode: Episode) =>
  roleGroups([{ step: 0, group: 0, members: [episode] }]).map(({ role, members: [one] }) => [
    role,
    one!.outcome,
    one!.turns.map(({ calls, reward }) => [calls.map(({ text }) => text), reward]),
  ]);

test('games of two roles come back from a file as they were played', async () => {
  const reading = { environment: 'tictactoe', role: 'first', write: taggedText };
  for (const episode of await played('tictactoe', 12)) {
    const rows = rowsOfGroup({ step: 0, group: 0, members: [episode] }, { kind: 'run' });
    const again = episodesOfRows(rows, reading).groups.flatMap(({ members }) => members);
    expect(again).toHaveLength(1);
    expect(trajectoriesOf(again[0]!)).toEqual(trajectoriesOf(episode));
    expect(again[0]!.calls.map(({ role }) => role)).toEqual(episode.calls.map(({ role }) => role));
    expect(again[0]!.success).toEqual(episode.success);
  }
});

test('a recording that goes on has both roles of the games that it takes from the file', async () => {
  const world = createWorld(await findEnvironment('tictactoe'), []);
  const [episode] = await played('tictactoe', 1);
  const options = { file: place('recorded.jsonl'), world, by: 'me' };
  new EpisodeRecording(options).keep(episode!, 'sampled');
  const recording = new EpisodeRecording(options);
  const play = recording.playing(async () => Promise.reject(new Error('played again')), 'sampled');
  const { key, task } = episode!;
  const again = await play({ key, task } as Parameters<typeof play>[0], {} as Parameters<typeof play>[1]);
  expect(recording.resumed).toBe(1);
  expect([again.outcome, again.success]).toEqual([episode!.outcome, episode!.success]);
});

test('words that are to be guessed are tasks: rows of each go together', async () => {
  const rows = place('wordle.jsonl');
  await turnwise('data', 'play', 'wordle', '--players', 'random', '--episodes', '40', '--out', rows);
  const words = new Set(readRows(rows).map(({ row }) => JSON.stringify(row.task)));
  expect(words.size).toBeGreaterThan(20);
  const { output } = await turnwise('data', 'stats', rows);
  expect(output).toContain(`40 of ${words.size} different tasks`);
  const [kept, others] = [place('kept.jsonl'), place('others.jsonl')];
  const split = ['data', 'split', rows, '--out', kept, '--held-out', others, '--share', '0.3'];
  expect(await turnwise(...split)).toMatchObject({ code: 0, errors: '' });
  const [here, there] = [kept, others].map((file) => readRows(file).length);
  expect([here! + there!, there! > 4, there! < 25]).toEqual([40, true, true]);
});

test('rows of one task are not divided, and nothing is written', async () => {
  const rows = place('figs.jsonl');
  await turnwise('data', 'play', 'frozen-lake', '--players', 'expert', '--episodes', '1', '--out', rows);
  const [kept, others] = [place('one.jsonl'), place('none.jsonl')];
  const { code, errors } = await turnwise('data', 'split', rows, '--out', kept, '--held-out', others);
  expect(code).toBe(2);
  expect(errors).toContain('those of a task stay together, and all of them are held out');
  expect(errors).toContain('rows: 1, tasks: 1, --share 0.1 --seed 1');
  expect([existsSync(kept), existsSync(others)]).toEqual([false, false]);
});
