/** What can go wrong between us and a Tinker server, as typed errors. The key never appears in any of them. */

import { type ErrorParts, TurnwiseError } from '../../core/errors.ts';

type Details = Pick<ErrorParts, 'seen' | 'fields'>;

const byStatus: Readonly<Record<number, (details: Details) => TurnwiseError>> = {
  401: (details) =>
    new TurnwiseError('tinker-unauthorized', {
      what: 'The Tinker server refused the key',
      next: 'Set TINKER_API_KEY to a valid key of this server',
      ...details,
    }),
  402: (details) =>
    new TurnwiseError('tinker-payment', {
      what: 'The Tinker server asks for payment',
      next: 'Settle the account; the weights saved so far are still there',
      ...details,
    }),
  404: (details) =>
    new TurnwiseError('tinker-not-found', {
      what: 'The Tinker server does not know this resource',
      next: 'Its session may have expired: resume from the last checkpoint',
      ...details,
    }),
  409: (details) =>
    new TurnwiseError('tinker-conflict', {
      what: 'The Tinker server has seen this sequence number or name with other content',
      next: 'Is another process using the same session? Resume from the last checkpoint',
      ...details,
    }),
  410: (details) =>
    new TurnwiseError('tinker-expired', {
      what: 'The Tinker server no longer has the result, also after the request was sent again',
      next: 'Resume from the last checkpoint',
      ...details,
    }),
  429: (details) =>
    new TurnwiseError('tinker-busy', {
      what: 'The Tinker server kept asking to slow down',
      next: 'Try later, or lower rollout.concurrency',
      ...details,
    }),
};

/** An answer that ends a request. `detail` is what the server said about it. */
export function statusError(status: number, route: string, detail: string): TurnwiseError {
  const details: Details = {
    seen: `${status} from ${route}: ${shortened(detail) || 'no explanation'}`,
    fields: { status, route, detail },
  };
  const known = byStatus[status === 403 ? 401 : status];
  if (known !== undefined) return known(details);
  if (status >= 500)
    return new TurnwiseError('tinker-server-error', {
      what: 'The Tinker server kept failing',
      next: 'Look at its log, then resume from the last checkpoint',
      ...details,
    });
  return new TurnwiseError('tinker-rejected', {
    what: 'The Tinker server rejected a request',
    next: 'The message says why',
    ...details,
  });
}

export function unreachable(base: string, route: string, cause: unknown): TurnwiseError {
  return new TurnwiseError('tinker-unreachable', {
    what: 'The Tinker server cannot be reached',
    seen: `${route}: ${causeOf(cause)}`,
    next: `Is it running at ${base}? If so, resume from the last checkpoint`,
    fields: { route },
    cause,
  });
}

/** The request was taken and its work failed. */
export function requestFailed(kind: string, message: string, category: string): TurnwiseError {
  return new TurnwiseError('tinker-failed', {
    what: `The Tinker server could not do the ${kind}`,
    seen: shortened(message),
    next:
      category === 'user'
        ? 'The request was at fault; the message says why'
        : 'Look at the log of the server, then resume from the last checkpoint',
    fields: { kind, category },
  });
}

export function tookTooLong(kind: string, timeoutMs: number): TurnwiseError {
  return new TurnwiseError('tinker-timeout', {
    what: `The Tinker server did not finish the ${kind}`,
    seen: `${Math.round(timeoutMs / 1000)} s of waiting`,
    next: 'Look at the queue of the server, then resume from the last checkpoint',
    fields: { kind },
  });
}

export function clientClosed(): TurnwiseError {
  return new TurnwiseError('engine-closed', {
    what: 'The engine was used after it was closed',
    next: 'Create another engine',
  });
}

/** The innermost message: `fetch failed` alone says nothing. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? causeOf(error.cause) : error.message || error.name;
}

function shortened(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}
