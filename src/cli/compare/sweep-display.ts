/** Shows a comparison while it runs: what ended stays, what runs is repainted or told every few seconds. */

import type { JobStatus } from '../../compare/sweep.ts';
import { type Console, type Paint, padEnd, painter } from '../../show/console.ts';
import { formatCount, formatScore, formatSeconds } from '../../show/format.ts';
import { paintedBar, RepaintedBlock } from '../terminal/repaint.ts';

export interface SweepDisplay {
  show(changed: JobStatus, all: readonly JobStatus[]): void;
  say(line: string): void;
  close(): void;
}

export interface SweepDisplayOptions {
  readonly json: boolean;
  /** Milliseconds since any fixed moment. */
  readonly now: () => number;
}

export function sweepDisplay(console: Console, { json, now }: SweepDisplayOptions): SweepDisplay {
  if (json) return jsonDisplay(console);
  return console.interactive ? new Repainted(console, now) : new Told(console, now);
}

function jsonDisplay(console: Console): SweepDisplay {
  const told = new Map<string, JobStatus['state']>();
  return {
    show: ({ job, state, problem }) => {
      if (told.get(job.name) === state) return;
      told.set(job.name, state);
      const { name, kind, world, arm, seed, rate } = job;
      const place = { name, world, ...(kind === 'run' && { arm, ...(rate !== undefined && { rate }) }) };
      console.write(
        `${JSON.stringify({ type: kind, ...place, seed, state, ...(problem && { problem }) })}\n`,
      );
    },
    say: (line) => console.writeError(`${line}\n`),
    close: () => undefined,
  };
}

/** The whole: what is done, how fast, how long still. Judged by what jobs of each kind have cost since this began. */
class Pace {
  readonly #began: number;
  /** When each running job began here, and what of it was done by then. */
  readonly #begun = new Map<string, { readonly at: number; readonly share: number }>();
  readonly #cost = new Map<string, { seconds: number; share: number }>();
  #processes = 1;

  constructor(now: number) {
    this.#began = now;
  }

  line(all: readonly JobStatus[], now: number): { readonly share: number; readonly text: string } {
    for (const one of all) this.#measure(one, now);
    const starts = this.#left(all, 'start');
    const runs = this.#left(all, 'run');
    const [left, done] = [starts.left + runs.left, starts.done + runs.done];
    const seconds = (now - this.#began) / 1000;
    const turns = all.reduce((sum, one) => sum + one.turns, 0);
    const parts = [
      // Warm starts are runs too, and --plan counts them.
      `${starts.finished + runs.finished} of ${starts.count + runs.count} runs`,
      ...(turns > 0 && seconds > 1 ? [`${formatCount(turns / seconds)} environment steps/s`] : []),
      ...(runs.known && left > 0 ? [`${formatSeconds(left / this.#processes)} left`] : []),
    ];
    return { share: done / (done + left || 1), text: parts.join(' · ') };
  }

  #measure({ job, state, share }: JobStatus, now: number): void {
    const begun = this.#begun.get(job.name);
    if (state === 'running' && begun === undefined) this.#begun.set(job.name, { at: now, share });
    if (state === 'waiting' || begun === undefined) return;
    this.#cost.set(job.name, { seconds: (now - begun.at) / 1000, share: share - begun.share });
    if (state !== 'running') this.#begun.delete(job.name);
    this.#processes = Math.max(this.#processes, this.#begun.size);
  }

