/** A shell as a runtime: each call is a bash of its own, which begins with the variables and the folder that the last one left. */

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, open, rename, rm, writeFile } from 'node:fs/promises';
import type { Json } from '../../../core/json/json.ts';
import { shellWord } from '../../../core/shell.ts';
import { closedRuntime, missingInterpreter, requireName } from '../faults.ts';
import { type CallLimits, cutOutput, type RunResult, type Runtime, type RuntimeLimits } from '../runtime.ts';
import { Turns } from '../turns.ts';
import { OWNER_MARK } from './keeper.ts';
import { endProcesses, limitError, MARK, watchProcesses } from './processes.ts';
import { Workplace } from './workplace.ts';

/** Kibibytes of the largest file that a process may write. */
const LARGEST_FILE = 64 * 1024;

/**
 * `$1` is the folder beside the work, `$2` and `$3` the limits of memory and files in kibibytes, `$4` and `$5` the marks. What
 * was saved may be of the shell that this one was forked from, so that places and marks are set after it was read.
 */
const CALL = `
ulimit -c 0; ulimit -v "$2" 2>/dev/null; ulimit -f "$3"
if [ -f "$1/state" ]; then . "$1/state" 2>/dev/null; fi
__turnwise_place=$1
export HOME="$1/work" TMPDIR="$1/work" ${MARK}="$4" ${OWNER_MARK}="$5"
cd -- "$1/work/\${__turnwise_at-}" 2>/dev/null || cd -- "$1/work" || exit
shift 5
__turnwise_save() {
  case $PWD/ in
    "$HOME"/*) __turnwise_at=\${PWD#"$HOME"} ;;
    *) __turnwise_at= ;;
  esac
  { declare -p; declare -f; alias -p; set +o; shopt -p; } >"$__turnwise_place/next" 2>/dev/null
}
trap '__turnwise_status=$?; __turnwise_save; exit $__turnwise_status' EXIT
. "$__turnwise_place/code"`;

export class ShellRuntime implements Runtime {
  readonly language = 'shell';
  readonly cost = 'process';
  readonly #place: Workplace;
  readonly #limits: RuntimeLimits;
  readonly #turns = new Turns();
  readonly #mark = randomUUID();
  #closed = false;

  private constructor(place: Workplace, limits: RuntimeLimits) {
    this.#place = place;
    this.#limits = limits;
  }

  static async create(limits: RuntimeLimits): Promise<ShellRuntime> {
    return new ShellRuntime(await Workplace.create(), limits);
  }

  get files(): Workplace['files'] {
    return this.#place.files;
  }

  run(code: string, limits: CallLimits = {}): Promise<RunResult> {
    return this.#turns.next(() => this.#run(code, limits));
  }

  async #run(code: string, { signal, ...given }: CallLimits): Promise<RunResult> {
    signal?.throwIfAborted();
    if (this.#closed) throw closedRuntime();
    const { timeMs, memoryBytes, outputLength } = { ...this.#limits, ...given };
    const place = this.#place;
    await writeFile(place.path('code'), `${code}\n`);
    const output = await open(place.path('output'), 'w');
    const belongs = (pid: number | undefined) => ({ mark: this.#mark, ...(pid && { session: pid }) });
    let limit: 'time' | 'memory' | 'processes' | undefined;
    let pid: number | undefined;
    const end = (): void => endProcesses(belongs(pid), pid);
    try {
      const kibibytes = Math.ceil(memoryBytes / 1024);
      const args = [place.folder, kibibytes, LARGEST_FILE, this.#mark, place.owner].map(String);
      const child = spawn('bash', ['--noprofile', '--norc', '-c', CALL, 'bash', ...args], {
        detached: true,
        cwd: place.work,
        env: place.environment(this.#mark),
        stdio: ['ignore', output.fd, output.fd],
      });
      const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
      pid = child.pid;
      const exceed = (met: 'time' | 'memory' | 'processes'): void => {
        limit ??= met;
        end();
      };
      const timer = setTimeout(exceed, timeMs, 'time');
      const unwatch = watchProcesses(belongs(pid), 2 * memoryBytes, exceed);
      signal?.addEventListener('abort', end, { once: true });
      try {
        const [status, killed] = await exited.catch((cause: unknown) => {
          throw missingInterpreter('bash', cause);
        });
        signal?.throwIfAborted();
        const said = await place.output('output', outputLength);
        if (limit !== undefined) return { output: said, error: limitError(limit, timeMs) };
        if (killed !== null) return { output: said, error: `Crash: the shell was ended by ${killed}` };
        if (existsSync(place.path('next'))) await rename(place.path('next'), place.path('state'));
        return {
          output: said,
          value: status,
          ...(status !== 0 && { error: `ExitStatus: the last command ended with ${status}` }),
        };
      } finally {
        clearTimeout(timer);
        unwatch();
        signal?.removeEventListener('abort', end);
      }
    } finally {
      // Also what it left in the background.
      end();
      await output.close();
      await rm(place.path('next'), { force: true });
    }
  }

  async inject(name: string, value: Json): Promise<void> {
    requireName(name);
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    await this.run(`${name}=${shellWord(text)}`);
  }

  async take(name: string): Promise<Json | undefined> {
    requireName(name);
    const path = this.#place.path('taken');
    const { value } = await this.run(`[ -n "\${${name}+set}" ] && printf %s "$${name}" >${shellWord(path)}`);
    if (value !== 0) return undefined;
    const limit = 2 ** 20;
    return this.#place.output('taken', limit).then((text) => cutOutput(text, limit));
  }

  fork(): Promise<Runtime> {
    return this.#turns.next(async () => {
      if (this.#closed) throw closedRuntime();
      const place = await this.#place.copy();
      const state = this.#place.path('state');
      if (existsSync(state)) await copyFile(state, place.path('state'));
      return new ShellRuntime(place, this.#limits);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    endProcesses({ mark: this.#mark }, undefined);
    await this.#turns.next(() => this.#place.remove());
  }
}
