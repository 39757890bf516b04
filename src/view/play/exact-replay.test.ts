/** Whatever a step was played with, its episodes are played again exactly, and the same acts lead to the same end from any turn on. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import type { Episode, Group, Place } from '../../core/episode.ts';
import { user } from '../../core/messages.ts';
import { chainOf } from '../../core/trajectory.ts';
import { defineTasks } from '../../curation/tasks/task-source.ts';
import { train } from '../../exports/train.ts';
import { readEpisodeFile } from '../../store/rollouts/read-episodes.ts';
import type { RunSettings } from '../../train/config/setting-objects.ts';
import { measureEpisode } from './measure-episode.ts';
import type { PlayEvent, PlayMove } from './messages.ts';
import { playEpisode } from './play-episode.ts';
import { showStates } from './show-states.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-exact-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function made(name: string, settings: RunSettings, recipe = 'rloo'): Promise<void> {
  const { rollout = {}, ...rest } = settings as { readonly rollout?: object };
  await train({
    world: 'frozen-lake',
    recipe,
    name,
    runs: root,
    settings: {
      environment: { slip: 0.3 },
      seed: 5,
      steps: 3,
      threads: 1,
      model: { width: 8, layers: 1, heads: 1, hidden: 8 },
      clone: { demonstrations: 24, steps: 12, batch: 8, learningRate: 2e-2 },
      rollout: { tasks: 2, group: 3, ...rollout },
      evaluation: { every: 0, finalTasks: 2 },
      ...rest,
    },
  });
}

const fileOf = (run: string, step: number | string): string =>
  join(root, run, 'rollouts', `${step}.jsonl.gz`);
const groupsOf = (run: string, step: number | string): readonly Group[] =>
  readEpisodeFile(fileOf(run, step))!.groups;

const placesIn = (run: string, steps: readonly number[] = [1, 2, 3]) =>
  steps.flatMap((step) =>
    groupsOf(run, step).flatMap((group, index) =>
      group.members.map((episode, member) => ({
        ...{ group, episode, chain: chainOf(group, episode) },
        at: { place: String(step), group: index, member },
      })),
    ),
  );

type At = { readonly place: string; readonly group: number; readonly member: number };

async function play(
  run: string,
  at: At & { readonly label?: string },
  turns: number,
  move: () => PlayMove,
  checkpoint?: number,
): Promise<PlayEvent[]> {
  const events: PlayEvent[] = [];
  const from = { ...at, turns };
  await playEpisode({
    root,
    request: {
      run,
      split: 'train',
      task: 0,
      attempt: 0,
      from,
      ...(checkpoint !== undefined && { checkpoint }),
    },
    tell: (event) => events.push(event),
    move: async () => move(),
    signal: new AbortController().signal,
  });
  return events;
}

const endOf = (events: readonly PlayEvent[]) => {
  const end = events.at(-1);
  if (end?.kind !== 'end') throw new Error('no end');
  return end;
};

const nobody = (): never => {
  throw new Error('somebody was asked');
};

/** Played to its end, and from a turn on by the same acts. */
async function expectExact(
  run: string,
  found: ReturnType<typeof placesIn>[number],
  checkpoint?: number,
): Promise<void> {
  const { episode, chain, at } = found;
  const { stop, success, outcome } = episode;
  const again = await play(run, at, Number.POSITIVE_INFINITY, nobody, checkpoint);
  const texts = (events: readonly PlayEvent[]) =>
    events.flatMap((event) => (event.kind === 'turn' ? [event.text] : []));
  expect(texts(again)).toEqual(chain.calls.map(({ text }) => text));
  expect(endOf(again)).toMatchObject({ stop, success, outcome, differs: [] });
  expect(endOf(again).failure).toBe(episode.failure);
  for (const turns of new Set([0, chain.transitions.length >> 1, chain.transitions.length - 1])) {
    const acts = chain.calls.slice(turns).map(({ text }): PlayMove => ({ kind: 'type', text }));
    const on = await play(run, at, turns, () => acts.shift() ?? nobody(), checkpoint);
    expect(endOf(on)).toMatchObject({ stop, success, outcome });
    // What was told at a place is not told to whoever goes on from before it.
    if (turns <= (episode.startedAt?.at(-1)?.transition ?? -1)) continue;
    const shown = on.flatMap((event) =>
      event.kind === 'state' ? [event.messages.map(({ content }) => content.text)] : [],
    );
    expect(shown).toEqual(chain.calls.map(({ messages }) => messages.map(({ content }) => content)));
  }
}