  /** Seconds of work done and left in jobs of a kind; where none has got anywhere yet, a job counts as one second. */
  #left(all: readonly JobStatus[], kind: 'start' | 'run') {
    const jobs = all.filter(({ job }) => job.kind === kind);
    const costs = jobs.flatMap(({ job }) => this.#cost.get(job.name) ?? []);
    const [seconds, share] = [
      sumOf(costs.map((cost) => cost.seconds)),
      sumOf(costs.map((cost) => cost.share)),
    ];
    const known = share > 0.05;
    const each = known ? seconds / share : kind === 'run' ? 1 : 0.2;
    // What failed will not be run, so it is not waited for.
    const shareDone = sumOf(jobs.map((one) => (one.state === 'failed' ? 1 : one.share)));
    return {
      count: jobs.length,
      finished: jobs.filter(({ state }) => state === 'finished').length,
      known: known || shareDone === jobs.length,
      done: each * shareDone,
      left: each * (jobs.length - shareDone),
    };
  }
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

function labelOf({ job: { kind, world, arm, rate, seed } }: JobStatus): string {
  const at = rate === undefined ? '' : ` at ${Number(rate.toPrecision(3))}`;
  return kind === 'start' ? `warm start, ${world} ${seed}` : `${arm}${at}, ${world} ${seed}`;
}

/** A line for a job that ended or was found to have ended; nothing for others. */
function endLine(status: JobStatus, paint: Paint): string | undefined {
  const { state, success, problem, old } = status;
  const label = padEnd(labelOf(status), 32);
  const worth = success === undefined ? '' : `success ${formatScore(success)}`;
  switch (state) {
    case 'finished':
      return `  ${paint('green', '✓')} ${label} ${worth}${old ? paint('dim', ', finished before') : ''}`;
    case 'diverged':
      return `  ${paint('yellow', '!')} ${label} ${paint('yellow', 'diverged')} ${problem?.message ?? ''}`;
    case 'failed':
      return `  ${paint('red', '✗')} ${label} ${paint('red', 'failed')} ${problem?.message ?? ''} ${paint('dim', `(${problem?.code})`)}`;
    case 'stopped':
      return `  ${paint('yellow', '◌')} ${label} stopped, to be continued`;
    default:
      return undefined;
  }
}

const repaintEveryMs = 200;
const lineEveryMs = 10_000;

class Repainted implements SweepDisplay {
  readonly #console: Console;
  readonly #block: RepaintedBlock;
  readonly #paint: Paint;
  readonly #now: () => number;
  readonly #pace: Pace;
  readonly #ended = new Set<string>();
  #paintedAt = Number.NEGATIVE_INFINITY;
  #all: readonly JobStatus[] = [];

  constructor(console: Console, now: () => number) {
    this.#console = console;
    this.#block = new RepaintedBlock(console);
    this.#paint = painter(console.colour);
    this.#now = now;
    this.#pace = new Pace(now());
  }

  show(changed: JobStatus, all: readonly JobStatus[]): void {
    this.#all = all;
    const line = this.#ended.has(changed.job.name) ? undefined : endLine(changed, this.#paint);
    if (line !== undefined) this.#ended.add(changed.job.name);
    const now = this.#now();
    if (line === undefined && now - this.#paintedAt < repaintEveryMs) return;
    this.#paintedAt = now;
    this.#block.paint(line === undefined ? '' : `${line}\n`, this.#lines(now));
  }

  say(line: string): void {
    this.#block.paint(`${line}\n`, this.#lines(this.#now()));
  }

  close(): void {
    this.#block.paint('', []);
  }

  #lines(now: number): string[] {
    const paint = this.#paint;
    const width = Math.min(this.#console.columns, 80);
    const { share, text } = this.#pace.line(this.#all, now);
    const running = this.#all.filter(({ state }) => state === 'running');
    return [
      '',
      ...running.map((status) => {
        const worth = status.success === undefined ? '' : ` success ${formatScore(status.success)}`;
        return `  ${padEnd(labelOf(status), 32)}${paintedBar(status.share, width - 50, paint)}${worth}`;
      }),
      `  ${padEnd('all', 32)}${paintedBar(share, width - 50, paint)} ${Math.floor(100 * share)}%`,
      `  ${paint('dim', text)}`,
    ];
  }
}

class Told implements SweepDisplay {
  readonly #console: Console;
  readonly #paint: Paint;
  readonly #now: () => number;
  readonly #pace: Pace;
  readonly #ended = new Set<string>();
  #wroteAt: number;

  constructor(console: Console, now: () => number) {
    this.#console = console;
    this.#paint = painter(console.colour);
    this.#now = now;
    this.#pace = new Pace(now());
    this.#wroteAt = now();
  }

  show(changed: JobStatus, all: readonly JobStatus[]): void {
    const line = this.#ended.has(changed.job.name) ? undefined : endLine(changed, this.#paint);
    const now = this.#now();
    const { share, text } = this.#pace.line(all, now);
    if (line !== undefined) {
      this.#ended.add(changed.job.name);
      this.#console.write(`${line}\n`);
    } else if (now - this.#wroteAt >= lineEveryMs) {
      this.#wroteAt = now;
      this.#console.write(`    ${Math.floor(100 * share)}% · ${text}\n`);
    }
  }

  say(line: string): void {
    this.#console.write(`${line}\n`);
  }

  close(): void {}
}
