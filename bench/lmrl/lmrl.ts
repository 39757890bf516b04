/**
 * LMRL-Gym's table (arXiv 2311.18232): each task's dataset by mixed players, and methods that learn from it. A cell is one run as a
 * user starts it, kept as one file in bench/lmrl/results; cells that have a file are not run again. docs/lmrl-gym.md is written from them.
 */

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { writeRows } from '../../src/data/write-rows.ts';
import { measurePlayer } from '../../src/env/play.ts';
import { mixedRows, parsePlayers, returnStatistics } from '../../src/run/data/mixed-play.ts';
import { createWorld, findEnvironment } from '../../src/run/load/environments.ts';
import { lmrlPage } from './page.ts';
import { type LmrlTask, longSettings, METHODS, type Method, RUNS, TASKS, valueSettings } from './tasks.ts';

const repository = new URL('../../../', import.meta.url).pathname;
const results = join(repository, 'bench/lmrl/results');
const page = join(repository, 'docs/lmrl-gym.md');
const main = new URL('../../src/cli/main.js', import.meta.url).pathname;

const EPISODES = 1000;
const SEED = 1;
const EXPERT_EPISODES = 200;

const datasetSchema = z.object({
  episodes: z.int(),
  mean: z.number(),
  least: z.number(),
  median: z.number(),
  most: z.number(),
  success: z.number(),
  byPlayer: z.record(z.string(), z.object({ episodes: z.int(), mean: z.number(), success: z.number() })),
  players: z.string(),
  seed: z.int(),
  /** Mean return of the scripted expert on test tasks: 100 of the scale. */
  expert: z.number(),
});
const cellSchema = z.object({
  seed: z.int(),
  seconds: z.number(),
  command: z.string(),
  episodes: z.int(),
  return: z.number(),
  returnInterval: z.tuple([z.number(), z.number()]),
  success: z.number(),
});
const failedSchema = z.object({ failed: z.string(), command: z.string(), seconds: z.number() });

export type Dataset = z.output<typeof datasetSchema>;
export type Cell = z.output<typeof cellSchema> | z.output<typeof failedSchema>;

export interface LmrlOptions {
  readonly report: boolean;
  /** Run cells again that have a result. */
  readonly again: boolean;
  /** No cell begins after these seconds. */
  readonly seconds?: number;
  /** A cell is ended after these. */
  readonly most?: number;
}

/** @param names `TASK`, `METHOD` or `TASK/METHOD`; none: all */
export async function benchLmrl(names: readonly string[], options: LmrlOptions): Promise<object> {
  const { report, again, seconds = Number.POSITIVE_INFINITY, most = 600 } = options;
  mkdirSync(results, { recursive: true });
  const began = performance.now();
  const scratch = mkdtempSync(join(tmpdir(), 'turnwise-lmrl-'));
  const left: string[] = [];
  try {
    // Method after method, so that what fits in the time is spread over the tasks.
    for (const method of report ? [] : METHODS)
      for (const task of TASKS) {
        const cell = `${task.name}/${method}`;
        const isNamed = names.length === 0 || [task.name, method, cell].some((one) => names.includes(one));
        if (!isNamed) continue;
        if (!again && existsSync(cellFile(task.name, method))) continue;
        if ((performance.now() - began) / 1000 > seconds) {
          left.push(cell);
          continue;
        }
        const file = await dataset(task, scratch);
        const result = await run(task, method, file, most, scratch);
        store(cellFile(task.name, method), result);
        process.stderr.write(
          `${cell}: ${'failed' in result ? result.failed : `return ${result.return.toFixed(3)}`} in ${Math.round(result.seconds)} s\n`,
        );
      }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  writeFileSync(page, lmrlPage(readLmrl(results)));
  return { page: 'docs/lmrl-gym.md', left };
}

const cellFile = (task: string, method: Method): string => join(results, `${task}.${method}.json`);
const dataFile = (task: string): string => join(results, `${task}.data.json`);
const store = (file: string, value: unknown): void =>
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);

