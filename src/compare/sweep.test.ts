/** Which jobs a sweep runs, by what is on disk. */

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeExampleRun } from '../cli/example-run.test-helper.ts';
import type { TrainConfig } from '../train/config/config.ts';
import { planOf } from './forecast.ts';
import type { Job } from './jobs.ts';
import { runSweep } from './sweep.ts';

let store: string;
beforeEach(() => {
  store = mkdtempSync(join(tmpdir(), 'sweep-'));
});
afterEach(() => rmSync(store, { recursive: true }));

const common = { world: 'frozen-lake', arm: 'rloo', recipe: 'rloo', seed: 1, config: {} as TrainConfig };
const start: Job = { ...common, name: 'lake-start', kind: 'start', words: ['train', 'lake-start'] };
const run: Job = {
  ...common,
  name: 'lake-run',
  kind: 'run',
  words: ['train', 'lake-run'],
  after: 'lake-start',
};

/** @returns the names of the runs that were begun, in order */
async function begun(jobs: readonly Job[]): Promise<readonly string[]> {
  const names: string[] = [];
  const children = {
    run: async (words: () => readonly string[]) => {
      names.push(words().join(' '));
      return undefined;
    },
    stop: () => {},
    kill: () => {},
  };
  await runSweep({ jobs, store, parallel: 1, children, onChange: () => {}, stopRequested: () => false });
  return names;
}

test('a warm start that is on disk is not made again', async () => {
  await writeExampleRun(store, 'lake-start');
  mkdirSync(join(store, 'lake-start', 'checkpoints', '0'), { recursive: true });
  expect(await begun([start, run])).toEqual(['train lake-run']);
});

test('one whose checkpoint was removed is made again, for runs that still wait for it', async () => {
  await writeExampleRun(store, 'lake-start');
  expect(await begun([start, run])).toEqual(['train lake-start', 'train lake-run']);
});

test('a plan counts it among the runs that are left, and knows how long it took', async () => {
  await writeExampleRun(store, 'lake-start');
  const { cached, rows, hours } = planOf({ store }, [start, run], 1);
  expect(cached).toBe(0);
  expect(rows.map(({ runs, cached, secondsEach }) => [runs, cached, secondsEach !== null])).toEqual([
    [1, 0, true],
    [1, 0, false],
  ]);
  expect(hours).toBeNull();
});

test('and is left as it is when all its runs are there', async () => {
  await writeExampleRun(store, 'lake-start');
  await writeExampleRun(store, 'lake-run');
  expect(await begun([start, run])).toEqual([]);
});
