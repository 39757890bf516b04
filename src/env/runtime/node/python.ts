/** Python as a runtime: a process whose calls are forks, so that a call can be undone and a copy costs no repetition. */

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import type { Json } from '../../../core/json/json.ts';
import { closedRuntime, lostRuntime, missingInterpreter, requireName } from '../faults.ts';
import { PYTHON_DRIVER } from '../python-driver.ts';
import type { CallLimits, RunResult, Runtime, RuntimeLimits } from '../runtime.ts';
import { Turns } from '../turns.ts';
import { Channel, type Said } from './channel.ts';
import { endProcesses, limitError, watchProcesses } from './processes.ts';
import { Workplace } from './workplace.ts';

const START_LIMIT_MS = 20_000;
/** How long whoever waited for a call may take to say that it was ended. */
const GRACE_MS = 2000;
const LARGEST_FILE = 64 * 2 ** 20;

/** A process, and the session that everything it starts is in. */
interface Interpreter {
  readonly channel: Channel;
  readonly session: number;
  /** The process that has the variables now. */
  pid: number;
}

/** Copies of one origin: they share the mark in their environment, which outlives none of them. */
interface Family {
  readonly mark: string;
  members: number;
}

export class PythonRuntime implements Runtime {
  readonly language = 'python';
  readonly cost = 'process';
  readonly #place: Workplace;
  readonly #limits: RuntimeLimits;
  readonly #family: Family;
  readonly #turns = new Turns();
  #interpreter: Interpreter | undefined;
  #closed = false;

  private constructor(place: Workplace, limits: RuntimeLimits, family: Family, interpreter?: Interpreter) {
    this.#place = place;
    this.#limits = limits;
    this.#family = family;
    this.#interpreter = interpreter;
    family.members++;
  }

  static async create(limits: RuntimeLimits): Promise<PythonRuntime> {
    const family = { mark: randomUUID(), members: 0 };
    const runtime = new PythonRuntime(await Workplace.create(), limits, family);
    try {
      await runtime.#start();
      return runtime;
    } catch (error) {
      await runtime.close();
      throw error;
    }
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
    const interpreter = this.#interpreter ?? (await this.#start());
    const { channel, session } = interpreter;
    const output = this.#place.path('output');
    await writeFile(output, '');
    channel.send({ code, output });
    const began = await channel.next(GRACE_MS);
    const call = typeof began?.began === 'number' ? began.began : undefined;
    let limit: 'time' | 'memory' | 'processes' | undefined;
    let late: NodeJS.Timeout | undefined;
    const end = (): void => {
      endProcesses({ session }, call, interpreter.pid);
      late ??= setTimeout(() => channel.close(), GRACE_MS);
    };
    const exceed = (met: 'time' | 'memory' | 'processes'): void => {
      limit ??= met;
      end();
    };
    const timer = setTimeout(exceed, timeMs, 'time');
    const unwatch = watchProcesses({ session }, 2 * memoryBytes, exceed);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted) end();
    let said: Said | undefined;
    try {
      said = began === undefined ? undefined : await channel.next();
    } finally {
      clearTimeout(timer);
      clearTimeout(late);
      unwatch();
      signal?.removeEventListener('abort', end);
    }
    const done = said?.done as Pick<RunResult, 'value' | 'error'> | undefined;
    if (done !== undefined && call !== undefined) interpreter.pid = call;
    else if (said?.died === undefined) this.#lose(interpreter);
    signal?.throwIfAborted();
    const printed = await this.#place.output('output', outputLength);
    if (limit !== undefined) return { output: printed, error: limitError(limit, timeMs) };
    if (done !== undefined) {
      const { value, error } = done;
      return {
        output: printed,
        ...(value !== undefined && { value }),
        ...(typeof error === 'string' && { error: error.slice(0, outputLength) }),
      };
    }
    const lost = this.#interpreter === undefined ? 'and its variables are lost' : 'and the call was undone';
    return { output: printed, error: `Crash: the interpreter ended, ${lost}` };
  }

  async #start(): Promise<Interpreter> {
    const { memoryBytes } = this.#limits;
    const path = this.#place.path('s');
    const arguments_ = [
      '-I',
      '-X',
      'utf8',
      '-c',
      PYTHON_DRIVER,
      path,
      String(memoryBytes),
      String(LARGEST_FILE),
    ];
    let session = 0;
    let fail: (cause: unknown) => void = () => {};
    const failed = new Promise<never>((_, reject) => {
      fail = reject;
    });
    failed.catch(() => {});
    const begin = (): void => {
      const child = spawn('python3', arguments_, {
        detached: true,
        cwd: this.#place.work,
        env: this.#place.environment(this.#family.mark),
        stdio: 'ignore',
      });
      child.on('error', (cause) => fail(missingInterpreter('python3', cause)));
      child.on('exit', (code) => fail(lostRuntime(`python3 ended with status ${code}`)));
      child.unref();
      session = child.pid ?? 0;
    };
    const channel = await Channel.accept(path, begin, START_LIMIT_MS, failed);
    return this.#hello(channel, () => session);
  }

  async #hello(channel: Channel | undefined, session: (pid: number) => number): Promise<Interpreter> {
    await rm(this.#place.path('s'), { force: true });
    const hello = await channel?.next(START_LIMIT_MS);
    if (channel === undefined || typeof hello?.pid !== 'number') {
      channel?.close();
      throw lostRuntime('nothing was heard of python3');
    }
    const interpreter = { channel, pid: hello.pid, session: session(hello.pid) };
    this.#interpreter = interpreter;
    return interpreter;
  }

  #lose({ channel, session }: Interpreter): void {
    this.#interpreter = undefined;
    channel.close();
    endProcesses({ session }, undefined);
  }

  async inject(name: string, value: Json): Promise<void> {
    requireName(name);
    // Twice: JSON as a text of Python, whose quotes and escapes those of JSON are.
    await this.run(`${name} = __import__('json').loads(${JSON.stringify(JSON.stringify(value))})`);
  }

  async take(name: string): Promise<Json | undefined> {
    requireName(name);
    return (await this.run(name)).value;
  }

  fork(): Promise<Runtime> {
    return this.#turns.next(async () => {
      if (this.#closed) throw closedRuntime();
      const { channel } = this.#interpreter ?? (await this.#start());
      const place = await this.#place.copy();
      const copy = new PythonRuntime(place, this.#limits, this.#family);
      const path = place.path('s');
      const begin = (): void => channel.send({ copy: path, work: place.work });
      const never = new Promise<never>(() => {});
      try {
        await copy.#hello(await Channel.accept(path, begin, START_LIMIT_MS, never), (pid) => pid);
        return copy;
      } catch (error) {
        await copy.close();
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#interpreter) this.#lose(this.#interpreter);
    this.#family.members--;
    // What made a session of its own is found by the mark, which copies that go on have too.
    if (this.#family.members === 0) endProcesses({ mark: this.#family.mark }, undefined);
    await this.#turns.next(() => this.#place.remove());
  }
}
