/** The first thing that is wrong with a request, in words. */

import type { z } from 'zod';
import type { TurnwiseError } from '../../core/errors.ts';
import { invalid } from './refusals.ts';

export function parseProblem(error: z.ZodError, body: unknown): TurnwiseError {
  const issue = error.issues[0]!;
  const place = issue.path.join('.');
  const seen = issue.path.reduce<unknown>(
    (at, key) => (at as Readonly<Record<PropertyKey, unknown>> | undefined)?.[key],
    body,
  );
  const shown = JSON.stringify(seen) ?? 'nothing';
  return invalid(
    place === '' ? 'The request has an unusable form' : `${place} is not usable`,
    shown.length > 100 ? `${shown.slice(0, 100)}…` : shown,
    issue.message
      .replace(/^(Invalid input|Too small|Too big): (expected )?/, '')
      .replace(/^number to be ([<>]=?)/, 'a number $1 '),
  );
}
