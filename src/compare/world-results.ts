/** What the runs of a study came to, seed by seed: read from the disk where their budget ends. */

import type { Problem } from './child-run.ts';
import type { Job } from './jobs.ts';
import {
  figuresOf,
  type Quantity,
  type Reading,
  type RunFigures,
  type RunRecord,
  readRun,
} from './run-record.ts';
import type { Study } from './study.ts';
import { type JobStatus, statusOnDisk } from './sweep.ts';

/** The success that `cost` is measured to. */
export const costLevel = 0.8;

/** One run that finished or diverged, or the reason why there is none. */
export interface SeedResult {
  readonly seed: number;
  readonly name: string;
  readonly run?: RunRecord;
  readonly figures?: RunFigures;
  /** It ended before its budget because it computed no numbers any more: its last evaluation counts. */
  readonly diverged?: true;
  readonly problem?: Problem;
}

export interface ArmResult {
  readonly arm: string;
  readonly rate?: number;
  readonly seeds: readonly SeedResult[];
}

export interface WorldResult {
  readonly world: string;
  readonly reading: Reading;
  readonly arms: readonly ArmResult[];
}

/**
 * Every world of a study, read where its budget ends.
 *
 * @param failed what was told of runs that failed: the disk does not know why
 */
export function worldResults(
  study: Study,
  jobs: readonly Job[],
  failed: readonly JobStatus[] = [],
): readonly WorldResult[] {
  const problems = new Map(failed.flatMap(({ job, problem }) => (problem ? [[job.name, problem]] : [])));
  return study.worlds.map(({ name }) => {
    const own = jobs.filter(({ kind, world }) => kind === 'run' && world === name);
    const found = new Map(own.map((job) => [job, foundRun(study, job)]));
    const runs = [...found.values()].flatMap(({ run }) => run ?? []);
    const reading = readingOf(study, runs);
    const keys = [...new Map(own.map((job) => [`${job.arm}\0${job.rate}`, job])).values()];
    return {
      world: name,
      reading,
      arms: keys.map(({ arm, rate }) => ({
        arm,
        ...(rate !== undefined && { rate }),
        seeds: own
          .filter((job) => job.arm === arm && job.rate === rate)
          .map((job) => seedResult(job, found.get(job)!, reading, problems.get(job.name))),
      })),
    };
  });
}

interface Found {
  readonly status: JobStatus;
  readonly run?: RunRecord;
}

function foundRun({ store }: Study, job: Job): Found {
  const status = statusOnDisk(store, job);
  const counts = status.state === 'finished' || status.state === 'diverged';
  const run = counts ? readRun(store, job.name) : undefined;
  return { status, ...(run && { run }) };
}

function seedResult(
  { seed, name }: Job,
  { status, run }: Found,
  reading: Reading,
  problem = status.problem,
): SeedResult {
  const figures = run && figuresOf(run, reading);
  return {
    seed,
    name,
    ...(run && { run }),
    ...(figures && { figures }),
    ...(status.state === 'diverged' && { diverged: true as const }),
    ...(problem && { problem }),
  };
}

/** Where nothing but steps ends runs, curves are read over environment steps as far as every run went. */
function readingOf({ budget }: Study, runs: readonly RunRecord[]): Reading {
  const game = runs.some(({ points }) => points.some(({ exploitability }) => exploitability !== undefined));
  const quantity: Quantity = game ? 'exploitability' : 'success';
  if (budget !== undefined && budget.axis !== 'steps') {
    return { quantity, axis: budget.axis, end: budget.amount };
  }
  const ends = runs.flatMap(({ points }) => points.at(-1)?.spent.turns ?? []);
  return { quantity, axis: 'turns', end: ends.length === 0 ? 0 : Math.min(...ends) };
}

export function armOf({ arms }: WorldResult, name: string, rate?: number): ArmResult | undefined {
  return arms.find((result) => result.arm === name && (rate === undefined || result.rate === rate));
}
