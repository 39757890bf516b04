/** Runs jobs: some at a time, those that depend on others after them, finished ones not again. */

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { realDisk } from '../store/disk.ts';
import { runNames } from '../store/runs.ts';
import { spentShare } from '../train/loop/budget.ts';
import type { StoredEvent } from '../train/loop/events.ts';
import type { Children, Problem } from './child-run.ts';
import type { Job } from './jobs.ts';
import { type RunRecord, readRun } from './run-record.ts';

export interface JobStatus {
  readonly job: Job;
  /** `diverged`: what it computed was no number any more; it is not run again, and counts with its last evaluation. */
  readonly state: 'waiting' | 'running' | 'finished' | 'diverged' | 'failed' | 'stopped';
  /** Of its budget, 0 to 1. */
  readonly share: number;
  /** Environment steps taken by this process. */
  readonly turns: number;
  /** Of the last evaluation. */
  readonly success?: number;
  readonly problem?: Problem;
  /** Finished before this process began. */
  readonly old?: true;
}

export interface SweepRequest {
  /** Those with one name are one run. */
  readonly jobs: readonly Job[];
  /** Folder of their runs. */
  readonly store: string;
  /** Processes at once. */
  readonly parallel: number;
  readonly children: Children;
  /** Called at every change, with all jobs in order. */
  readonly onChange: (changed: JobStatus, all: readonly JobStatus[]) => void;
  /** Begin nothing new. */
  readonly stopRequested: () => boolean;
}

/** Run everything that is not finished; resolves when nothing runs any more. Failures are states, not errors. */
export async function runSweep(request: SweepRequest): Promise<readonly JobStatus[]> {
  const { jobs, store, parallel, children, onChange, stopRequested } = request;
  const statuses = statusesOnDisk(store, jobs);
  for (const { state, job } of statuses.values()) {
    const emptied = state === 'waiting' && readRun(store, job.name)?.finished;
    if (emptied) rmSync(join(store, job.name), { recursive: true });
  }
  const update = (name: string, change: Partial<JobStatus>): void => {
    const changed = { ...statuses.get(name)!, ...change };
    statuses.set(name, changed);
    onChange(changed, [...statuses.values()]);
  };
  /** The next job that can begin; jobs whose warm start failed fail with it. */
  const next = (): JobStatus | undefined => {
    for (const status of statuses.values()) {
      if (status.state !== 'waiting') continue;
      const before = status.job.after === undefined ? undefined : statuses.get(status.job.after)!;
      if (before === undefined || before.state === 'finished') return status;
      if (before.state === 'failed' || before.state === 'stopped') {
        const problem = before.problem && {
          code: before.problem.code,
          message: `Its warm start failed: ${before.problem.message}`,
        };
        update(status.job.name, { state: before.state, ...(problem && { problem }) });
      }
    }
    return undefined;
  };
  const work = async ({ job }: JobStatus): Promise<void> => {
    update(job.name, { state: 'running' });
    const tracker = new Tracker(job, readRun(store, job.name));
    const problem = await children.run(
      () => wordsFor(store, job),
      (event) => {
        const change = tracker.take(event);
        if (change) update(job.name, change);
      },
    );
    const { state } = statusOnDisk(store, job);
    // Another comparison may have finished it meanwhile.
    if (problem === undefined || state === 'finished') update(job.name, { state: 'finished', share: 1 });
    else if (state === 'diverged') update(job.name, { state, share: 1, problem });
    else if (stopRequested()) update(job.name, { state: 'stopped' });
    else {
      if (divergences.has(problem.code)) markDiverged(store, job, problem);
      update(job.name, { state: divergences.has(problem.code) ? 'diverged' : 'failed', problem });
    }
  };
  const running = new Set<Promise<void>>();
  for (;;) {
    const job = running.size < parallel && !stopRequested() ? next() : undefined;
    if (job) {
      const one = work(job).finally(() => running.delete(one));
      running.add(one);
    } else if (running.size > 0) {
      await Promise.race(running);
    } else {
      break;
    }
  }
  return [...statuses.values()];
}

/** What an arm does to itself; everything else that ends a run is an accident, and the run is repeated. */
const divergences: ReadonlySet<string> = new Set([
  'non-finite-loss',
  'non-finite-logits',
  'advantage-not-finite',
]);

const divergedFile = (store: string, { name }: Job): string => join(store, name, 'diverged.json');

function markDiverged(store: string, job: Job, problem: Problem): void {
  realDisk.replaceFile(divergedFile(store, job), `${JSON.stringify(problem)}\n`);
}

export function statusOnDisk(store: string, job: Job): JobStatus {
  const run = readRun(store, job.name);
  if (run === undefined) return { job, state: 'waiting', share: 0, turns: 0 };
  const success = run.points.at(-1)?.success;
  const done = { job, share: 1, turns: 0, old: true, ...(success !== undefined && { success }) } as const;
  if (run.finished) return { ...done, state: 'finished' };
  if (existsSync(divergedFile(store, job))) {
    const problem = JSON.parse(readFileSync(divergedFile(store, job), 'utf8')) as Problem;
    return { ...done, state: 'diverged', problem };
  }
  return { job, state: 'waiting', share: new Tracker(job, run).share, turns: 0 };
}

/**
 * By name. A warm start whose checkpoint was removed waits to be run again where a run waits for it: nothing else
 * of a finished run is.
 */
export function statusesOnDisk(store: string, jobs: readonly Job[]): Map<string, JobStatus> {
  const statuses = new Map(jobs.map((job) => [job.name, statusOnDisk(store, job)]));
  for (const { state, job } of [...statuses.values()]) {
    const start = state === 'waiting' ? statuses.get(job.after ?? '') : undefined;
    if (start?.state !== 'finished' || hasWeights(store, start.job)) continue;
    statuses.set(start.job.name, { job: start.job, state: 'waiting', share: 0, turns: 0 });
  }
  return statuses;
}

/** Whether a warm start still has its checkpoint: whoever needs room on a disk removes those first. */
const hasWeights = (store: string, { name }: Job): boolean =>
  existsSync(join(store, name, 'checkpoints', '0'));

/** Continue what a killed sweep has begun. */
function wordsFor(store: string, { name, words }: Job): readonly string[] {
  return runNames(store).includes(name) ? ['resume', name, '--runs', store] : words;
}

type StepEvent = Extract<StoredEvent, { readonly type: 'step' }>;

/** From events of one run to what is shown of it. */
class Tracker {
  readonly #job: Job;
  #turnsBefore = 0;
  share = 0;

  constructor(job: Job, earlier: RunRecord | undefined) {
    this.#job = job;
    const last = earlier?.steps.at(-1);
    if (last === undefined) return;
    this.#turnsBefore = last.spent.turns;
    this.share = this.#shareAt(last);
  }

  take(event: StoredEvent): Partial<JobStatus> | undefined {
    switch (event.type) {
      case 'clone':
        if (this.#job.kind === 'start') this.share = (0.9 * event.step) / event.steps;
        return { share: this.share };
      case 'step':
        this.share = this.#shareAt(event);
        return { share: this.share, turns: event.spent.turns - this.#turnsBefore };
      case 'evaluation':
        return { success: event.sampled.success };
      default:
        return undefined;
    }
  }

  #shareAt({ step, spent }: Pick<StepEvent, 'step' | 'spent'>): number {
    return Math.min(1, spentShare(this.#job.config, { step, ...spent }));
  }
}
