/** What a comparison will cost, before it runs: its runs, those that are cached, and hours by what cached ones took. */

import { mean } from '../core/statistics.ts';
import type { Job } from './jobs.ts';
import { readRun } from './run-record.ts';
import type { Study } from './study.ts';
import { statusesOnDisk } from './sweep.ts';

export interface PlanRow {
  readonly world: string;
  readonly arm: string;
  readonly runs: number;
  readonly cached: number;
  /** Seconds of one run on one core, evaluations included; null where none has finished. */
  readonly secondsEach: number | null;
}

export interface StudyPlan {
  readonly rows: readonly PlanRow[];
  readonly runs: number;
  readonly cached: number;
  readonly parallel: number;
  /** Of what is left, on so many processes at once; null where no run has finished to judge by. */
  readonly hours: number | null;
}

/** @param jobs of one phase or of several; a run that several arms share is counted once */
export function planOf({ store }: Pick<Study, 'store'>, jobs: readonly Job[], parallel: number): StudyPlan {
  const different = [...new Map(jobs.map((job) => [job.name, job])).values()];
  const finished = new Set(
    [...statusesOnDisk(store, different).values()]
      .filter(({ state }) => state === 'finished' || state === 'diverged')
      .map(({ job }) => job.name),
  );
  const keyOf = ({ kind, world, arm }: Job): string =>
    JSON.stringify([world, kind === 'start' ? 'warm start' : arm]);
  const rows = [...new Set(different.map(keyOf))].map((key): PlanRow => {
    const [world, arm] = JSON.parse(key) as [string, string];
    const own = different.filter((job) => keyOf(job) === key);
    // A start that has to be run again still says how long it takes.
    const seconds = own.flatMap(({ name }) => {
      const run = readRun(store, name);
      return run && (run.finished || finished.has(name)) ? [run.wallSeconds] : [];
    });
    return {
      ...{ world, arm, runs: own.length, cached: own.filter(({ name }) => finished.has(name)).length },
      secondsEach: seconds.length === 0 ? null : mean(seconds),
    };
  });
  // An arm that never ran is taken for as costly as the dearest that did.
  const known = rows.flatMap(({ arm, secondsEach }) =>
    secondsEach === null || arm === 'warm start' ? [] : secondsEach,
  );
  const guess = known.length === 0 ? null : Math.max(...known);
  const left = rows.map(({ runs, cached, secondsEach }) => {
    const each = secondsEach ?? guess;
    return runs === cached ? 0 : each === null ? null : (runs - cached) * each;
  });
  const hours = left.some((seconds) => seconds === null)
    ? null
    : left.reduce<number>((sum, seconds) => sum + seconds!, 0) / 3600 / parallel;
  return { rows, runs: different.length, cached: finished.size, parallel, hours };
}
