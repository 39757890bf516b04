/** A run that learns from the episodes of another one keeps them apart from its own. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { chain } from '../bench/methods/environments/chain.ts';
import type { Episode, Group } from '../src/core/episode.ts';
import { keyText } from '../src/core/episode-key.ts';
import { chainOf } from '../src/core/trajectory.ts';
import { writeRows } from '../src/data/write-rows.ts';
import { fromEnvironment } from '../src/env/from-environment.ts';
import { resume, start, train } from '../src/exports/train.ts';
import { mixedRows, parsePlayers } from '../src/run/data/mixed-play.ts';
import { readEvents } from '../src/store/log-lines.ts';
import { recordedShard, trainingShard } from '../src/store/rollouts/shard-names.ts';
import { RunDirectory } from '../src/store/run-directory.ts';
import type { TrainSettings } from '../src/train/config/config.ts';
import { readBy } from '../src/train/config/run-schema.ts';
import { findRecipe } from '../src/train/recipes/recipes.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-recorded-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

const environment = chain({ doors: 2, turns: 3, words: 2 });

const settings: TrainSettings = {
  seed: 2,
  steps: 3,
  threads: 1,
  model: { width: 8, layers: 1, heads: 1, hidden: 8 },
  clone: { demonstrations: 16, steps: 4, batch: 8, randomRate: 1 },
  rollout: { tasks: 2, group: 4 },
  replay: { batch: 8 },
  evaluation: { every: 0, finalTasks: 1 },
  checkpoint: { every: 1 },
  rolloutLog: 1,
};

const readerOf = (name: string) =>
  RunDirectory.openForReading({ root: runs, name, version: '0.1.0' }).readRollouts();

async function groupsIn(name: string, shards: readonly number[]): Promise<Group[]> {
  const groups: Group[] = [];
  for (const shard of shards) for await (const group of readerOf(name).groups(shard)) groups.push(group);
  return groups;
}

const textsOf = (group: Group, episode: Episode): string =>
  chainOf(group, episode)
    .calls.map(({ text }) => text)
    .join(' ');

function historyOf(name: string): string[] {
  return readEvents(join(runs, name, 'events.jsonl'))
    .filter(({ type }) => type === 'step')
    .map((event) =>
      JSON.stringify(event, (key, value) =>
        /^(time$|seconds$|time\/|speed\/|loop\/)/.test(key) ? undefined : (value as unknown),
      ),
    );
}

test('sft-rl with data=RUN: recorded episodes have keys of step 0, whole branches and no credit', async () => {
  // Trees, so that there are branches whose prefix is another episode's.
  await train({
    world: environment,
    recipe: 'tree-grpo',
    name: 'source',
    runs,
    settings: readBy(findRecipe('tree-grpo'), settings),
  });
  const steps = [1, 2, 3].map(trainingShard);
  const source = await groupsIn('source', steps);
  expect(source.flatMap(({ members }) => members).some(({ branchedFrom }) => branchedFrom)).toBe(true);

  const mixed = { ...settings, data: 'source' };
  await train({
    world: environment,
    recipe: 'sft-rl',
    name: 'mixed',
    runs,
    settings: readBy(findRecipe('sft-rl'), mixed),
  });
  const recorded = await groupsIn('mixed', [recordedShard]);
  const own = await groupsIn('mixed', steps);
  const keysOf = (groups: readonly Group[]) =>
    groups.flatMap(({ members }) => members.map(({ key }) => keyText(key)));
  const all = [...keysOf(recorded), ...keysOf(own)];
  expect(new Set(all).size).toBe(all.length);
  for (const { step, members } of recorded) {
    expect(step).toBe(0);
    for (const { key, credit, branchedFrom } of members) {
      expect([key.step, credit, branchedFrom]).toEqual([0, undefined, undefined]);
    }
  }
  expect(own.map(({ step }) => step)).toEqual([1, 1, 2, 2, 3, 3]);
  const wordsOf = (groups: readonly Group[]) =>
    groups.flatMap((group) => group.members.map((episode) => textsOf(group, episode)));
  expect(wordsOf(recorded)).toEqual(wordsOf(source));
  // Every token that a call goes on from is there.
  for (const group of recorded) {
    for (const { calls } of group.members) {
      const ids = new Set(calls.map(({ id }) => id));
      for (const { parent } of calls) expect(parent === undefined || ids.has(parent)).toBe(true);
    }
  }
  // A key finds the episode that it names, and not another one's.
  const keys = recorded.flatMap(({ members }) => members.map(({ key }) => key));
  expect(await readerOf('mixed').read(keys)).toEqual(recorded);

  // A run that goes on reads them where they are stored.
  const stopped = await start({
    world: environment,
    recipe: 'sft-rl',
    name: 'stopped',
    runs,
    settings: readBy(findRecipe('sft-rl'), mixed),
    sinks: [
      {
        event: (event) => {
          if (event.type === 'step' && event.step === 2) stopped.stop();
        },
      },
    ],
  });
  await expect(stopped.finished).rejects.toThrow('asked to stop');
  await (await resume('stopped', { world: environment, runs })).finished;
  expect(historyOf('stopped')).toEqual(historyOf('mixed'));
});

test('a recipe that learns from recorded episodes alone begins by imitating them, and not the scripts', async () => {
  const narrow = chain({ doors: 3, turns: 3, words: 3 });
  const { signal } = new AbortController();
  const players = parsePlayers('expert');
  const rows = await mixedRows(fromEnvironment(narrow), { players, episodes: 32, seed: 1, signal });
  const lost = rows.map((row) => ({ ...row, success: false }));
  // Scripts play at random here, and reach the end once in 27 episodes.
  for (const [name, taught, clone] of [
    ['won', rows, {}],
    ['all', lost, { from: 'all' }],
    ['lost', lost, {}],
  ] as const) {
    const data = join(runs, `${name}.jsonl`);
    writeRows(data, taught);
    const { before } = await train({
      world: narrow,
      recipe: 'kto',
      name,
      runs,
      settings: readBy(findRecipe('kto'), {
        ...settings,
        data,
        steps: 1,
        clone: { ...settings.clone, ...clone, steps: 100, learningRate: 0.02, warmupSteps: 5 },
        evaluation: { every: 0, finalTasks: 8 },
      }),
    });
    expect([name, before.sampled.success > 0.5]).toEqual([name, true]);
  }
});
