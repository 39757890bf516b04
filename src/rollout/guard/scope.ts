/**
 * Whose code is running: each call into user code has a scope, to which an error that nobody awaited can be brought home.
 * Where nothing watches for such errors, scopes cost nothing. `node/stray-errors.ts` watches in Node.
 */

export interface Scope {
  /** The call under way, as messages name it. */
  readonly what: string;
  /** Fail the episode of the call; false where it is over, so that nothing can be failed any more. */
  fail(error: unknown): boolean;
}

export interface ScopeKeeper {
  /** Do `work` so that everything it starts is known to belong to `scope`. */
  enter<T>(scope: Scope, work: () => T): T;
  /** Resolves when rejections that nobody awaits have been told. */
  settle(): Promise<void>;
  /** Whether any such error has come. */
  seen(): boolean;
}

const nobody: ScopeKeeper = {
  enter: (_scope, work) => work(),
  settle: async () => {},
  seen: () => false,
};

let keeper = nobody;

/** Have scopes kept, or no longer kept. */
export function keepScopes(by: ScopeKeeper | undefined): void {
  keeper = by ?? nobody;
}

export function inScope<T>(scope: Scope, work: () => T): T {
  return keeper.enter(scope, work);
}

export function strayErrorsTold(): Promise<void> {
  return keeper.settle();
}

/** Whether an error came that nobody awaited. From then on even pure worlds pay for scopes. */
export function strayErrorsSeen(): boolean {
  return keeper.seen();
}