/** The run as an earlier version stored it: without what only records of this one have. */
function asBefore(run: string, step: number): void {
  const path = fileOf(run, step);
  const lines = gunzipSync(readFileSync(path)).toString().trimEnd().split('\n');
  const plain = lines.map((line, index) => {
    if (index === 0) return line;
    const { limit: _, told: __, ...episode } = JSON.parse(line) as Episode;
    const { chance: ___, ...branchedFrom } = episode.branchedFrom ?? {};
    return JSON.stringify({ ...episode, ...(episode.branchedFrom && { branchedFrom }) });
  });
  const groups = new Map<number, string[]>();
  for (const line of plain.slice(1)) {
    const { group } = (JSON.parse(line) as Episode).key;
    groups.set(group, [...(groups.get(group) ?? []), line]);
  }
  const members = [[plain[0]!], ...groups.values()];
  writeFileSync(path, Buffer.concat(members.map((own) => gzipSync(`${own.join('\n')}\n`))));
  rmSync(join(root, run, 'rollouts', 'index.bin'));
}

test('branches have the chance that they had: of their origin up to where they began, and then their own', async () => {
  await made('branches', { branching: { explorer: 'mcts' }, steps: 1, rollout: { tasks: 4, group: 6 } });
  const found = placesIn('branches', [1]).filter(({ episode }) => episode.branchedFrom);
  expect(found.length).toBeGreaterThan(3);
  expect(found.every(({ episode }) => episode.branchedFrom?.chance === 'fresh')).toBe(true);
  for (const one of found.slice(0, 8)) await expectExact('branches', one);
  // A version that did not record the chance: it is found by trying.
  asBefore('branches', 1);
  for (const one of found.slice(0, 8))
    expect(endOf(await play('branches', one.at, Number.POSITIVE_INFINITY, nobody)).differs).toEqual([]);
}, 120_000);

test('limits are those of the step', async () => {
  await made('limits', { turns: { name: 'scaling-inter', limits: [2, 5], every: 2 } });
  const found = placesIn('limits');
  expect(new Set(found.map(({ episode }) => episode.limit))).toEqual(new Set([2, 5]));
  for (const one of found.slice(0, 10)) await expectExact('limits', one);
  asBefore('limits', 1);
  const [first] = found.filter(({ episode }) => episode.stop === 'turn-limit' && episode.key.step === 1);
  expect(endOf(await play('limits', first!.at, 1, () => ({ kind: 'rest' }))).stop).not.toBe('early-stop');
  expect(endOf(await play('limits', first!.at, Number.POSITIVE_INFINITY, nobody))).toMatchObject({
    stop: 'turn-limit',
    differs: [],
  });
}, 120_000);

test('attempts, and what a turn control says that remembers, are those of the step', async () => {
  await made('attempts', { turns: { name: 'retry', attempts: 3 }, rollout: { maxTurns: 5 } });
  await made('reminded', {
    turns: { name: 'percentile', successes: 1, levels: [0.5, 1] },
    checkpoint: { every: 9 },
  });
  for (const run of ['attempts', 'reminded']) {
    for (const one of placesIn(run).slice(0, 18)) await expectExact(run, one);
  }
  const [retried] = placesIn('attempts').filter(({ chain }) => chain.transitions.at(-1)?.attempt === 2);
  const events: PlayEvent[] = [];
  const work = {
    ...{ root, signal: new AbortController().signal },
    request: {
      ...({ run: 'attempts', split: 'train', task: 0, attempt: 0, continuations: 4 } as const),
      from: { ...retried!.at, turns: 0 },
    },
    tell: (event: PlayEvent) => void events.push(event),
  } as const;
  await showStates(work);
  expect(events.filter(({ kind }) => kind === 'state')).toHaveLength(retried!.chain.transitions.length + 1);
  await measureEpisode(work);
  const values = events.filter((event) => event.kind === 'measured');
  expect(values.map(({ played }) => played)).toEqual(retried!.chain.transitions.map(() => 4));
}, 240_000);

