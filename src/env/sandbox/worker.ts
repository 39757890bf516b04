/** What runs inside the sandbox worker: one interpreter with its own WebAssembly memory for each sandbox. */

import type { MessagePort } from 'node:worker_threads';
import type {
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSWASMModule,
} from 'quickjs-emscripten-core';

export interface SandboxLimits {
  /** Of one call. */
  readonly timeLimitMs: number;
  /**
   * Of the whole interpreter, at least 17 MiB: 16 MiB are reserved at the start, though hardly touched. Memory grows in
   * leaps, so a program can meet the limit up to a sixth early.
   */
  readonly memoryLimitBytes: number;
  /** Characters of output kept from one call. */
  readonly outputLimit: number;
}

export type SandboxRequest =
  | {
      readonly kind: 'evaluate';
      readonly sandbox: number;
      readonly code: string;
      readonly limits: SandboxLimits;
      /** Calls to repeat first, in a new interpreter; absent where the interpreter of this sandbox is to go on. */
      readonly history?: readonly string[];
    }
  | { readonly kind: 'close'; readonly sandbox: number };

export type SandboxReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'result'; readonly output: string; readonly error?: string }
  /** The call used up its time or its memory, and its interpreter is gone. */
  | { readonly kind: 'limit'; readonly limit: 'time' | 'memory'; readonly output: string }
  /** A call of `history` no longer ends as it did. */
  | { readonly kind: 'history-failed'; readonly error: string }
  /** The interpreter itself broke and is gone: `crash` where the program broke it. */
  | {
      readonly kind: 'broken';
      readonly reason: 'time' | 'stack' | 'crash' | 'other';
      readonly error: string;
    };

/** An instance of the interpreter's program, with a memory of its own. */
export interface SandboxMachine {
  readonly module: QuickJSWASMModule;
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly maximumBytes: number;
}

/**
 * Answers requests on `port`. This function is sent to the worker as text, so that it runs unchanged from sources, from
 * a build and from a bundle: it may use nothing but its arguments and what every JavaScript engine has.
 */
