/** What a sandbox asks of its worker, and what it is told. */

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

/** The memory of an interpreter between two calls: all of its state, in a form that every worker can go on from. */
export interface Snapshot {
  /** Size of the memory. */
  readonly pages: number;
  /** Pages that are not all zero, one after another in `bytes`. */
  readonly kept: readonly number[];
  readonly bytes: ArrayBuffer;
}

/** A call. A worker that has the sandbox in that state goes on with it; another needs the snapshot. */
export interface SandboxRequest {
  /** Number of the call, which a worker is asked to give up by. */
  readonly call: number;
  readonly code: string;
  readonly limits: SandboxLimits;
  /** Whether the value of the call is wanted, as JSON. */
  readonly value?: boolean;
  /** State before the call; absent in a new sandbox. */
  readonly from?: { readonly state: number; readonly snapshot?: Snapshot };
}

export type SandboxReply =
  /** The worker has started; the interpreter is prepared and the call begins. */
  | { readonly kind: 'ready' | 'begun' }
  /** The state before the call is not here, and the request came without its snapshot. */
  | { readonly kind: 'unknown' }
  /** The state after the call has the call's number. */
  | {
      readonly kind: 'result';
      readonly output: string;
      readonly error?: string;
      /** JSON of the last expression's value. */
      readonly value?: string;
      readonly snapshot: Snapshot;
    }
  /** The call used up its time or its memory. */
  | { readonly kind: 'limit'; readonly limit: 'time' | 'memory'; readonly output: string }
  /** The call was given up when asked to, as if it had not begun. */
  | { readonly kind: 'given-up' }
  /** The interpreter itself broke: `crash` where the program broke it. */
  | {
      readonly kind: 'broken';
      readonly reason: 'time' | 'stack' | 'crash' | 'other';
      readonly error: string;
    };
