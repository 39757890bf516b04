/** Runs the jobs of a comparison: some at a time, those that depend on others after them, finished ones not again. */

import { version } from '../../run/version.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { runNames } from '../../store/runs.ts';
import { spentShare } from '../../train/budget.ts';
import type { StoredEvent } from '../../train/events.ts';
import { runHistory } from '../run-history.ts';
import type { Children, Problem } from './child-run.ts';
import type { Job, Plan } from './plan.ts';

export interface JobStatus {
  readonly job: Job;
  readonly state: 'waiting' | 'running' | 'finished' | 'failed' | 'stopped';
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
  readonly plan: Plan;
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
  const { plan, parallel, children, onChange, stopRequested } = request;
  const statuses = new Map(plan.jobs.map((job) => [job.name, statusOnDisk(plan, job)]));
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
    const tracker = new Tracker(job, stepsOnDisk(plan, job));
    const problem = await children.run(wordsFor(plan, job), (event) => {
      const change = tracker.take(event);
      if (change) update(job.name, change);
    });
    if (problem === undefined) update(job.name, { state: 'finished', share: 1 });
    else if (stopRequested()) update(job.name, { state: 'stopped' });
    else update(job.name, { state: 'failed', problem });
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

function statusOnDisk(plan: Plan, job: Job): JobStatus {
  if (!runNames(plan.folder).includes(job.name)) return { job, state: 'waiting', share: 0, turns: 0 };
  const { finish, evaluations } = historyOf(plan, job);
  if (finish) {
    const success = evaluations.at(-1)?.sampled.success;
    return {
      job,
      state: 'finished',
      share: 1,
      turns: 0,
      old: true,
      ...(success !== undefined && { success }),
    };
  }
  return { job, state: 'waiting', share: new Tracker(job, stepsOnDisk(plan, job)).share, turns: 0 };
}

/** What the run of a job has reported so far. */
export function historyOf({ folder }: Plan, { name }: Job): ReturnType<typeof runHistory> {
  return runHistory(RunDirectory.openForReading({ root: folder, name, version }).events.read());
}

function stepsOnDisk(plan: Plan, job: Job): readonly StepEvent[] {
  return runNames(plan.folder).includes(job.name) ? historyOf(plan, job).steps : [];
}

/** Continue what a killed sweep has begun. */
function wordsFor(plan: Plan, { name, words }: Job): readonly string[] {
  return runNames(plan.folder).includes(name) ? ['resume', name, '--runs', plan.folder] : words;
}

type StepEvent = Extract<StoredEvent, { readonly type: 'step' }>;

/** From events of one run to what is shown of it. */
class Tracker {
  readonly #job: Job;
  #turnsBefore = 0;
  share = 0;

  constructor(job: Job, earlier: readonly StepEvent[]) {
    this.#job = job;
    const last = earlier.at(-1);
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

  #shareAt({ step, spent }: StepEvent): number {
    return Math.min(1, spentShare(this.#job.config, { step, ...spent }));
  }
}
