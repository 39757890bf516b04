import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { guessNumber } from '../../../envs/guess-number/index.ts';
import { readRows } from '../../data/read-rows.ts';
import { rowLine, writeRows } from '../../data/write-rows.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import { mixedRows, parsePlayers, playerName, returnStatistics } from './mixed-play.ts';

const world = fromEnvironment(guessNumber({ range: 7, maxTurns: 4, shaping: 0 }));
const { signal } = new AbortController();

test('players are read, and refused', () => {
  const players = parsePlayers('expert, expert~0.3=2,beginner=0.5,random');
  expect(players).toEqual([
    { kind: 'expert', randomRate: 0, share: 1 },
    { kind: 'expert', randomRate: 0.3, share: 2 },
    { kind: 'beginner', randomRate: 0, share: 0.5 },
    { kind: 'random', randomRate: 1, share: 1 },
  ]);
  expect(players.map(playerName)).toEqual(['expert', 'expert~0.3', 'beginner', 'random']);
  for (const wrong of ['', 'master', 'expert~2', 'expert=0', 'expert=x'])
    expect(() => parsePlayers(wrong)).toThrow('There is no such player of a dataset');
});

test('each plays its share, the rows say what it earned, and the same seed gives the same file', async () => {
  const options = { players: parsePlayers('expert,random=2'), episodes: 31, seed: 4, signal };
  const rows = await mixedRows(world, options);
  const figures = returnStatistics(rows);
  expect(figures).toMatchObject({
    episodes: 31,
    byPlayer: { expert: { episodes: 10, mean: 1, success: 1 }, random: { episodes: 21 } },
  });
  expect(figures.mean).toBeLessThan(figures.byPlayer.expert!.mean);
  const won = rows.filter(({ success }) => success).length;
  expect(figures.success).toBeCloseTo(won / 31, 12);
  expect((await mixedRows(world, options)).map(rowLine)).toEqual(rows.map(rowLine));
  expect((await mixedRows(world, { ...options, seed: 5 })).map(rowLine)).not.toEqual(rows.map(rowLine));

  const folder = mkdtempSync(join(tmpdir(), 'turnwise-mixed-'));
  try {
    const file = join(folder, 'mixed.jsonl');
    writeRows(file, rows);
    const read = [...readRows(file)].map(({ row }) => row);
    expect(read).toHaveLength(31);
    // Every episode has a name of its own, also where two players play one task.
    const names = read.map(({ source }) => JSON.stringify([source.by, source.episode]));
    expect(new Set(names).size).toBe(31);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
