import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../cli/command-line.ts';
import { compareWith } from '../cli/commands/compare.ts';
import { envsCommand } from '../cli/commands/envs.ts';
import { evalCommand } from '../cli/commands/eval.ts';
import { exportCommand } from '../cli/commands/export.ts';
import { playCommand } from '../cli/commands/play.ts';
import { recipesCommand } from '../cli/commands/recipes.ts';
import { resumeCommand } from '../cli/commands/resume.ts';
import { runsCommand } from '../cli/commands/runs.ts';
import { trainCommand } from '../cli/commands/train.ts';
import { memoryConsole, noInterrupts } from '../cli/testing-console.test-helper.ts';
import { problemOf } from '../compare/child-run.ts';
import { fromEnvironment } from '../env/from-environment.ts';
import { loadFile } from '../run/load/load-file.ts';
import { resolveWorld } from '../run/load/resolve-world.ts';
import { worldOfRun } from '../run/load/run-world.ts';
import { type EnvironmentServer, serveEnvironment } from '../server/environment/serve.ts';
import type { TrainConfig } from '../train/config/config.ts';
import type { StoredEvent, TrainSettings } from './index.ts';
import { defineAgent, defineEnvironment, resume, type Sink, start, train } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-worlds-'));
const root = join(folder, 'runs');
const file = join(folder, 'echo.mjs');

/** Two worlds, so that one must be named; the second has a file of its own elsewhere. */
const source = `
const world = (name) => ({
  name,
  description: 'Repeat the word.',
  maxTurns: 2,
  tasks: () => ({ size: 4, at: (index) => index }),
  start: (task) => ({ state: task, messages: [{ role: 'user', content: 'word' + task }] }),
  step: (state, action) => {
    const success = action === 'word' + state;
    const observation = 'again';
    return { state, observation, reward: success ? 1 : 0, done: success, success, valid: action.startsWith('word') };
  },
  actions: () => ['word0', 'word1', 'word2', 'word3'],
  solve: (state) => 'word' + state,
});
export const echo = world('echo');
export const other = world('other');
`;

const place = `${file}#echo`;
let server: EnvironmentServer;
let address: string;

