/** The command line in a process of its own, which can be read, weighed, halted and disturbed. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = join(import.meta.dirname, '..', '..');
const commandLine = join(root, 'src', 'cli', 'main.js');
const disturbance = join(import.meta.dirname, 'disturbance.js');
const collecting = join(import.meta.dirname, 'collecting.js');

/** Enough for the message at the end of a process. */
const KEPT_OUTPUT = 20_000;
const WAIT_MS = 120_000;

export interface Ended {
  readonly code: number | null;
  /** The end of both streams. */
  readonly output: string;
}

export class Child {
  readonly ended: Promise<Ended>;
  output = '';
  readonly #process: ChildProcess;
  #over = false;

  private constructor(line: readonly string[], folder: string, variables: Readonly<Record<string, string>>) {
    this.#process = spawn(process.execPath, [...line], {
      cwd: folder,
      env: { ...process.env, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#process.stdout!, this.#process.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output = (this.output + text).slice(-KEPT_OUTPUT);
      });
    }
    this.ended = once(this.#process, 'close').then(([code]) => {
      this.#over = true;
      return { code: code as number | null, output: this.output };
    });
  }

  /** `turnwise LINE`. @param disturbed a part of disturbance.ts, and its number */
  static turnwise(
    line: readonly string[],
    folder: string,
    disturbed?: Readonly<Record<string, string>>,
  ): Child {
    const loads = disturbed === undefined ? [] : ['--import', disturbance];
    return new Child([...loads, commandLine, ...line], folder, disturbed ?? {});
  }

  /** `turnwise LINE`, which keeps no garbage: to be weighed. */
  static collected(line: readonly string[], folder: string): Child {
    return new Child(['--expose-gc', '--import', collecting, commandLine, ...line], folder, {});
  }

  /** A module of this folder. */
  static module(name: string, line: readonly string[], folder: string): Child {
    return new Child([join(import.meta.dirname, name), ...line], folder, {});
  }

  /** The first match in what it writes. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (const until = performance.now() + WAIT_MS; performance.now() < until; await sleep(50)) {
      const match = pattern.exec(this.output);
      if (match) return match;
      if (this.#over) break;
    }
    throw new Error(`${pattern} is not in the output:\n${this.output}`);
  }

  get megabytes(): number {
    return this.#over
      ? Number.NaN
      : Number(execFileSync('ps', ['-o', 'rss=', '-p', String(this.#process.pid)])) / 1024;
  }

  get over(): boolean {
    return this.#over;
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  async stop(): Promise<Ended> {
    this.signal('SIGINT');
    return await this.ended;
  }
}
