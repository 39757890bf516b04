/** What is answered with an error. A dialect words it; the shape of OpenAI's API is here, since whatever has no dialect uses it too. */

import type { JsonObject } from '../../core/json/json.ts';

export type ApiErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'server_error';

export interface ApiErrorParts {
  readonly status: 400 | 401 | 403 | 404 | 409 | 413 | 415 | 429 | 499 | 500 | 502 | 503 | 504;
  readonly type: ApiErrorType;
  readonly code: string;
  readonly message: string;
  /** The parameter that was wrong. */
  readonly param?: string;
  /** Seconds after which a client may try again; without it a client should not. */
  readonly retryAfterSeconds?: number;
  /** For programs, where a dialect has a place for them. */
  readonly details?: JsonObject;
}

/** A request that is answered with an error. */
export class ApiError extends Error {
  readonly parts: ApiErrorParts;

  constructor(parts: ApiErrorParts) {
    super(parts.message);
    this.name = 'ApiError';
    this.parts = parts;
  }

  /** @param wording of the dialect that was asked in */
  toResponse(wording: (error: ApiErrorParts) => object = openaiError): Response {
    const { status, retryAfterSeconds } = this.parts;
    const retry =
      retryAfterSeconds === undefined
        ? // The official clients repeat 409, 429 and 5xx on their own unless they are told not to.
          { 'x-should-retry': 'false' }
        : { 'retry-after': String(retryAfterSeconds) };
    return Response.json(wording(this.parts), { status, headers: retry });
  }
}

export function openaiError({ message, type, param, code }: ApiErrorParts): object {
  return { error: { message, type, param: param ?? null, code } };
}

export function badRequest(code: string, message: string, param?: string): ApiError {
  return new ApiError({
    status: 400,
    type: 'invalid_request_error',
    code,
    message,
    ...(param === undefined ? {} : { param }),
  });
}

export function notFound(code: string, message: string, param?: string): ApiError {
  return new ApiError({
    status: 404,
    type: 'not_found_error',
    code,
    message,
    ...(param === undefined ? {} : { param }),
  });
}

export function internalError(error: unknown): ApiError {
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError({ status: 500, type: 'server_error', code: 'internal', message });
}
