/** What the gateway as a whole refuses. */

import { TurnwiseError } from '../../core/errors.ts';
import { ApiError } from './api-error.ts';

export function tooFast(callsPerSecond: number, waitSeconds: number): ApiError {
  return new ApiError({
    status: 429,
    type: 'rate_limit_error',
    code: 'too_many_calls',
    message: `A session may make ${callsPerSecond} calls a second.`,
    retryAfterSeconds: Math.ceil(waitSeconds),
  });
}

export function stopping(): ApiError {
  return new ApiError({
    status: 503,
    type: 'server_error',
    code: 'gateway_stopping',
    message: 'The gateway is about to stop: it finishes the calls under way and takes no more.',
  });
}

export function tooLate(callTimeoutMs: number): ApiError {
  return new ApiError({
    status: 504,
    type: 'server_error',
    code: 'call_timeout',
    message: `The call took longer than ${callTimeoutMs} ms.`,
  });
}

export function portUnusable(host: string, port: number, cause: NodeJS.ErrnoException): TurnwiseError {
  return new TurnwiseError('port-unusable', {
    what: 'The gateway cannot listen',
    seen: `${cause.code ?? cause.message} at ${host}:${port}`,
    next: 'Choose another port, or leave it out to take any free one',
    fields: { host, port },
    cause,
  });
}
