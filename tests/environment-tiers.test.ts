/** Environments of every tier through whole runs: trained, resumed, evaluated, played, compared and served, as their users do. */

import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { compareWith } from '../src/cli/commands/compare.ts';
import { envsCommand } from '../src/cli/commands/envs.ts';
import { evalCommand } from '../src/cli/commands/eval.ts';
import { playCommand } from '../src/cli/commands/play.ts';
import { resumeCommand } from '../src/cli/commands/resume.ts';
import { trainCommand } from '../src/cli/commands/train.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import { problemOf } from '../src/compare/child-run.ts';
import type { Episode } from '../src/core/episode.ts';
import type { Json } from '../src/core/json/json.ts';
import type { WorldFactory } from '../src/env/factory.ts';
import { brokenWorldLaw } from '../src/env/laws/environment-laws.ts';
import { brokenTruth } from '../src/env/laws/truth-law.ts';
import { type Mix, mix } from '../src/env/mix/mix.ts';
import { playEpisode } from '../src/env/play.ts';
import type { Sink } from '../src/exports/index.ts';
import { resume, start, train } from '../src/exports/train.ts';
import { findEnvironment } from '../src/run/load/environments.ts';
import { resolveWorld } from '../src/run/load/resolve-world.ts';
import { serveEnvironment } from '../src/server/environment/serve.ts';
import { trainingShard } from '../src/store/rollouts/shard-names.ts';
import { RunDirectory } from '../src/store/run-directory.ts';
import type { StoredEvent } from '../src/train/loop/events.ts';

