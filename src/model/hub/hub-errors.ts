/** What the hub's answers mean for a person. */

import { TurnwiseError } from '../../core/errors.ts';
import { type HttpAnswer, reasonOf } from '../../core/node/http.ts';
import type { HubReference } from './hub-cache.ts';

/** The error for an answer that is not a success; `subject` is the model or one of its files. */
export function refusedByHub(
  response: HttpAnswer,
  { repository, revision }: HubReference,
  subject: string,
  token: string | undefined,
): TurnwiseError {
  const { status } = response;
  const fields = { status, repository, revision };
  const code = response.header('x-error-code') ?? '';
  const seen = `${status} ${response.header('x-error-message') ?? response.statusText}`.trim();
  if (code === 'RevisionNotFound') {
    return new TurnwiseError('hub-unknown', {
      what: `${repository} has no revision "${revision}"`,
      seen,
      next: 'Name a branch, tag or commit after @, or leave it out for main',
      fields,
    });
  }
  if (status === 401 || status === 403) {
    return new TurnwiseError('hub-denied', {
      what: `The hub does not give out ${subject}: it is gated, private, or does not exist`,
      seen,
      next: token
        ? `HF_TOKEN was sent; accept the terms of https://huggingface.co/${repository} with its account`
        : 'Set HF_TOKEN to a token that may read it',
      fields,
    });
  }
  if (status === 404) {
    return new TurnwiseError('hub-unknown', {
      what: `The hub has no ${subject}`,
      seen,
      next: 'Check owner and name; a folder is given as a path that begins with ./ or /',
      fields,
    });
  }
  return new TurnwiseError('hub-unavailable', {
    what: `The hub did not answer about ${subject}`,
    seen,
    next: 'Try again later; the downloaded part is kept',
    fields,
  });
}

export function noNetwork(cause: unknown, endpoint: string, subject: string): TurnwiseError {
  return new TurnwiseError('hub-unreachable', {
    what: `${subject} is not in the cache, and ${endpoint} cannot be reached`,
    seen: reasonOf(cause),
    next: 'Connect to a network, set HF_ENDPOINT to a mirror, or give a checkpoint folder as ./path',
    fields: { endpoint },
    cause,
  });
}
