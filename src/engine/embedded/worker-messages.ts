/** What the engine and its worker thread say to each other. */

import type { ErrorCode } from '../../core/error-codes/error-codes.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { EngineCore } from './engine-core.ts';
import type { EngineSettings } from './engine-settings.ts';

/** The verbs that can be called across the thread boundary. `attach`, whose result cannot cross it, has its own message. */
export type Verb = Exclude<keyof EngineCore, 'prototype' | 'attach'>;

export type Call = {
  readonly id: number;
  /** Which of the engines of the thread; the first is 0. */
  readonly engine: number;
} & (
  | {
      readonly verb: Verb;
      readonly parameters: readonly unknown[];
      /** Whether it tells of what it does before it is done: its last parameter hears that. */
      readonly tells?: boolean;
    }
  /** Makes another engine, numbered `as`, over the base of this one. */
  | { readonly verb: 'attach'; readonly as: number; readonly settings: EngineSettings }
);

export function perform(core: EngineCore, verb: Verb, parameters: readonly unknown[]): unknown {
  return Reflect.apply(core[verb], core, parameters);
}

/** An error as plain data: class and prototype do not cross threads. */
export interface ErrorDescription {
  readonly code?: ErrorCode;
  readonly message: string;
  readonly stack?: string;
  readonly fields?: Readonly<Record<string, string | number | boolean>>;
}

export type Answer =
  /** What a call that is under way tells. */
  | { readonly id: number; readonly told: unknown }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: ErrorDescription };

export function describeError(error: unknown): ErrorDescription {
  if (TurnwiseError.isInstance(error))
    return { code: error.code, message: error.message, fields: error.fields };
  if (!(error instanceof Error)) return { message: String(error) };
  // A failed write is the caller's to handle, so the code of a system error is kept.
  const code = (error as NodeJS.ErrnoException).code;
  return {
    message: error.message,
    ...(error.stack !== undefined && { stack: error.stack }),
    ...(code !== undefined && { fields: { systemCode: code } }),
  };
}

/** The error again; what was not raised on purpose becomes `engine-failed` with the original as its cause. */
export function reviveError({ code, message, stack, fields }: ErrorDescription): TurnwiseError {
  if (code !== undefined) return new TurnwiseError(code, { what: message, ...(fields && { fields }) });
  const cause = new Error(message);
  if (stack !== undefined) cause.stack = stack;
  return engineFailed(cause, fields);
}

export function engineFailed(cause: unknown, fields?: ErrorDescription['fields']): TurnwiseError {
  return new TurnwiseError('engine-failed', {
    what: 'The embedded engine failed',
    seen: cause instanceof Error ? cause.message : String(cause),
    next: 'Resume from the last checkpoint',
    ...(fields && { fields }),
    cause,
  });
}
