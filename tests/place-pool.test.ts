/** A pool of places that outlives a run's process: what is resumed draws, plays and keeps what would have been. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { chain } from '../bench/methods/environments/chain.ts';
import type { Episode } from '../src/core/episode.ts';
import { keyText } from '../src/core/episode-key.ts';
import { resume, start, train } from '../src/exports/train.ts';
import { trainingShard } from '../src/store/rollouts/shard-names.ts';
import { RunDirectory } from '../src/store/run-directory.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-place-pool-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

/** Half of what is said opens a door, so that returns differ without any skill. */
const world = chain({ doors: 2, turns: 4, words: 2 });
const settings = {
  steps: 5,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 32, steps: 12, batch: 16 },
  rollout: { tasks: 4, group: 4 },
  tasks: { name: 'exit', fresh: 0.3, size: 6, places: 2 },
  evaluation: { every: 0, finalTasks: 4 },
  checkpoint: { every: 1, keep: 9 },
} as const;

async function episodesOf(name: string): Promise<Episode[]> {
  const reader = RunDirectory.openForReading({ root: runs, name, version: '0.1.0' }).readRollouts();
  const episodes: Episode[] = [];
  for (const step of reader.index.steps())
    for await (const { members } of reader.groups(trainingShard(step))) episodes.push(...members);
  return episodes;
}

const told = ({ key, startedAt, calls, transitions, outcome, stop }: Episode) => ({
  ...{ key: keyText(key), startedAt, outcome, stop },
  said: calls.map(({ ids, trainable }) => [[...ids], trainable]),
  done: transitions.map(({ anchor, action }) => [anchor, action]),
});

test('a run that goes on from a checkpoint with a pool is the run that never stopped', {
  timeout: 120_000,
}, async () => {
  await train({ world, recipe: 'rloo', name: 'whole', runs, settings });
  const whole = (await episodesOf('whole')).map(told);
  const begun = whole.filter(({ startedAt }) => startedAt);
  expect(begun.length).toBeGreaterThan(8);
  expect(begun.every(({ stop }) => !stop.startsWith('failed'))).toBe(true);
  for (const at of [3]) {
    const name = `stopped-${at}`;
    const run = await start({ world, recipe: 'rloo', name, runs, settings });
    for await (const event of run.events) if (event.type === 'step' && event.step === at) run.stop();
    await run.finished.catch(() => undefined);
    await (await resume(name, { runs, world })).finished;
    expect((await episodesOf(name)).map(told)).toEqual(whole);
  }
});