test('what the policy reads is that of the stage, too', async () => {
  await made('staged', {
    context: { name: 'last-turns', turns: 8 },
    stages: [{ until: 1, set: { 'context.turns': 2 } }],
    rollout: { maxTurns: 12 },
  });
  const found = placesIn('staged', [1, 2]);
  // The stage shows fewer turns than there were.
  const [first] = found.filter(
    ({ chain, episode }) => episode.key.step === 1 && chain.transitions.length > 5,
  );
  for (const one of [first!, ...found.slice(0, 3), ...found.slice(-3)]) await expectExact('staged', one);
  const events: PlayEvent[] = [];
  await measureEpisode({
    ...{ root, signal: new AbortController().signal },
    request: {
      ...{ run: 'staged', split: 'train', task: 0, attempt: 0, continuations: 2 },
      from: { ...first!.at, turns: 0 },
    },
    tell: (event) => events.push(event),
  });
  const played = events.flatMap((event) => (event.kind === 'measured' ? [event.played] : []));
  expect(played).toEqual(first!.chain.transitions.map(() => 2));
}, 120_000);

test('a measured stage ended when it did, whichever checkpoint goes on', async () => {
  await made('measured', {
    turns: { name: 'retry', attempts: 3 },
    stages: [{ until: { metric: 'reward/mean', least: -9 }, set: { 'turns.attempts': 1 } }],
    rollout: { maxTurns: 5 },
    checkpoint: { every: 1, keep: 9 },
  });
  const found = placesIn('measured', [1, 3]);
  const attempts = (step: number) =>
    found.flatMap(({ episode, chain }) =>
      episode.key.step === step ? [1 + (chain.transitions.at(-1)?.attempt ?? 0)] : [],
    );
  expect(Math.max(...attempts(1))).toBe(1);
  expect(Math.max(...attempts(3))).toBe(3);
  const retried = found.filter(({ chain }) => (chain.transitions.at(-1)?.attempt ?? 0) > 0);
  for (const one of [found[0]!, ...retried.slice(0, 3)]) await expectExact('measured', one, 0);
}, 120_000);

test('what a turn control remembered and nobody stored is asked for by name', async () => {
  await made('unlogged', { turns: { name: 'early-stop' }, rolloutLog: 2, checkpoint: { every: 9 } });
  const [third] = placesIn('unlogged', [3]);
  expect(endOf(await play('unlogged', third!.at, Number.POSITIVE_INFINITY, nobody)).differs).toEqual([]);
  await expect(play('unlogged', third!.at, 0, nobody)).rejects.toMatchObject({
    code: 'play-unrecorded',
    message: expect.stringContaining('step 2'),
  });
}, 120_000);

test('instructions are those that the episode read', async () => {
  await made('prompted', { prompts: { name: 'population', initial: ['left', 'right'] } });
  const found = placesIn('prompted');
  expect(new Set(found.map(({ episode }) => episode.prompt))).toEqual(new Set(['left', 'right']));
  for (const one of found.slice(0, 12)) await expectExact('prompted', one);
}, 120_000);

/** The first group of a step goes on from the second turn that an episode of the step before had of its own. */
const goingOn = defineTasks({
  name: 'going-on',
  summary: '',
  places: true,
  start: (): Place | null => null,
  next: ({ round, wanted, members, tasks, memory }) =>
    round > 0
      ? []
      : tasks.fresh(wanted).map((index, group) => ({
          task: memory && group === 0 ? { place: memory } : { split: 'train' as const, index },
          members,
          ...(memory && group === 0 && { say: [user('up')] }),
        })),
  remember([group]) {
    const [longest] = [...(group?.members ?? [])].sort((a, b) => b.transitions.length - a.transitions.length);
    if (!longest) return null;
    const transition = (longest.startedAt?.at(-1)?.transition ?? -1) + 2;
    return transition < longest.transitions.length - 1 ? { episode: longest.key, transition } : null;
  },
});

test('episodes that started at places of others have the chance of each part', async () => {
  await made('places', { tasks: goingOn, steps: 6, rollout: { maxTurns: 20 } });
  const found = placesIn('places', [2, 3, 4, 5, 6]).filter(({ episode }) => episode.startedAt);
  expect(found.length).toBeGreaterThan(3);
  // Some of them started at a place of one that did so, too.
  expect(found.some(({ episode }) => episode.startedAt!.length > 1)).toBe(true);
  expect(found.map(({ episode }) => episode.failure)).toEqual(found.map(() => undefined));
  for (const one of found.slice(-9)) await expectExact('places', one);
}, 120_000);
