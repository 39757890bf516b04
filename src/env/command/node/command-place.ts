/** A working folder in which commands run one after the other, within limits; what they leave behind is removed with it. */

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cp, writeFile } from 'node:fs/promises';
import { missingInterpreter } from '../../runtime/faults.ts';
import { endProcesses, watchProcesses } from '../../runtime/node/processes.ts';
import { Workplace } from '../../runtime/node/workplace.ts';
import { Tail } from './tail.ts';

export interface CommandLimits {
  /** Longest that it may take, in milliseconds. */
  readonly timeMs: number;
  /** Of all its processes together, in bytes. Watched where the system has `/proc`. */
  readonly memoryBytes: number;
  /** Bytes that it may print. */
  readonly outputBytes: number;
}

export type LimitMet = 'time' | 'memory' | 'processes' | 'output';

export interface CommandEnd {
  /** Exit status; undefined where a signal or a limit ended it. */
  readonly status?: number;
  readonly killed?: NodeJS.Signals;
  readonly limit?: LimitMet;
  /** Ends of what it printed. */
  readonly output: string;
  readonly errors: string;
}

/** Kibibytes of the largest file that a process may write. */
const LARGEST_FILE = 256 * 1024;
/** Bytes of its output that are kept. */
const KEPT_OUTPUT = 2 ** 20;
/** How long streams may stay open whose processes are gone: one may have hidden from us. */
const STREAM_GRACE_MS = 500;

/** What timers can count; about 25 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const CALL = 'ulimit -c 0; ulimit -f "$1"; eval "$2"';

export class CommandPlace {
  readonly #place: Workplace;
  readonly #mark = randomUUID();

  private constructor(place: Workplace) {
    this.#place = place;
  }

  static async create(): Promise<CommandPlace> {
    return new CommandPlace(await Workplace.create());
  }

  /** Where commands start. */
  get folder(): string {
    return this.#place.work;
  }

  /** Copy what a folder holds. */
  async fill(from: string): Promise<void> {
    await cp(from, this.#place.work, { recursive: true, verbatimSymlinks: true });
  }

  /** Write a file that the commands see. @throws TurnwiseError `runtime-file` */
  write(path: string, text: string): Promise<void> {
    return this.#place.files.write(path, text);
  }

  /** Write a file beside the working folder. @returns its path */
  async writeBeside(name: string, text: string): Promise<string> {
    const path = this.#place.path(name);
    await writeFile(path, text);
    return path;
  }

  /**
   * Run a command line of a shell, and end with it whatever it started.
   *
   * @param variables beside PATH, HOME, TMPDIR and LANG, which is all that it has of the environment
   * @throws the reason of `signal`; TurnwiseError `runtime-missing-interpreter`
   */
  async run(
    command: string,
    variables: Readonly<Record<string, string>>,
    { timeMs, memoryBytes, outputBytes }: CommandLimits,
    signal: AbortSignal,
  ): Promise<CommandEnd> {
    signal.throwIfAborted();
    const child = spawn(
      'bash',
      ['--noprofile', '--norc', '-c', CALL, 'bash', String(LARGEST_FILE), command],
      {
        detached: true,
        cwd: this.#place.work,
        env: { ...this.#place.environment(this.#mark), ...variables },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const { pid } = child;
    const belongs = { mark: this.#mark, ...(pid && { session: pid }) };
    let limit: LimitMet | undefined;
    const end = (): void => endProcesses(belongs, pid);
    const exceed = (met: LimitMet): void => {
      if (limit !== undefined) return;
      limit = met;
      end();
    };
    let printed = 0;
    const [output, errors] = [child.stdout, child.stderr].map((stream) => {
      const tail = new Tail(KEPT_OUTPUT);
      stream.on('data', (chunk: Buffer) => {
        tail.add(chunk);
        printed += chunk.length;
        if (printed > outputBytes) exceed('output');
      });
      stream.on('error', () => {});
      return tail;
    }) as [Tail, Tail];
    const timer = setTimeout(exceed, Math.min(timeMs, LONGEST_TIMER_MS), 'time');
    const unwatch = watchProcesses(belongs, memoryBytes, exceed);
    signal.addEventListener('abort', end, { once: true });
    try {
      const [status, killed] = (await once(child, 'exit').catch((cause: unknown) => {
        throw missingInterpreter('bash', cause);
      })) as [number | null, NodeJS.Signals | null];
      end();
      await streamsEnd(child);
      signal.throwIfAborted();
      return {
        ...(limit === undefined && status !== null && { status }),
        ...(limit === undefined && killed !== null && { killed }),
        ...(limit !== undefined && { limit }),
        output: output.text(),
        errors: errors.text(),
      };
    } finally {
      clearTimeout(timer);
      unwatch();
      signal.removeEventListener('abort', end);
      end();
      child.stdout.destroy();
      child.stderr.destroy();
    }
  }

  /** Ends what is left of its commands, and removes the folder. */
  async close(): Promise<void> {
    endProcesses({ mark: this.#mark }, undefined);
    await this.#place.remove();
  }
}

/** Until what was printed has been read. */
async function streamsEnd(child: ChildProcess): Promise<void> {
  const open = [child.stdout, child.stderr].filter((stream) => stream && !stream.closed);
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, STREAM_GRACE_MS);
  });
  const closed = Promise.all(open.map((stream) => stream && once(stream, 'close')));
  await Promise.race([closed, enough]).catch(() => undefined);
  clearTimeout(timer);
}