export interface LmrlRow {
  readonly task: LmrlTask;
  readonly dataset?: Dataset;
  readonly cells: Readonly<Partial<Record<Method, Cell>>>;
}

export function readLmrl(folder: string): LmrlRow[] {
  const read = <T>(name: string, schema: z.ZodType<T>): T | undefined => {
    const file = join(folder, name);
    return existsSync(file) ? schema.parse(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
  };
  return TASKS.map((task) => {
    const dataset = read(`${task.name}.data.json`, datasetSchema);
    const cells = METHODS.flatMap((method) => {
      const cell = read(`${task.name}.${method}.json`, z.union([cellSchema, failedSchema]));
      return cell ? [[method, cell] as const] : [];
    });
    return { task, ...(dataset && { dataset }), cells: Object.fromEntries(cells) };
  });
}

/** The file of a task's dataset, made where it is not there, and its figures. */
async function dataset(task: LmrlTask, scratch: string): Promise<string> {
  const file = join(scratch, `${task.name}.jsonl`);
  if (existsSync(file)) return file;
  const world = createWorld(await findEnvironment(task.environment), task.set ?? []);
  const { signal } = new AbortController();
  const players = parsePlayers(task.players);
  const rows = await mixedRows(world, { players, episodes: EPISODES, seed: SEED, signal });
  writeRows(file, rows);
  const expert = (await measurePlayer(world, 'expert', EXPERT_EPISODES)).outcome;
  store(dataFile(task.name), { ...returnStatistics(rows), players: task.players, seed: SEED, expert });
  return file;
}

async function run(
  task: LmrlTask,
  method: Method,
  data: string,
  most: number,
  scratch: string,
): Promise<Cell> {
  const { recipe, set } = RUNS[method];
  const options = (task.set ?? []).map((one) => `environment.${one}`);
  const values = method === 'mc-returns' || method === 'ilql' ? valueSettings(task) : [];
  const settings = lastOfEach([
    `seed=${SEED}`,
    'threads=1',
    'evaluation.every=0',
    ...options,
    ...set,
    ...longSettings(task, method),
    ...values,
  ]);
  const shown = `turnwise train ${task.environment} --recipe ${recipe} ${settings.map((one) => `--set ${one}`).join(' ')} --set data=FILE`;
  const runs = join(scratch, `${task.name}-${method}`);
  const words = ['train', task.environment, '--recipe', recipe, '--runs', runs, '--name', 'run', '--json'];
  const began = performance.now();
  const { code, errors } = await ended(
    [...words, ...[...settings, `data=${data}`].flatMap((one) => ['--set', one])],
    most,
  );
  const seconds = (performance.now() - began) / 1000;
  if (code !== 0) {
    const failed = code === null ? `longer than ${most} s` : errors.slice(0, 300);
    return { failed, command: shown, seconds };
  }
  const after = readFileSync(join(runs, 'run', 'events.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { label?: string; sampled?: object })
    .findLast(({ label }) => label === 'after' || label === 'before');
  rmSync(runs, { recursive: true, force: true });
  return cellSchema.parse({ ...after?.sampled, seed: SEED, seconds, command: shown });
}

/** Assignments without those that a later one of the same key replaces. */
function lastOfEach(assignments: readonly string[]): readonly string[] {
  const keyOf = (assignment: string): string => assignment.split('=', 1)[0]!;
  return assignments.filter(
    (one, index) => !assignments.slice(index + 1).some((later) => keyOf(later) === keyOf(one)),
  );
}

/** @returns no code where it was ended for taking too long */
function ended(
  words: readonly string[],
  most: number,
): Promise<{ readonly code: number | null; readonly errors: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [main, ...words], {
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: most * 1000,
      // SIGTERM ends a run after its step, with words of its own.
      killSignal: 'SIGKILL',
    });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.on('close', (code) => resolve({ code, errors }));
  });
}
