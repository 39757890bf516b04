/** A run that learns from the episodes of another one keeps them apart from its own. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
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

const eventsOf = (name: string) => readEvents(join(runs, name, 'events.jsonl'));
const dataOf = (name: string) => eventsOf(name).find(({ type }) => type === 'data');

function historyOf(name: string): string[] {
  return eventsOf(name)
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

  const mixed = { ...settings, data: 'source', clone: { ...settings.clone, from: 'all' as const } };
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
  // What the other run sampled, it sampled with these very ids.
  const idsOf = (groups: readonly Group[]) =>
    groups.flatMap((group) =>
      group.members.map((episode) => chainOf(group, episode).calls.map(({ ids }) => ids)),
    );
  expect(idsOf(recorded)).toEqual(idsOf(source));
  const episodes = recorded.flatMap(({ members }) => members).length;
  expect(dataOf('mixed')).toMatchObject({ episodes, exact: episodes, leftOut: {} });
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

const teach = (recipe: string, name: string, more: TrainSettings, world = environment) =>
  train({ world, recipe, name, runs, settings: readBy(findRecipe(recipe), { ...settings, ...more }) });

test('a run with other words reads what was said, and not what its ids were chosen among', async () => {
  await teach('rloo', 'restricted', { rollout: { ...settings.rollout, choices: true } });
  const restricted = await groupsIn('restricted', [1, 2, 3].map(trainingShard));
  const callsOf = (groups: readonly Group[]) =>
    groups.flatMap(({ members }) => members.flatMap((one) => one.calls));
  expect(callsOf(restricted).every(({ choices }) => choices !== undefined)).toBe(true);
  // The same words stay what they were chosen among.
  await teach('awr', 'same-words', { data: 'restricted', steps: 1 });
  expect(callsOf(await groupsIn('same-words', [recordedShard])).some(({ choices }) => choices)).toBe(true);
  const wider = chain({ doors: 2, turns: 3, words: 3 });
  await teach('awr', 'other-words', { data: 'restricted', steps: 1 }, wider);
  expect(dataOf('other-words')).toMatchObject({ episodes: 24, exact: 0 });
  expect(callsOf(await groupsIn('other-words', [recordedShard])).some(({ choices }) => choices)).toBe(false);
});

describe('what is imitated beside reinforcement', () => {
  const rowsOf = async () => {
    const { signal } = new AbortController();
    const players = parsePlayers('expert');
    return mixedRows(fromEnvironment(environment), { players, episodes: 8, seed: 1, signal });
  };

  test('is what succeeded', async () => {
    const rows = await rowsOf();
    const data = join(runs, 'half.jsonl');
    writeRows(
      data,
      rows.map((row, index) => ({ ...row, success: index % 2 === 0 })),
    );
    await teach('sft-rl', 'half', { data, steps: 1 });
    expect(dataOf('half')).toMatchObject({ episodes: 8, successful: 4 });
    const recorded = (await groupsIn('half', [recordedShard])).flatMap(({ members }) => members);
    expect(recorded.map(({ success }) => success.agent)).toEqual([true, true, true, true]);
  });

  test('is nothing where nobody succeeded', async () => {
    const data = join(runs, 'failed.jsonl');
    writeRows(
      data,
      (await rowsOf()).map((row) => ({ ...row, success: false })),
    );
    await expect(teach('sft-rl', 'failed', { data, steps: 1 })).rejects.toThrow(
      `No episode of ${data} succeeded, and only those that did are imitated`,
    );
  });
});

test.each(['sft', 'sft-rl'])(
  '%s shows the random moves of scripts, and does not imitate them',
  async (recipe) => {
    const clone = { ...settings.clone, beginnerShare: 0, randomRate: 0.5, imitateRandom: false };
    await teach(recipe, `${recipe}-expert`, { steps: 1, clone });
    const recorded = await groupsIn(`${recipe}-expert`, [recordedShard]);
    const calls = recorded.flatMap(({ members }) => members.flatMap((one) => one.calls));
    const marks = new Set(calls.map(({ by, trainable }) => `${by.name} ${trainable}`));
    expect([...marks].sort()).toEqual(['expert true', 'random left-out']);
  },
);

test('null in a row says nothing', async () => {
  const said = {
    messages: [
      { role: 'user', content: 'door:0' },
      { role: 'assistant', content: 'red' },
    ],
    source: { kind: 'file', environment: null, role: null, split: null, stop: null },
  };
  const data = join(runs, 'null.jsonl');
  writeFileSync(data, `${JSON.stringify(said)}\n`);
  await teach('sft', 'null', { data, steps: 1 });
  expect(dataOf('null')).toMatchObject({ episodes: 1, leftOut: {} });
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
