/** Runs whose tasks begin at places of earlier steps, and whose groups earlier episodes join, go on bit for bit after kills. */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Episode } from '../src/core/episode.ts';
import { Rng } from '../src/core/rng.ts';
import { makeProject } from '../src/run/load/project.test-helper.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const KILLS = 4;
const STEPS = 8;
const command = new URL('../dist/src/cli/main.js', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-kill-memory-'));
const project = makeProject({
  'back.ts': `
    import { defineTasks } from 'turnwise';
    export const back = defineTasks({
      name: 'back',
      summary: 'one group begins where an episode of the step before was after its first turn',
      places: true,
      start: () => ({ place: null }),
      next: ({ wanted, members, tasks, memory: { place } }) =>
        tasks.fresh(wanted).map((index, at) =>
          at === 0 && place
            ? { task: { place }, members }
            : { task: { split: 'train', index }, members }),
      remember: (groups, { memory }) => {
        const long = groups
          .flatMap(({ members }) => members)
          .findLast(({ transitions, startedAt }) => transitions.length > 2 && !startedAt);
        return { place: long ? { episode: long.key, transition: 0 } : memory.place };
      },
    });`,
  'rejoin.ts': `
    import { defineCuration } from 'turnwise';
    export const rejoin = defineCuration({
      name: 'rejoin',
      summary: 'an episode of an earlier step joins the last group',
      start: () => ({ kept: [] }),
      choose: (groups, { memory: { kept } }) => ({
        insert: kept.slice(0, 1).map((episode) => ({ group: groups.length - 1, episode })),
      }),
      remember: (groups, { step, memory: { kept } }) => {
        const own = groups
          .flatMap(({ members }) => members)
          .filter(({ key, startedAt, branchedFrom }) => key.step === step && !startedAt && !branchedFrom);
        return { kept: [...kept, ...own.slice(-1).map(({ key }) => key)].slice(-3) };
      },
    });`,
});
afterAll(() => {
  project.remove();
  rmSync(folder, { recursive: true, force: true });
});

const SETTINGS = Object.entries({
  seed: 5,
  steps: STEPS,
  threads: 1,
  'model.width': 16,
  'model.layers': 1,
  'model.heads': 2,
  'model.hidden': 32,
  'clone.demonstrations': 40,
  'clone.steps': 4,
  'clone.batch': 16,
  'rollout.tasks': 4,
  'rollout.group': 4,
  'evaluation.every': 0,
  'evaluation.tasks': 4,
  'evaluation.finalTasks': 4,
  'checkpoint.every': 1,
  'checkpoint.keep': 2,
  tasks: project.path('back.ts'),
  curation: JSON.stringify({ [project.path('rejoin.ts')]: {} }),
}).flatMap(([key, value]) => ['--set', `${key}=${value}`]);

const turnwise = (...line: string[]): ChildProcess =>
  spawn(process.execPath, [command, ...line, '--runs', folder]);
const start = (name: string): ChildProcess =>
  turnwise('train', 'frozen-lake', '--recipe', 'grpo', '--name', name, ...SETTINGS);

function finished(child: ChildProcess): Promise<{ code: number | null; errors: string }> {
  let errors = '';
  child.stdout?.resume();
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, errors })));
}

/** Episodes of a step, without times. */
const stored = (name: string, step: number): Episode[] =>
  readEpisodeFile(join(folder, name, 'rollouts', `${step}.jsonl.gz`))!.groups.flatMap(
    ({ members }) => members,
  );
const timeless = (episodes: readonly Episode[]): unknown =>
  JSON.parse(
    JSON.stringify(episodes, (key, value: unknown) =>
      key === 'at' || key.endsWith('Ms') ? undefined : value,
    ),
  );
const file = (name: string, path: string): Buffer =>
  readFileSync(join(folder, name, 'checkpoints', String(STEPS), path));

test(`${KILLS} kills change nothing while episodes begin at places and join groups`, {
  timeout: 600_000,
}, async () => {
  if (!existsSync(command)) throw new Error(`${command} does not exist: run "npm run build" first`);
  expect(await finished(start('alone'))).toEqual({ code: 0, errors: '' });
  const steps = Array.from({ length: STEPS }, (_, step) => step + 1);
  const later = steps.slice(1);
  expect(later.every((step) => stored('alone', step).some(({ startedAt }) => startedAt))).toBe(true);
  expect(later.every((step) => stored('alone', step).some(({ key }) => key.step < step))).toBe(true);

  const rng = Rng.of('kill', 2);
  const goOn = (): ChildProcess =>
    existsSync(join(folder, 'killed', 'config.json')) ? turnwise('resume', 'killed') : start('killed');
  for (let kills = 0; kills < KILLS; kills++) {
    const child = goOn();
    const exit = finished(child);
    // After a checkpoint that no earlier process has seen, and a little further.
    const before = checkpoints();
    while (checkpoints() <= before && child.exitCode === null) await sleep(5);
    await sleep(rng.int(150));
    child.kill('SIGKILL');
    await exit;
  }
  expect(await finished(goOn())).toEqual({ code: 0, errors: '' });
  for (const step of steps) expect(timeless(stored('killed', step))).toEqual(timeless(stored('alone', step)));
  for (const path of ['model.safetensors', 'optimizer.safetensors'])
    expect(file('killed', path).equals(file('alone', path))).toBe(true);
});

const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The last step that was kept. */
function checkpoints(): number {
  const path = join(folder, 'killed', 'checkpoints');
  if (!existsSync(path)) return -1;
  return Math.max(-1, ...steps().filter((step) => existsSync(join(path, String(step)))));
}

const steps = (): number[] => Array.from({ length: STEPS + 1 }, (_, step) => step);
