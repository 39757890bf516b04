/**
 * Errors that nobody awaits: a rejection without a handler, an exception in a timer. Those of user code end at most the
 * episode in whose calls they began, and are otherwise counted; those of our own code end what is being done.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { thrownText, tried } from '../../core/safe-text.ts';
import { followSignals } from '../../core/signals/followed-signal.ts';
import { keepScopes, type Scope } from '../guard/scope.ts';

export interface StrayErrors {
  /** Errors that no episode could be blamed for since this was last asked, as one sentence; undefined where none came. */
  take(): string | undefined;
}

interface Watch {
  count: number;
  first: string;
  /** Ends the work with an error of ours. */
  readonly end: (error: unknown) => void;
}

const scopes = new AsyncLocalStorage<Scope>();
/** The latest is the innermost, and told of what comes. */
const watches: Watch[] = [];
let seen = false;

/**
 * Do `work`, which calls user code, so that no error of that code which nobody awaits ends the process.
 *
 * @param work gets a signal that is also aborted when our own code fails so, and what became of the errors
 * @throws what `work` throws, and an error of our own code that nobody awaited
 */
export async function withUserCode<T>(
  signal: AbortSignal,
  work: (signal: AbortSignal, strays: StrayErrors) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  let end: Watch['end'] = () => {};
  const failed = new Promise<never>((_, reject) => {
    end = (error) => {
      reject(error);
      controller.abort();
    };
  });
  const watch: Watch = { count: 0, first: '', end };
  const followed = followSignals([signal, controller.signal]);
  if (watches.push(watch) === 1) listen();
  try {
    return await Promise.race([work(followed.signal, { take: () => take(watch) }), failed]);
  } finally {
    followed.release();
    watches.splice(watches.indexOf(watch), 1);
    const outer = watches.at(-1);
    if (outer) pass(watch, outer);
    else ignore();
  }
}

function listen(): void {
  seen = false;
  process.on('unhandledRejection', onStray);
  process.on('uncaughtException', onStray);
  keepScopes({
    enter: (scope, work) => scopes.run(scope, work),
    // Rejections are told after all microtasks, and so before the next turn of the event loop.
    seen: () => seen,
    settle: () => new Promise((resolve) => setImmediate(resolve)),
  });
}

function ignore(): void {
  process.off('unhandledRejection', onStray);
  process.off('uncaughtException', onStray);
  keepScopes(undefined);
}

function onStray(error: unknown): void {
  seen = true;
  const scope = scopes.getStore();
  if (scope?.fail(error)) return;
  const watch = watches.at(-1);
  if (watch === undefined) return;
  if (scope === undefined && isOurs(error)) {
    watch.end(error);
    return;
  }
  if (watch.count++ === 0) watch.first = `${scope ? `${scope.what}: ` : ''}${thrownText(error)}`;
}

function take(watch: Watch): string | undefined {
  const { count, first } = watch;
  if (count === 0) return undefined;
  watch.count = 0;
  const errors = count === 1 ? '1 unhandled error' : `${count} unhandled errors`;
  return `${errors} in the background work of the environment, outside any running episode. First: ${first}`;
}

function pass(from: Watch, to: Watch): void {
  if (to.count === 0) to.first = from.first;
  to.count += from.count;
}

/** `src/` of this package, or `dist/src/`, as stacks write it. */
const root = new URL('../../', import.meta.url).href;

/** Whether an error comes from our own code: its innermost frame outside of Node lies there, and not among environments. */
function isOurs(error: unknown): boolean {
  const stack = tried(() => (error instanceof Error ? error.stack : undefined), undefined);
  if (typeof stack !== 'string') return false;
  const frames = stack.split('\n').filter((line) => /^\s+at .*[/\\]/.test(line) && !/\bnode:/.test(line));
  const innermost = frames[0] ?? '';
  if (/node_modules[/\\]onnxruntime/.test(innermost)) return true;
  return innermost.includes(root) && !innermost.includes(`${root}env/`);
}
