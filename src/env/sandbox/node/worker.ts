/** What runs inside a sandbox worker: interpreters, each with a WebAssembly memory of its own, which is copied after every call. */

import type { MessagePort } from 'node:worker_threads';
import type {
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSWASMModule,
} from 'quickjs-emscripten-core';
import type { SandboxReply, SandboxRequest, Snapshot } from './messages.ts';

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
  /** Holds the number of the call that is to be given up. */
  givenUp: Int32Array,
  /** What a call may take even then. */
  patienceMs: number,
  prelude: string,
  newMachine: (initialPages: number, maximumPages: number) => Promise<SandboxMachine>,
  isZero: (page: Uint8Array) => boolean,
): void {
  interface Interpreter {
    readonly machine: SandboxMachine;
    readonly runtime: QuickJSRuntime;
    readonly context: QuickJSContext;
    /** Takes the value of a call and gives all its output. */
    readonly finish: QuickJSHandle;
    /** Takes what was thrown and gives it in words. */
    readonly tell: QuickJSHandle;
    /** Takes the value of a call and gives its JSON, where it has some that is not too long. */
    readonly write: QuickJSHandle;
    /** Which sandboxes may have it: those of the same limits. */
    readonly kind: string;
    /** The state that its memory has; undefined where a call has left something half done. */
    state: number | undefined;
    /** The pages of that state that are not all zero. */
    written: readonly number[] | undefined;
  }
  interface Outcome {
    readonly output: string;
    readonly error?: string;
    readonly value?: string;
    readonly limit?: 'time' | 'memory' | 'given-up';
    /** The interpreter crashed when it met the limit, and is never used again. */
    readonly isCrashed?: true;
  }
  const STACK_BYTES = 128 * 1024;
  /** Everything but Date. */
  const INTRINSICS = {
    ...{ BaseObjects: true, Eval: true, StringNormalize: true, RegExp: true, JSON: true },
    ...{ Proxy: true, MapSet: true, TypedArrays: true, Promise: true },
  };
  const PAGE_BYTES = 64 * 1024;
  const INITIAL_PAGES = 256;
  /** Jobs that run before the limits are asked again. */
  const JOBS = 64;
  /** Interpreters kept, those used last at the end: making one takes milliseconds. */
  const KEPT = 32;
  const interpreters: Interpreter[] = [];
  /** The state of a new sandbox, by output limit. */
  const beginnings = new Map<number, Snapshot>();

  const pagesOf = ({ buffer }: SandboxMachine['memory']): Uint8Array[] =>
    Array.from(
      { length: buffer.byteLength / PAGE_BYTES },
      (_, page) => new Uint8Array(buffer, page * PAGE_BYTES, PAGE_BYTES),
    );

  const snapshotOf = (memory: SandboxMachine['memory']): Snapshot => {
    const pages = pagesOf(memory);
    const kept = [...pages.keys()].filter((page) => !isZero(pages[page]!));
    const bytes = new ArrayBuffer(kept.length * PAGE_BYTES);
    for (const [place, page] of kept.entries())
      new Uint8Array(bytes, place * PAGE_BYTES, PAGE_BYTES).set(pages[page]!);
    return { pages: pages.length, kept, bytes };
  };

  /** Reading all pages takes most of a millisecond; a page that nobody wrote takes no memory of the machine, and shall not. */
  const restore = ({ machine, state, written }: Interpreter, { kept, bytes }: Snapshot): void => {
    const pages = pagesOf(machine.memory);
    const others = new Set(state === undefined || written === undefined ? pages.keys() : written);
    for (const [place, page] of kept.entries()) {
      pages[page]!.set(new Uint8Array(bytes, place * PAGE_BYTES, PAGE_BYTES));
      others.delete(page);
    }
    for (const page of others) if (!isZero(pages[page]!)) pages[page]!.fill(0);
  };

  // Every machine does the same things in the same order here, so that all have the same addresses, and a memory of one
  // is a memory of any. The limit is the maximum of a WebAssembly memory. That of QuickJS itself (setMemoryLimit) counts
  // allocations but not their sizes in this build, and lets a program take all memory in small pieces.
  const create = async (pages: number, maximumPages: number, outputLimit: number): Promise<Interpreter> => {
    const machine = await newMachine(pages, maximumPages);
    const runtime = machine.module.newRuntime();
    runtime.setMaxStackSize(STACK_BYTES);
    const context = runtime.newContext({ intrinsics: INTRINSICS });
    const limit = context.newNumber(outputLimit);
    const install = context.unwrapResult(context.evalCode(`(${prelude})`, 'prelude'));
    const functions = context.unwrapResult(context.callFunction(install, context.undefined, limit));
    const finish = context.getProp(functions, 'finish');
    const tell = context.getProp(functions, 'tell');
    const write = context.getProp(functions, 'json');
    for (const handle of [limit, install, functions]) handle.dispose();
    const kind = `${maximumPages}/${outputLimit}`;
    const ways = { finish, tell, write };
    return { machine, runtime, context, ...ways, kind, state: undefined, written: undefined };
  };

  /** An interpreter in the state before the call; undefined where nothing says what that is. */
  const prepared = async ({ limits, from }: SandboxRequest): Promise<Interpreter | undefined> => {
    const { memoryLimitBytes, outputLimit } = limits;
    const maximumPages = Math.max(INITIAL_PAGES + 16, Math.ceil(memoryLimitBytes / PAGE_BYTES));
    const kind = `${maximumPages}/${outputLimit}`;
    const known = interpreters.findIndex(({ state }) => from !== undefined && state === from.state);
    if (known >= 0) return interpreters.splice(known, 1)[0]!;
    if (from !== undefined && from.snapshot === undefined) return undefined;
    const snapshot = from?.snapshot ?? beginnings.get(outputLimit);
    const pages = snapshot?.pages ?? INITIAL_PAGES;
    // A memory never shrinks, and a program must meet its limit in the same place wherever it runs.
    const free = interpreters.findIndex(
      ({ kind: other, machine }) => other === kind && machine.memory.buffer.byteLength === pages * PAGE_BYTES,
    );
    const interpreter =
      (interpreters.length >= KEPT || interpreters[free]?.state === undefined) && free >= 0
        ? interpreters.splice(free, 1)[0]!
        : await create(pages, maximumPages, outputLimit);
    if (snapshot === undefined) beginnings.set(outputLimit, snapshotOf(interpreter.machine.memory));
    else restore(interpreter, snapshot);
    return interpreter;
  };

  const keep = (interpreter: Interpreter, state: number | undefined): void => {
    interpreter.state = state;
    // What has no state is taken first.
    if (state === undefined) interpreters.unshift(interpreter);
    else interpreters.push(interpreter);
    if (interpreters.length > KEPT) interpreters.shift();
  };

  const run = (
    { machine, runtime, context, finish, tell, write }: Interpreter,
    { call, code, limits, value: isWanted }: SandboxRequest,
  ): Outcome => {
    const began = performance.now();
    let timedOut = false;
    let isGivenUp = false;
    // The allocator asks for at least 5% more each time, so memory is full when there is no room for that.
    const isFull = (): boolean =>
      machine.memory.buffer.byteLength * 1.05 + PAGE_BYTES >= machine.maximumBytes;
    const limitSeen = (): Outcome['limit'] =>
      isFull() ? 'memory' : timedOut ? 'time' : isGivenUp ? 'given-up' : undefined;
    const limitMet = (): Outcome['limit'] => {
      const tookMs = performance.now() - began;
      timedOut ||= tookMs > limits.timeLimitMs;
      isGivenUp ||= tookMs > patienceMs && Atomics.load(givenUp, 0) === call;
      return limitSeen();
    };
    runtime.setInterruptHandler(() => limitMet() !== undefined);
    let output = '';
    let error: string | undefined;
    const fail = (thrown: QuickJSHandle): void => {
      // Told inside, where getters and toString of a hostile value can throw only at the program itself.
      const text = context.callFunction(tell, context.undefined, thrown);
      error = text.error ? 'Error: the thrown value cannot be shown' : context.getString(text.value);
      text.dispose();
      thrown.dispose();
    };
    let json: string | undefined;
    const finishWith = (value: QuickJSHandle): void => {
      if (isWanted) {
        const written = context.callFunction(write, context.undefined, value);
        if (!written.error && context.typeof(written.value) === 'string')
          json = context.getString(written.value);
        written.dispose();
      }
      const text = context.callFunction(finish, context.undefined, value);
      if (text.error) fail(text.error);
      else {
        output = context.getString(text.value);
        text.value.dispose();
      }
    };
    const evaluateCode = (): void => {
      const result = context.evalCode(code, 'run.js', { type: 'global', backtraceBarrier: true });
      if (result.error) {
        fail(result.error);
        finishWith(context.undefined);
        return;
      }
      // A job that is interrupted rejects its promise, and the next begins: jobs that beget jobs end only here.
      while (runtime.hasPendingJob() && limitMet() === undefined) runtime.executePendingJobs(JOBS).dispose();
      const state = context.getPromiseState(result.value);
      if (state.type === 'rejected') fail(state.error);
      const value = state.type === 'fulfilled' ? state.value : result.value;
      finishWith(state.type === 'rejected' ? context.undefined : value);
      if (value !== result.value) value.dispose();
      if (result.value.alive) result.value.dispose();
    };
    try {
      evaluateCode();
    } catch (error) {
      // Without memory, the interpreter can crash before it asks whether it may go on.
      const limit = limitMet();
      if (limit === undefined) throw error;
      return { output, limit, isCrashed: true };
    }
    runtime.removeInterruptHandler();
    // A call that ends just before its time is over is not undone because the clock went on.
    const limit = limitSeen();
    if (limit !== undefined) return { output, limit };
    return {
      output,
      ...(error === undefined ? {} : { error }),
      ...(json === undefined ? {} : { value: json }),
    };
  };

  const evaluate = async (request: SandboxRequest): Promise<SandboxReply> => {
    const interpreter = await prepared(request);
    if (interpreter === undefined) return { kind: 'unknown' };
    port.postMessage({ kind: 'begun' } satisfies SandboxReply);
    let outcome: Outcome;
    try {
      outcome = run(interpreter, request);
    } catch (error) {
      // The interpreter is C compiled to WebAssembly: deep nesting (of a text to parse, say) can exhaust the host's stack
      // half-way through anything, and a flood of jobs its memory, so its module is never used again.
      const reason = String(error).includes('call stack') ? 'stack' : 'crash';
      return { kind: 'broken', reason, error: String(error) };
    }
    const { limit, isCrashed, ...said } = outcome;
    const { output } = said;
    if (limit === undefined) {
      keep(interpreter, request.call);
      const snapshot = snapshotOf(interpreter.machine.memory);
      interpreter.written = snapshot.kept;
      return { kind: 'result', ...said, snapshot };
    }
    if (limit !== 'memory' && !isCrashed) keep(interpreter, undefined);
    return limit === 'given-up' ? { kind: 'given-up' } : { kind: 'limit', limit, output };
  };

  port.on('message', async (request: SandboxRequest) => {
    try {
      const reply = await evaluate(request);
      port.postMessage(reply, reply.kind === 'result' ? [reply.snapshot.bytes] : []);
    } catch (error) {
      port.postMessage({ kind: 'broken', reason: 'other', error: String(error) } satisfies SandboxReply);
    }
  });
  port.postMessage({ kind: 'ready' } satisfies SandboxReply);
}
