/** Why a request is refused, as errors that know their status. */

import type { ErrorCode } from '../../core/error-codes/error-codes.ts';
import { TurnwiseError } from '../../core/errors.ts';

export function invalid(what: string, seen?: string, allowed?: string): TurnwiseError {
  return new TurnwiseError('request-invalid', {
    what,
    ...(seen !== undefined && { seen }),
    ...(allowed !== undefined && { allowed }),
  });
}

export function unknown(what: string, seen: string, allowed?: string): TurnwiseError {
  return new TurnwiseError('request-unknown', {
    what: `${what} not found`,
    seen,
    ...(allowed !== undefined && { allowed }),
  });
}

export function gone(what: string, seen: string, next: string): TurnwiseError {
  return new TurnwiseError('request-gone', { what, seen, next });
}

export function conflict(what: string, seen: string): TurnwiseError {
  return new TurnwiseError('request-conflict', { what, seen });
}

export function tooMany(what: string, seen: string, next: string): TurnwiseError {
  return new TurnwiseError('request-too-many', { what, seen, next });
}

const statuses: Readonly<Partial<Record<ErrorCode, number>>> = {
  'request-invalid': 422,
  'request-unknown': 404,
  'request-gone': 410,
  'request-conflict': 409,
  'request-too-many': 429,
  'request-unauthorized': 401,
  'request-host': 403,
  'request-origin': 403,
  'request-type': 415,
  'tinker-garbled': 422,
  'loss-unknown': 422,
  'invalid-objective-option': 422,
};

export function statusOf(error: unknown): number {
  return TurnwiseError.isInstance(error) ? (statuses[error.code] ?? 500) : 500;
}

/** Statuses of requests that will not do any better when they are sent again. */
const final: ReadonlySet<number> = new Set([404, 422]);

export const isFinal = (error: unknown): boolean => final.has(statusOf(error));

/** Errors of the model's engine that the request caused. */
const causedByRequest: ReadonlySet<string> = new Set([
  ...Object.keys(statuses),
  'batch-invalid',
  'sample-invalid',
  'checkpoint-mismatch',
  'checkpoint-missing',
  'checkpoint-corrupt',
]);

/** Whose fault a failed piece of work is, in the words of the API. */
export function categoryOf(error: unknown): 'user' | 'server' {
  return TurnwiseError.isInstance(error) && causedByRequest.has(error.code) ? 'user' : 'server';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
