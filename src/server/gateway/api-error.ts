/** Errors in the shape of OpenAI's API, which clients of every language know how to read. */

export type ApiErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'server_error';

export interface ApiErrorParts {
  readonly status: 400 | 401 | 404 | 409 | 413 | 415 | 429 | 499 | 500 | 502 | 503 | 504;
  readonly type: ApiErrorType;
  readonly code: string;
  readonly message: string;
  /** The parameter that was wrong. */
  readonly param?: string;
  /** Seconds after which a client may try again; without it a client should not. */
  readonly retryAfterSeconds?: number;
}

/** A request that is answered with an error. */
export class ApiError extends Error {
  readonly parts: ApiErrorParts;

  constructor(parts: ApiErrorParts) {
    super(parts.message);
    this.name = 'ApiError';
    this.parts = parts;
  }

  toResponse(): Response {
    const { status, type, code, message, param, retryAfterSeconds } = this.parts;
    const retry =
      retryAfterSeconds === undefined
        ? // The official clients repeat 409, 429 and 5xx on their own unless they are told not to.
          { 'x-should-retry': 'false' }
        : { 'retry-after': String(retryAfterSeconds) };
    return Response.json(
      { error: { message, type, param: param ?? null, code } },
      { status, headers: retry },
    );
  }
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

export function notFound(code: string, message: string): ApiError {
  return new ApiError({ status: 404, type: 'not_found_error', code, message });
}