export function serveSandboxes(
  port: MessagePort,
  newMachine: (initialPages: number, maximumPages: number) => Promise<SandboxMachine>,
): void {
  interface Interpreter {
    readonly machine: SandboxMachine;
    readonly runtime: QuickJSRuntime;
    readonly context: QuickJSContext;
    /** Takes the value of a call and gives all its output. */
    readonly finish: QuickJSHandle;
    /** Takes what was thrown and gives it in words. */
    readonly tell: QuickJSHandle;
  }
  interface Outcome {
    readonly output: string;
    readonly error?: string;
    readonly limit?: 'time' | 'memory';
  }
  const STACK_BYTES = 128 * 1024;
  /** Everything but Date. */
  const INTRINSICS = {
    ...{ BaseObjects: true, Eval: true, StringNormalize: true, RegExp: true, JSON: true },
    ...{ Proxy: true, MapSet: true, TypedArrays: true, Promise: true },
  };
  const PAGE_BYTES = 64 * 1024;
  const INITIAL_PAGES = 256;
  const interpreters = new Map<number, Interpreter>();
  /** Machines whose sandbox is closed, by maximum memory: starting one takes milliseconds. */
  const idle = new Map<number, SandboxMachine[]>();

  // Runs inside the interpreter. It keeps the functions it needs, so that code which replaces them harms only itself,
  // and hands the output over once a call, already cut. There is no clock and chance is seeded: a call repeated from
  // the same history gives the same result.
  const prelude = `(limit) => {
    const { stringify } = JSON, slice = Function.call.bind(String.prototype.slice);
    let printed = '', dropped = 0, seed = 1;
    const show = (value, quote) => {
      if (typeof value === 'string') return quote ? stringify(value) : value;
      if (typeof value === 'bigint') return value + 'n';
      if (typeof value === 'function') return '[function ' + value.name + ']';
      if (value === null || typeof value !== 'object') return String(value);
      if (value instanceof Error) return value.name + ': ' + value.message;
      if (value instanceof Map || value instanceof Set) return value.constructor.name + ' ' + show([...value], true);
      try {
        return stringify(value, (_, item) => (typeof item === 'bigint' ? item + 'n' : item)) ?? String(value);
      } catch { return String(value); }
    };
    const write = (text) => {
      if (printed !== '') text = '\\n' + text;
      const room = limit - printed.length;
      if (text.length <= room) printed += text;
      else { printed += slice(text, 0, room); dropped += text.length - room; }
    };
    const log = (...values) => {
      let line = '';
      for (let i = 0; i < values.length; i++) line += (i > 0 ? ' ' : '') + show(values[i], false);
      write(line);
    };
    globalThis.console = { log, info: log, warn: log, error: log, debug: log };
    Math.random = () => {
      seed = (seed + 0x6d2b79f5) | 0;
      let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
    const told = (thrown) => {
      if (typeof thrown === 'object' && thrown !== null) {
        const { name, message } = thrown;
        if (typeof message === 'string') return (typeof name === 'string' ? name : 'Error') + ': ' + message;
      }
      return show(thrown, false);
    };
    const tell = (thrown) => {
      try { return slice(told(thrown), 0, limit); }
      catch { return 'Error: what was thrown cannot be shown'; }
    };
    const finish = (value) => {
      if (value !== undefined) write(show(value, true));
      const output = dropped > 0 ? printed + '\\n… ' + dropped + ' more characters' : printed;
      printed = '';
      dropped = 0;
      return output;
    };
    return { finish, tell };
  }`;

  const remove = (sandbox: number): void => {
    const interpreter = interpreters.get(sandbox);
    if (interpreter === undefined) return;
    const { machine, context, runtime, finish, tell } = interpreter;
    interpreters.delete(sandbox);
    finish.dispose();
    tell.dispose();
    context.dispose();
    runtime.dispose();
    idle.set(machine.maximumBytes, [...(idle.get(machine.maximumBytes) ?? []), machine]);
  };

  // The limit is the maximum of a WebAssembly memory. That of QuickJS itself (setMemoryLimit) counts allocations but
  // not their sizes in this build, and lets a program take all memory in small pieces.
  const create = async (sandbox: number, limits: SandboxLimits): Promise<Interpreter> => {
    remove(sandbox);
    const { memoryLimitBytes, outputLimit } = limits;
    const pages = Math.max(INITIAL_PAGES + 16, Math.ceil(memoryLimitBytes / PAGE_BYTES));
    const machine = idle.get(pages * PAGE_BYTES)?.pop() ?? (await newMachine(INITIAL_PAGES, pages));
    const runtime = machine.module.newRuntime();
    runtime.setMaxStackSize(STACK_BYTES);
    const context = runtime.newContext({ intrinsics: INTRINSICS });
    const limit = context.newNumber(outputLimit);
    const install = context.unwrapResult(context.evalCode(`(${prelude})`, 'prelude'));
    const functions = context.unwrapResult(context.callFunction(install, context.undefined, limit));
    const finish = context.getProp(functions, 'finish');
    const tell = context.getProp(functions, 'tell');
    for (const handle of [limit, install, functions]) handle.dispose();
    const interpreter = { machine, runtime, context, finish, tell };
    interpreters.set(sandbox, interpreter);
    return interpreter;
  };

  const run = (
    { machine, runtime, context, finish, tell }: Interpreter,
    code: string,
    limits: SandboxLimits,
  ): Outcome => {
    const deadline = performance.now() + limits.timeLimitMs;
    let timedOut = false;
    // The allocator asks for at least 5% more each time, so memory is full when there is no room for that.
    const isFull = (): boolean =>
      machine.memory.buffer.byteLength * 1.05 + PAGE_BYTES >= machine.maximumBytes;
    runtime.setInterruptHandler(() => {
      timedOut ||= performance.now() > deadline;
      return timedOut || isFull();
    });
    let output = '';
    let error: string | undefined;
    const fail = (thrown: QuickJSHandle): void => {
      // Told inside, where getters and toString of a hostile value can throw only at the program itself.
      const text = context.callFunction(tell, context.undefined, thrown);
      error = text.error ? 'Error: what was thrown cannot be shown' : context.getString(text.value);
      text.dispose();
      thrown.dispose();
    };
    const finishWith = (value: QuickJSHandle): void => {
      const text = context.callFunction(finish, context.undefined, value);
      if (text.error) fail(text.error);
      else {
        output = context.getString(text.value);
        text.value.dispose();
      }
    };
    const result = context.evalCode(code, 'run.js', { type: 'global', backtraceBarrier: true });
    if (result.error) {
      fail(result.error);
      finishWith(context.undefined);
    } else {
      runtime.executePendingJobs().dispose();
      const state = context.getPromiseState(result.value);
      if (state.type === 'rejected') fail(state.error);
      const value = state.type === 'fulfilled' ? state.value : result.value;
      finishWith(state.type === 'rejected' ? context.undefined : value);
      if (value !== result.value) value.dispose();
      if (result.value.alive) result.value.dispose();
    }
    runtime.removeInterruptHandler();
    if (isFull()) return { output, limit: 'memory' };
    if (timedOut) return { output, limit: 'time' };
    return { output, ...(error === undefined ? {} : { error }) };
  };

  const evaluate = async (request: SandboxRequest & { readonly kind: 'evaluate' }): Promise<SandboxReply> => {
    const { sandbox, code, limits, history } = request;
    if (history !== undefined) {
      const interpreter = await create(sandbox, limits);
      for (const earlier of history) {
        // A call that just fitted its time once must fit again, on a machine that is busier now.
        const { limit } = run(interpreter, earlier, { ...limits, timeLimitMs: 4 * limits.timeLimitMs });
        if (limit === undefined) continue;
        interpreters.delete(sandbox);
        return {
          kind: 'history-failed',
          error: `a call that fitted its limits before now meets its ${limit} limit`,
        };
      }
    }
    let outcome: Outcome;
    try {
      outcome = run(interpreters.get(sandbox)!, code, limits);
    } catch (error) {
      // The interpreter is C compiled to WebAssembly: deep nesting (of a text to parse, say) can exhaust the host's stack
      // half-way through anything, and a flood of jobs its memory, so its module is never used again.
      interpreters.delete(sandbox);
      const reason = String(error).includes('call stack') ? 'stack' : 'crash';
      return { kind: 'broken', reason, error: String(error) };
    }
    const { output, error, limit } = outcome;
    if (limit === undefined) return { kind: 'result', output, ...(error === undefined ? {} : { error }) };
    if (limit === 'time') remove(sandbox);
    else interpreters.delete(sandbox);
    return { kind: 'limit', limit, output };
  };

  port.on('message', async (request: SandboxRequest) => {
    try {
      if (request.kind === 'close') remove(request.sandbox);
      else port.postMessage(await evaluate(request));
    } catch (error) {
      interpreters.delete(request.sandbox);
      if (request.kind !== 'close')
        port.postMessage({ kind: 'broken', reason: 'other', error: String(error) } satisfies SandboxReply);
    }
  });
  port.postMessage({ kind: 'ready' } satisfies SandboxReply);
}
