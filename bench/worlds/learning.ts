/**
 * Whether the shipped environments can be learned as they are shipped: each by its own settings over seeds, on tasks that training
 * never saw. What runs showed is kept in bench/worlds/results, and docs/learned-worlds.md is written from it.
 */

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { testTasksOf } from '../../src/env/tasks/practised.ts';
import { createWorld, environmentNames, findEnvironment } from '../../src/run/load/environments.ts';
import { writeFigures } from './figures.ts';
import { learningPage } from './learning-page.ts';
import { scripted } from './scripted.ts';

const repository = new URL('../../../', import.meta.url).pathname;
const folder = join(repository, 'bench/worlds/results');
const page = join(repository, 'docs/learned-worlds.md');
const main = new URL('../../src/cli/main.js', import.meta.url).pathname;

/** Longest run, in seconds. */
const mostSeconds = 600;
const scriptedEpisodes = 200;

const scoreSchema = z.object({
  episodes: z.int(),
  success: z.number(),
  successInterval: z.tuple([z.number(), z.number()]),
  return: z.number(),
  returnInterval: z.tuple([z.number(), z.number()]),
});
const seedSchema = z.object({
  seed: z.int(),
  steps: z.int(),
  seconds: z.number(),
  before: scoreSchema,
  after: scoreSchema,
});
const meansSchema = z.object({ success: z.number(), outcome: z.number(), turns: z.number() });
const resultSchema = z.object({
  environment: z.string(),
  /** Settings other than those that are shipped: opponents, or start cells that are kept from training. */
  given: z.array(z.string()).default([]),
  /** At which it was run; `and changes` where the tree differed. */
  commit: z.string(),
  recipe: z.string(),
  roles: z.array(z.string()),
  /** Whether training sees test tasks. */
  testTasks: z.enum(['held-out', 'partly', 'practised']),
  scripted: z.partialRecord(z.enum(['random', 'beginner', 'expert']), meansSchema),
  seeds: z.array(seedSchema),
  /** Why a seed has no result. */
  failed: z.array(z.object({ seed: z.int(), reason: z.string() })),
});

/** What one evaluation of 500 episodes, sampled at temperature 1, showed. */
export type Score = z.output<typeof scoreSchema>;
export type SeedResult = z.output<typeof seedSchema>;
export type LearningResult = z.output<typeof resultSchema>;

export interface LearningOptions {
  readonly seeds?: number;
  /** Write the page from what is stored, and run nothing. */
  readonly report: boolean;
}

/** @param names environments, each with settings of its own where it has some: `maze:environment.heldOutStarts=8` */
export async function benchLearning(
  names: readonly string[],
  { seeds = 3, report }: LearningOptions,
): Promise<object> {
  if (!report) for (const name of names.length > 0 ? names : environmentNames) await learn(name, seeds);
  const stored = readResults(folder);
  writeFileSync(page, learningPage(stored));
  writeFigures(repository);
  return { environments: stored.length, page: 'docs/learned-worlds.md' };
}

export function readResults(folder: string): LearningResult[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.sort().map((file) => resultSchema.parse(JSON.parse(readFileSync(join(folder, file), 'utf8'))));
}

async function learn(name: string, count: number): Promise<void> {
  const [environment = '', settings] = name.split(/:(.*)/s);
  const given = settings === undefined ? [] : settings.split(',');
  const own = given.flatMap((setting) => /^environment\.(.*)$/s.exec(setting)?.[1] ?? []);
  const world = createWorld(await findEnvironment(environment), own);
  const waiting = Array.from({ length: count }, (_, index) => index + 1);
  const seeds: SeedResult[] = [];
  const failed: LearningResult['failed'] = [];
  let recipe = '';
  const work = async (): Promise<void> => {
    for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
      const run = await trained(environment, seed, [], given);
      if ('reason' in run) failed.push({ seed, reason: run.reason });
      else {
        recipe = run.recipe;
        seeds.push(run.result);
      }
      process.stderr.write(`${name}, seed ${seed}: ${'reason' in run ? run.reason : told(run.result)}\n`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, availableParallelism()) }, work));
  const result: LearningResult = {
    environment,
    given,
    testTasks: testTasksOf(world),
    commit: commit(),
    recipe,
    roles: [...world.roles],
    scripted: await scripted(world, scriptedEpisodes),
    seeds: seeds.sort((a, b) => a.seed - b.seed),
    failed,
  };
  const file = [environment, ...given].join('-').replaceAll(/[^\w.-]/g, '-');
  writeFileSync(join(folder, `${file}.json`), `${JSON.stringify(result, null, 2)}\n`);
}

const told = ({ before, after, seconds }: SeedResult): string =>
  `success ${before.success.toFixed(3)} → ${after.success.toFixed(3)} in ${Math.round(seconds)} s`;

export type Trained = { readonly recipe: string; readonly result: SeedResult } | { readonly reason: string };

/** One run as a user starts it, with further words of its command and settings. */
export async function trained(
  environment: string,
  seed: number,
  further: readonly string[] = [],
  given: readonly string[] = [],
): Promise<Trained> {
  const runs = mkdtempSync(join(tmpdir(), 'turnwise-learning-'));
  const words = ['train', environment, '--runs', runs, '--name', 'run', '--json', ...further];
  const settings = [`seed=${seed}`, 'threads=1', ...given].flatMap((setting) => ['--set', setting]);
  const began = performance.now();
  try {
    const { code, errors } = await ended([...words, ...settings]);
    const seconds = (performance.now() - began) / 1000;
    if (code !== 0) return { reason: code === null ? `longer than ${mostSeconds} s` : errors.slice(0, 300) };
    const events = readFileSync(join(runs, 'run', 'events.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; label?: string; step?: number; sampled?: unknown });
    const [before, after] = ['before', 'after'].map((label) => events.find((event) => event.label === label));
    const config = JSON.parse(readFileSync(join(runs, 'run', 'config.json'), 'utf8')) as { recipe: string };
    return {
      recipe: config.recipe,
      result: seedSchema.parse({
        seed,
        steps: after?.step,
        seconds,
        before: before?.sampled,
        after: after?.sampled,
      }),
    };
  } finally {
    rmSync(runs, { recursive: true, force: true });
  }
}

/** @returns no code where it was ended for taking too long */
function ended(words: readonly string[]): Promise<{ code: number | null; errors: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [main, ...words], {
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: mostSeconds * 1000,
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

export function commit(): string {
  const git = (...words: string[]): string =>
    execFileSync('git', words, { cwd: repository, encoding: 'utf8' }).trim();
  const own = [
    ':!bench/worlds/results',
    ':!docs/learned-worlds.md',
    ':!docs/environment-figures.md',
    ':!docs/lmrl-gym.md',
    ':!bench/lmrl/results',
  ];
  const isClean = git('status', '--porcelain', '--', '.', ...own) === '';
  return `${git('rev-parse', '--short=8', 'HEAD')}${isClean ? '' : ' and changes'}`;
}
