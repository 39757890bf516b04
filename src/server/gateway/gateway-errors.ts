/** What the gateway and its sessions refuse. */

import { TurnwiseError } from '../../core/errors.ts';
import { ApiError, badRequest, notFound } from './api-error.ts';

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

/** The agent's code, or what the policy has it run, knows the key: it is not to decide what its episode was worth. */
export function ownSession(): ApiError {
  return new ApiError({
    status: 409,
    type: 'invalid_request_error',
    code: 'session_of_run',
    message: 'This session belongs to the process that opened it, which ends it and says what it was worth.',
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

/** Why a call ended that its client, or its session, gave up. */
export function gone(signal: AbortSignal): ApiError {
  if (signal.reason instanceof ApiError) return signal.reason;
  return new ApiError({
    status: 499,
    type: 'invalid_request_error',
    code: 'client_gone',
    message: 'The client hung up.',
  });
}

export function sessionOver(id: string): ApiError {
  return notFound('session_not_found', `The session ${id} was closed, has expired, or never existed.`);
}

/** A model failed, or may not be asked any more. */
export function failed(error: unknown): ApiError {
  const message = error instanceof Error ? error.message : String(error);
  if (TurnwiseError.isInstance(error) && error.code === 'spend-limit')
    return badRequest('spend_limit_reached', message);
  return new ApiError({
    status: 500,
    type: 'server_error',
    code: 'model_failed',
    message: `The model failed: ${message}`,
  });
}
