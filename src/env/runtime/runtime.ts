/** Where code runs that an agent wrote: one contract for JavaScript, Python and a shell. */

import type { Json } from '../../core/json/json.ts';
import type { SnapshotCost } from '../session.ts';

export interface RuntimeLimits {
  /** Longest that a call may take, in milliseconds. */
  readonly timeMs: number;
  /** Memory of the interpreter, in bytes. */
  readonly memoryBytes: number;
  /** Characters of output that are kept of a call. */
  readonly outputLength: number;
}

/** Limits of one call, under those of the runtime, and what gives it up. */
export interface CallLimits extends Partial<Pick<RuntimeLimits, 'timeMs' | 'outputLength'>> {
  readonly signal?: AbortSignal;
}

export interface RunResult {
  /** What the code printed, then the value of its last expression, where there is one. */
  readonly output: string;
  /** That value, where it is JSON; of a shell the exit status. */
  readonly value?: Json;
  /** What the code raised, or the limit that it met. The fault of the code, so an agent may read it. */
  readonly error?: string;
}

/** Text files that the code sees. Paths are relative; none leads outside. */
export interface RuntimeFiles {
  /** @throws TurnwiseError `runtime-file` */
  read(path: string): Promise<string>;
  /** @throws TurnwiseError `runtime-file` */
  write(path: string, text: string): Promise<void>;
  /** All of them, sorted. */
  list(): Promise<readonly string[]>;
}

/**
 * An interpreter whose variables persist from call to call. A call that meets its limit or breaks the interpreter is
 * undone: variables are as before it. Calls follow one another, whoever waits for them.
 *
 * @example
 * const python = await createRuntime('python', { timeMs: 2000 });
 * await python.inject('xs', [3, 1, 2]);
 * await python.run('xs.sort()\nxs[0]'); // { output: '1', value: 1 }
 * await python.take('xs'); // [1, 2, 3]
 * await python.close();
 */
export interface Runtime {
  readonly language: Language;
  /** Of a fork. */
  readonly cost: SnapshotCost;
  /**
   * Run code. What it does wrong stands in `error`.
   *
   * @throws the reason of `signal`; TurnwiseError where the runtime itself failed, which says nothing about the code
   */
  run(code: string, limits?: CallLimits): Promise<RunResult>;
  /** Set a variable. In a shell, what is no string arrives as its JSON text. @throws TurnwiseError `runtime-name` */
  inject(name: string, value: Json): Promise<void>;
  /** The value of a variable; undefined where there is none, or none that is JSON. @throws TurnwiseError `runtime-name` */
  take(name: string): Promise<Json | undefined>;
  /** An independent copy, with the same variables and files. */
  fork(): Promise<Runtime>;
  readonly files: RuntimeFiles;
  /** Ends it, and everything that it started. */
  close(): Promise<void>;
}

export type Language = 'javascript' | 'python' | 'shell';

export const DEFAULT_LIMITS: RuntimeLimits = {
  timeMs: 10_000,
  memoryBytes: 512 * 2 ** 20,
  outputLength: 10_000,
};

/** The first `limit` characters, and how many more there were. */
export function cutOutput(output: string, limit: number, length: number = output.length): string {
  return length <= limit ? output : `${output.slice(0, limit)}\n… ${length - limit} more characters`;
}