const project = new URL('..', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-tiers-'));
const runs = join(folder, 'runs');
const desk = join(folder, 'note-desk.ts');
const mixed = join(folder, 'mixed.ts');

beforeAll(() => {
  if (!existsSync(join(project, 'dist', 'src', 'exports', 'index.js')))
    throw new Error('run "npm run build" first');
  for (const name of ['note-desk.ts', 'note-desk.jsonl'])
    copyFileSync(join(project, 'examples', name), join(folder, name));
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(
    mixed,
    `export const mixed = { kind: 'mix', name: 'mixed', entries: [{ world: './note-desk.ts', weight: 2 }, { world: 'guess-number', weight: 1 }] };`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const settings = {
  steps: 2,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 16 },
  clone: { demonstrations: 24, steps: 4, batch: 8 },
  rollout: { tasks: 6, group: 2 },
  evaluation: { every: 0, tasks: 8, finalTasks: 8 },
  checkpoint: { every: 1, keep: 9 },
} as const;

const set = Object.entries(settings).flatMap(([key, value]) =>
  typeof value === 'object'
    ? Object.entries(value).flatMap(([inner, setting]) => ['--set', `${key}.${inner}=${setting}`])
    : ['--set', `${key}=${value}`],
);

const single = [trainCommand, resumeCommand, evalCommand, playCommand, envsCommand];
const comparing = compareWith(() => ({
  async run(words, onEvent) {
    const console = { ...memoryConsole(), write: (text: string) => onEvent(JSON.parse(text) as StoredEvent) };
    const code = await runCommandLine([...words(), '--json'], {
      commands: single,
      version: '0',
      console,
      interrupts: noInterrupts,
    });
    return code === 0 ? undefined : problemOf(console.errors(), code, null);
  },
  stop: () => undefined,
  kill: () => undefined,
}));

async function turnwise(...line: string[]): Promise<string> {
  const console = memoryConsole({ columns: 10_000 });
  const code = await runCommandLine(line[0] === 'envs' ? line : [...line, '--runs', runs], {
    commands: [...single, comparing],
    version: '0',
    console,
    interrupts: noInterrupts,
  });
  expect([line.join(' '), code, console.errors()]).toEqual([line.join(' '), 0, '']);
  return console.output();
}

const eventsOf = (name: string): StoredEvent[] =>
  readFileSync(join(runs, name, 'events.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as StoredEvent);

/** A run of two steps that was stopped after the first, and its events when it went on. */
async function stoppedAndResumed(world: string | Mix, name: string): Promise<StoredEvent[]> {
  const stop: Sink = {
    event: ({ type }) => {
      if (type === 'step') run.stop();
    },
  };
  const run = await start({ world, recipe: 'rloo', settings, name, runs, sinks: [stop] });
  await expect(run.finished).rejects.toThrow('asked to stop');
  const again = await resume(name, {
    runs,
    ...(typeof world === 'string' ? {} : { world }),
  });
  expect((await again.finished).steps).toBe(2);
  return eventsOf(name);
}

const comparable = (events: readonly StoredEvent[]): unknown[] =>
  events.flatMap((event): unknown[] => {
    if (event.type === 'evaluation') return [{ sampled: event.sampled, greedy: event.greedy }];
    if (event.type !== 'step') return [];
    return [Object.entries(event.metrics).filter(([name]) => !/^(time|speed|loop)\//.test(name))];
  });

test('the environment of tools is short', () => {
  const lines = readFileSync(desk, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  expect(lines.length).toBeLessThanOrEqual(60);
});

test('an environment of tools keeps the laws, and its expert and its truth solve it', async () => {
  const factory = await findEnvironment(desk);
  for (const wording of ['compact', 'natural']) {
    const world = factory.create({ wording });
    for (let seed = 0; seed < 3; seed++) {
      const task = world.tasks('train').at(seed);
      expect(await brokenWorldLaw(world, task, seed)).toBeUndefined();
      expect(await playEpisode(world, task, seed, 'expert')).toMatchObject({ success: true, done: true });
      expect(await brokenTruth(world, task, seed)).toBeUndefined();
    }
  }
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('note-desk-'))).toEqual([]);
});

test('an environment of tools trains, resumes, is evaluated, played and compared', {
  timeout: 120_000,
}, async () => {
  const events = await stoppedAndResumed(desk, 'desk');
  const steps = events.flatMap((event) => (event.type === 'step' ? [event.metrics] : []));
  expect(steps.map((metrics) => metrics['env/reads'] !== undefined)).toEqual([true, true]);
  expect(await turnwise('eval', 'desk', '--tasks', '8')).toContain('env/reads');
  expect(await turnwise('play', desk, '--run', 'desk')).toContain('who');
  expect(await turnwise('envs', desk)).toContain('96 train, 12 validation, 12 test');
  const few = set.filter(
    (word, index) => !/^(steps|threads)=/.test(word) && !/^(steps|threads)=/.test(set[index + 1] ?? ''),
  );
  await turnwise(
    'compare',
    '--env',
    desk,
    '--recipes',
    'rloo,grpo',
    '--seeds',
    '1',
    '--name',
    'two',
    '--budget',
    'steps=1',
    ...few,
  );
  expect(readdirSync(join(runs, 'compared')).length).toBeGreaterThan(1);
});

/** The same from a server as in process. */
async function playsAlike(factory: WorldFactory): Promise<void> {
  const world = factory.create(factory.options.parse({}));
  const server = await serveEnvironment({ world, port: 0 });
  try {
    const remote = (await findEnvironment(`turnwise:http://127.0.0.1:${server.port}`)).create({
      timeoutMs: 5000,
    });
    expect([remote.protocol.name, remote.maxTurns]).toEqual([world.protocol.name, world.maxTurns]);
    for (let index = 0; index < 6; index++) {
      const [here, there] = [world.tasks('train').at(index), remote.tasks('train').at(index)];
      for (const player of ['expert', 'beginner'] as const) {
        const mine = await playEpisode(world, here, index, player);
        expect(await playEpisode(remote, there as Json, index, player)).toEqual(mine);
        expect(mine.turns.some(({ metrics }) => metrics !== undefined) || world.name !== 'note-desk').toBe(
          true,
        );
      }
    }
    expect(server.openSessions()).toBe(0);
  } finally {
    await server.close();
  }
}

test('an environment of tools and a mix are served as they are', async () => {
  await playsAlike(await findEnvironment(desk));
  await playsAlike(await findEnvironment(mixed));
});

test('a server of what compares groups is refused, since it cannot', async () => {
  const factory = await findEnvironment('guess-number');
  const world = { ...factory.create(factory.options.parse({})), scoreGroup: () => [] };
  const server = await serveEnvironment({ world, port: 0 });
  try {
    const address = `turnwise:http://127.0.0.1:${server.port}`;
    await expect(findEnvironment(address)).rejects.toMatchObject({ code: 'group-scores-remote' });
  } finally {
    await server.close();
  }
});

test('a served mix tells its parts apart in a run', { timeout: 60_000 }, async () => {
  const factory = await findEnvironment(mixed);
  const server = await serveEnvironment({ world: factory.create(factory.options.parse({})), port: 0 });
  try {
    await train({
      world: `turnwise:http://127.0.0.1:${server.port}`,
      recipe: 'rloo',
      settings,
      name: 'served',
      runs,
    });
  } finally {
    await server.close();
  }
  expect(namesIn('served')).toEqual(PARTS);
});

/** Of the first step. */
const namesIn = (run: string): string[] => {
  const step = eventsOf(run).find((event) => event.type === 'step');
  return Object.keys(step?.type === 'step' ? step.metrics : {}).filter((name) => name.startsWith('env/'));
};

const PARTS = [
  'env/guess-number/episodes',
  'env/guess-number/reward',
  'env/guess-number/success',
  'env/note-desk/episodes',
  'env/note-desk/reads',
  'env/note-desk/reward',
  'env/note-desk/success',
];

test('a mix trains and resumes alike as a value, from a file and by name', { timeout: 120_000 }, async () => {
  const value = mix({ [desk]: 2, 'guess-number': 1 }, { name: 'mixed' });
  const [asValue, asFile] = [await stoppedAndResumed(value, 'value'), await stoppedAndResumed(mixed, 'file')];
  expect(comparable(asValue)).toEqual(comparable(asFile));
  expect(namesIn('file')).toEqual(PARTS);
  const evaluated = asFile.findLast((event) => event.type === 'evaluation');
  expect(evaluated?.type === 'evaluation' && Object.keys(evaluated.sampled.metrics ?? {})).toEqual(PARTS);

  const name = `mix:${desk}=2,guess-number`;
  await turnwise(
    'train',
    name,
    '--name',
    'named',
    '--json',
    ...set,
    '--set',
    'environment.guess-number.range=8',
  );
  expect(namesIn('named')).toEqual(PARTS);
  expect(JSON.parse(readFileSync(join(runs, 'named', 'config.json'), 'utf8')).world).toEqual({
    name: 'note-desk+guess-number',
    source: `mix:${desk}=2,guess-number=1`,
  });
  expect(await turnwise('eval', 'named', '--tasks', '8')).toContain('env/guess-number/success');
  expect(await turnwise('play', name, '--run', 'named')).toContain('return');
  expect((await resolveWorld(value)).name).toBe('mixed');
});

test('what a judge of groups says is stored, and is learned from', { timeout: 60_000 }, async () => {
  const factory = await findEnvironment('guess-number');
  const world = factory.create(factory.options.parse({}));
  let groups = 0;
  // Prefers whoever guessed last the highest number.
  const judged = {
    ...world,
    scoreGroup: (episodes: readonly { transitions: readonly { action: string }[] }[]) => {
      if (++groups === 2) throw new Error('the judge is away');
      return episodes.map(({ transitions }) => Number(transitions.at(-1)?.action) / 100 || 0);
    },
  };
  await train({ world: judged, recipe: 'rloo', settings, name: 'judged', runs });
  const events = eventsOf('judged');
  const warned = events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
  expect(warned.filter((message) => message.includes('the judge is away')).length).toBeLessThanOrEqual(1);
  const reader = RunDirectory.openForReading({ root: runs, name: 'judged', version: '0' }).readRollouts();
  const members: Episode[] = [];
  for (const step of reader.index.steps()) {
    for await (const group of reader.groups(trainingShard(step))) members.push(...group.members);
  }
  const scored = members.filter(({ scores }) => scores !== undefined);
  expect(scored.length).toBeGreaterThan(members.length / 2);
  for (const { scores, transitions, outcome } of scored) {
    const earned = transitions.reduce((sum, { rewards }) => sum + (rewards.agent ?? 0), 0);
    expect(outcome.agent).toBeCloseTo(earned + scores![0]!.rewards.agent!, 9);
  }
});