beforeAll(async () => {
  writeFileSync(file, source);
  const factory = await loadFile(place);
  server = await serveEnvironment({ world: factory.create({}), port: 0 });
  address = `turnwise:http://127.0.0.1:${server.port}`;
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const settings: TrainSettings = {
  steps: 2,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 16 },
  clone: { demonstrations: 20, steps: 4, batch: 8 },
  rollout: { tasks: 4, group: 4 },
  evaluation: { every: 0, tasks: 4, finalTasks: 4 },
  checkpoint: { every: 1, keep: 9 },
};

/** What learns from recorded episodes plays none. */
const { rollout: _, ...replaySettings } = settings;

/** The same on the command line. */
const lineOf = (given: TrainSettings): string[] =>
  Object.entries(given).flatMap(([key, value]) =>
    typeof value === 'object'
      ? Object.entries(value).flatMap(([inner, setting]) => ['--set', `${key}.${inner}=${setting}`])
      : ['--set', `${key}=${value}`],
  );
const set = lineOf(settings);

const single = [
  trainCommand,
  resumeCommand,
  evalCommand,
  playCommand,
  exportCommand,
  envsCommand,
  recipesCommand,
  runsCommand,
];

/** The runs of a comparison in this process. */
const comparing = compareWith(() => ({
  async run(words, onEvent) {
    const console = { ...memoryConsole(), write: (text: string) => onEvent(JSON.parse(text) as StoredEvent) };
    const surroundings = { commands: single, version: '0', console, interrupts: noInterrupts };
    const code = await runCommandLine([...words(), '--json'], surroundings);
    return code === 0 ? undefined : problemOf(console.errors(), code, null);
  },
  stop: () => undefined,
  kill: () => undefined,
}));

async function turnwise(...line: string[]) {
  const console = memoryConsole({ columns: 10_000 });
  const commands = [...single, comparing];
  const code = await runCommandLine(line, { commands, version: '0', console, interrupts: noInterrupts });
  const errors = console.errors().replaceAll(root, 'RUNS').replaceAll(folder, 'FOLDER');
  return { code, errors, output: console.output() };
}

const succeed = async (...line: string[]): Promise<string> => {
  const { code, errors, output } = await turnwise(...line);
  expect([line.join(' '), code, errors]).toEqual([line.join(' '), 0, '']);
  return output;
};

const configOf = (name: string) =>
  JSON.parse(readFileSync(join(root, name, 'config.json'), 'utf8')) as {
    readonly world: object;
    readonly config: { readonly data: string };
  };

/** A run that has one step of two, made by a program. */
async function stopped(name: string, world: Parameters<typeof start>[0]['world']): Promise<void> {
  const stop: Sink = {
    event: ({ type }) => {
      if (type === 'step') run.stop();
    },
  };
  const options = { recipe: 'rloo', settings, name, runs: root, sinks: [stop] };
  const run = await start({ world: world as string, ...options });
  await expect(run.finished).rejects.toThrow('asked to stop');
}

test('a run of before remote worlds had names goes on under the name that its chance is keyed by', async () => {
  const of = (name: string) => ({
    world: { name, source: address },
    config: { environment: { timeoutMs: 5000 } } as unknown as TrainConfig,
  });
  const request = { root, name: 'old' };
  expect((await worldOfRun(request, of(address))).name).toBe(address);
  expect((await worldOfRun(request, of('echo'))).name).toBe('echo');
  await expect(worldOfRun(request, of('other'))).rejects.toMatchObject({ code: 'run-other-environment' });
});

test.each([
  ['file', () => place],
  ['address', () => address],
] as const)(
  'a world that is a %s: the command line goes on with runs of programs, and programs with its own',
  async (kind, placed) => {
    const world = placed();
    const name = 'echo';
    await stopped(`${kind}-code`, world);
    expect(configOf(`${kind}-code`).world).toEqual({ name, source: world });
    await succeed('resume', `${kind}-code`, '--runs', root, '--json');
    expect(await succeed('eval', `${kind}-code`, '--runs', root, '--tasks', '4')).toContain('greedy');
    expect(await succeed('play', world, '--run', `${kind}-code`, '--runs', root)).toContain('return');
    // The newest run of the world, which only this kind of place has here.
    expect(await succeed('eval', world, '--runs', root, '--tasks', '4', '--json')).toContain(`${kind}-code`);

    await succeed('train', world, '--name', `${kind}-line`, '--runs', root, '--json', ...set);
    expect(configOf(`${kind}-line`).world).toEqual({ name, source: world });
    await expect(resume(`${kind}-line`, { runs: root })).rejects.toMatchObject({ code: 'run-finished' });

    const common = ['--recipe', 'ppo', '--runs', root, '--json', ...set];
    await succeed('train', world, '--name', `${kind}-start`, ...common, '--set', `start=${kind}-line`);
    const replayed = ['--recipe', 'filtered-bc', '--runs', root, '--json', ...lineOf(replaySettings)];
    await succeed('train', world, '--name', `${kind}-data`, ...replayed, '--set', `data=${kind}-line`);
  },
  60_000,
);

test('a comparison trains in the world that it was given, wherever that is', async () => {
  for (const [name, world] of [
    ['by-file', place],
    ['by-address', address],
  ] as const) {
    const line = [
      '--recipes',
      'rloo,ppo',
      '--seeds',
      '1',
      '--name',
      name,
      '--runs',
      root,
      '--budget',
      'steps=1',
    ];
    const fewer = set.filter(
      (word, index) => !/^(steps|threads)=/.test(word) && !/^(steps|threads)=/.test(set[index + 1] ?? ''),
    );
    await succeed('compare', '--env', world, ...line, ...fewer);
    const runs = readdirSync(join(root, 'compared')).filter((run) => run.includes('-rloo-1-'));
    expect(runs.map((run) => configOf(join('compared', run)))).toContainEqual(
      expect.objectContaining({ world: expect.objectContaining({ source: world }) }),
    );
  }
}, 60_000);

test('a world that was renamed since is refused by name', async () => {
  const renamed = join(folder, 'renamed.mjs');
  writeFileSync(renamed, source.replace("world('echo')", "world('before')"));
  await stopped('renamed', `${renamed}#echo`);
  const config = join(root, 'renamed', 'config.json');
  writeFileSync(config, readFileSync(config, 'utf8').replace('"name": "before"', '"name": "long before"'));
  expect((await turnwise('resume', 'renamed', '--runs', root)).errors).toBe(
    `error: The world of run "renamed" has another name than when the run began, and its chance is keyed by that name. Seen: "before" in 'FOLDER/renamed.mjs#echo'. Allowed: "long before". Give it the old name again, or start a new run.\n(run-other-environment)\n`,
  );
});

test('hints name a world as it must be typed', async () => {
  expect(await succeed('envs', place)).toContain(`turnwise train '${place}'`);
  expect(await succeed('envs', address)).toContain(`turnwise play ${address}`);
  expect(await succeed('recipes', 'ppo', '--env', place)).toContain(`compare --env '${place}'`);
});

test('the run of an object made in code is shown; what needs the object says who has it', async () => {
  const { echo } = (await import(file)) as { readonly echo: Parameters<typeof start>[0]['world'] };
  await stopped('object', echo);
  expect(configOf('object').world).toEqual({ name: 'echo', source: 'code' });
  expect(await succeed('runs', 'show', 'object', '--runs', root)).toContain(
    `resume('object', { world, runs: '${root}' })`,
  );
  for (const command of [
    ['resume', 'object'],
    ['eval', 'object'],
  ]) {
    expect(await turnwise(...command, '--runs', root)).toMatchObject({
      code: 2,
      errors: `error: Run "object" was trained in "echo", an object made in code, which cannot be loaded from here. Go on in that program with resume('object', { world }); turnwise runs show object --runs RUNS and turnwise export object --runs RUNS need no world.\n(world-in-code)\n`,
    });
  }
  expect((await turnwise('play', 'maze', '--run', 'object', '--runs', root)).errors).toBe(
    'error: Run "object" was trained in another environment. Seen: maze. Allowed: echo, an object made in code.\n(run-other-environment)\n',
  );
  // A file that exports the same world stands in for the object where it is named.
  expect(await succeed('play', place, '--run', 'object', '--runs', root)).toContain('return');
  // Needs no world, and says what is in the way.
  expect((await turnwise('export', 'object', '--to', join(folder, 'out'), '--runs', root)).errors).toContain(
    'export-unsupported',
  );

  await expect(resume('object', { world: 'maze', runs: root })).rejects.toMatchObject({
    code: 'run-other-environment',
  });
  const run = await resume('object', { world: echo as string, runs: root });
  expect((await run.finished).steps).toBe(2);
  // Its warm start and its episodes serve the world wherever it comes from.
  const common = ['--runs', root, '--json', ...set];
  await succeed('train', place, '--name', 'from-object', ...common, '--set', 'start=object');
  const { code, errors } = await turnwise('train', `${file}#other`, ...common, '--set', 'start=object');
  expect([code, errors]).toEqual([2, expect.stringContaining('start-mismatch')]);
});

test('an open run is watched, measured, played and exported', async () => {
  const run = await start({ world: place, recipe: 'grpo', settings, name: 'open', runs: root });
  const seen: string[] = [];
  for await (const event of run.events) if (event.type !== 'progress') seen.push(event.type);
  expect(seen.filter((type) => !['clone', 'phase', 'warning'].includes(type))).toEqual([
    'start',
    'evaluation',
    'step',
    'step',
    'evaluation',
    'finish',
  ]);
  const { after } = await run.finished;
  const measured = await run.evaluate({ tasks: 4 });
  expect(measured.sampled.success).toBe(after.sampled.success);
  expect((await run.play(1, { greedy: true })).key).toMatchObject({
    environment: 'echo',
    task: 1,
    split: 'test',
  });
  await expect(run.export('adapter', join(folder, 'out'))).rejects.toMatchObject({
    code: 'export-unsupported',
  });
  // Whoever comes late reads what is stored.
  const again: string[] = [];
  for await (const event of run.events) again.push(event.type);
  expect(again).toEqual(seen);
});

test('every kind of world is one, whatever its states are', async () => {
  interface Stairs {
    readonly stairs: number;
  }
  const names = async (world: Parameters<typeof resolveWorld>[0]) => (await resolveWorld(world)).name;
  const environment = defineEnvironment<number, Stairs>({
    name: 'stairs',
    description: 'Climb.',
    maxTurns: 3,
    tasks: () => ({ size: 1, at: () => 1 }),
    start: (stairs) => ({ state: { stairs }, messages: [] }),
    step: (state) => ({ state, observation: '', reward: 0, done: true, valid: true }),
  });
  const agent = defineAgent<{ readonly fruit: string }>({
    name: 'shelves',
    tasks: () => [{ fruit: 'plum' }],
    run: async () => ({ reward: 1 }),
  });
  const factory = await loadFile(place);
  expect(await Promise.all([environment, agent, fromEnvironment(environment), factory].map(names))).toEqual([
    'stairs',
    'shelves',
    'stairs',
    'echo',
  ]);
  // Only for the compiler, which accepts each and refuses what is none.
  const typed = (): unknown => [
    start({ world: environment }),
    start({ world: agent }),
    start({ world: fromEnvironment(environment) }),
    start({ world: factory }),
    resume('name', { world: agent }),
    // @ts-expect-error: a number is no world
    start({ world: 1 }),
  ];
  expect(typed).toBeTypeOf('function');
});

test('what goes wrong before a run is open is the caller’s', async () => {
  await expect(start({ world: 'mase', runs: root })).rejects.toMatchObject({ code: 'environment-unknown' });
  await expect(start({ world: {} as never, runs: root })).rejects.toMatchObject({ code: 'config-invalid' });
  await expect(start({ world: place, recipe: 'self-play', runs: root })).rejects.toMatchObject({
    code: 'recipe-unfit',
  });
  await expect(resume('nobody', { runs: root })).rejects.toMatchObject({ code: 'run-unknown' });
});

test('episodes are learned from that a file holds: a shard, or what was recorded of training tasks', async () => {
  const recorded = join(folder, 'episodes.jsonl');
  const evaluate = ['eval', 'open', '--runs', root, '--tasks', '4', '--record', recorded];
  await succeed(...evaluate);
  const learn = (name: string, data: string) =>
    train({ world: place, recipe: 'filtered-bc', settings: { ...replaySettings, data }, name, runs: root });
  await expect(learn('held-out', recorded)).rejects.toThrow(
    'has no episodes that can be learned from here. Seen: rows of tasks of the test split. Allowed: training episodes of echo. Record training tasks, with --split train.',
  );
  await succeed(...evaluate, '--split', 'train');
  expect((await learn('recorded', recorded)).steps).toBe(2);
  expect(configOf('recorded').config.data).toBe(recorded);
  expect((await learn('shard', join(root, 'open', 'rollouts', '1.jsonl.gz'))).steps).toBe(2);
  await expect(learn('none', join(folder, 'none.jsonl'))).rejects.toMatchObject({ code: 'file-unknown' });
  expect(existsSync(join(root, 'none'))).toBe(false);
});

test('sinks get every stored event, and one that throws is dropped with a warning', async () => {
  const seen: string[] = [];
  let closed = 0;
  const good: Sink = {
    event: (event) => {
      seen.push(event.type === 'warning' ? event.code : event.type);
    },
    close: () => {
      closed++;
    },
  };
  const broken: Sink = {
    event: ({ type }) => {
      if (type === 'step') throw new Error('the disk of the dashboard is full');
    },
    close: () => {
      closed++;
    },
  };
  const run = await start({ world: place, settings, name: 'sinks', runs: root, sinks: [good, broken] });
  await run.finished;
  expect(seen.filter((type) => ['start', 'step', 'sink-failed', 'finish'].includes(type))).toEqual([
    'start',
    'step',
    'sink-failed',
    'step',
    'finish',
  ]);
  expect(closed).toBe(1);
  const log = readFileSync(join(run.folder, 'events.jsonl'), 'utf8');
  expect(log).toContain('Sink 2 failed and gets no more events: the disk of the dashboard is full');
});
