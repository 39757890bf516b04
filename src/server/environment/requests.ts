/** What the routes of an environment server share: reading bodies, and errors with real status codes. */

import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { jsonProblem } from '../../core/json/json-limits.ts';
import { guard, requireKey } from '../guard/guard.ts';

/** Largest body of a request, in bytes. */
export const BODY_LIMIT = 4 * 1024 * 1024;

/** The HTTP status of an error by its code; what the environment itself raises is 500. */
const STATUS: Readonly<Record<string, ContentfulStatusCode>> = {
  'request-invalid': 400,
  'request-unauthorized': 401,
  'request-host': 403,
  'request-origin': 403,
  'session-unknown': 404,
  'snapshot-unknown': 404,
  'route-unknown': 404,
  'session-busy': 409,
  'step-conflict': 409,
  'step-out-of-order': 409,
  'idempotency-conflict': 409,
  'episode-over': 409,
  'request-too-large': 413,
  'request-type': 415,
  'task-unknown': 422,
  'split-empty': 422,
  'snapshot-unsupported': 501,
  'session-limit': 503,
  'environment-timeout': 504,
};

export interface RequestOptions {
  /** Names by which clients reach the server, beside those of this machine. */
  readonly allowHosts: readonly string[];
  /** What clients must send, everywhere but at `/health`. */
  readonly key: string | undefined;
}

/** Only JSON, so that a page in a browser cannot post here without asking first. */
export const BODY_TYPES: readonly string[] = ['application/json'];

/**
 * Make `app` refuse what the guard refuses, and answer errors, unknown routes and oversized bodies in one shape:
 * `{"error": {"code", "message"}}`.
 */
export function guardRequests(
  app: Hono<{ Bindings: HttpBindings }>,
  { allowHosts, key }: RequestOptions,
): void {
  app.onError((error, context) => failure(context, error));
  app.notFound((context) =>
    failure(
      context,
      new TurnwiseError('route-unknown', {
        what: 'There is no such route',
        seen: `${context.req.method} ${context.req.path}`,
        next: 'The routes are listed in docs/environment-servers.md.',
      }),
    ),
  );
  app.use(guard({ allowHosts, bodyTypes: BODY_TYPES }));
  if (key !== undefined) {
    app.use(async (context, next) => {
      if (context.req.path !== '/health') requireKey(context.env.incoming.headers, key);
      await next();
    });
  }
  const tooLarge = (context: Context): Response =>
    failure(
      context,
      new TurnwiseError('request-too-large', {
        what: 'The body of the request is too large',
        allowed: `${BODY_LIMIT} bytes`,
      }),
    );
  // Counting a stream costs more than a step of a small environment; a stated length, which the parser holds it to, nothing.
  const counted = bodyLimit({ maxSize: BODY_LIMIT, onError: tooLarge });
  app.use(async (context, next) => {
    const length = context.req.header('content-length');
    if (length !== undefined && Number(length) > BODY_LIMIT) return tooLarge(context);
    if (length !== undefined || context.req.method === 'GET') return await next();
    return await counted(context, next);
  });
}

/** @throws TurnwiseError `request-invalid` */
export async function readBody<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Promise<z.output<Schema>> {
  const text = await context.req.text();
  const problem = jsonProblem(text);
  if (problem !== undefined) throw new TurnwiseError('request-invalid', { what: `The body ${problem}` });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new TurnwiseError('request-invalid', { what: 'The body is not JSON', cause });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue!.path.join('.');
  throw new TurnwiseError('request-invalid', {
    what: `The request cannot be used${path === '' ? '' : ` because of "${path}"`}`,
    seen: issue!.message,
    next: 'The fields are listed in docs/environment-servers.md.',
  });
}

function failure(context: Context, error: unknown): Response {
  const known = TurnwiseError.isInstance(error) ? error : undefined;
  const status = STATUS[known?.code ?? ''] ?? 500;
  const code = status === 500 ? 'environment-failed' : known!.code;
  const message = error instanceof Error ? error.message : String(error);
  const headers = status === 503 ? { 'retry-after': '1' } : undefined;
  return context.json({ error: { code, message } }, status, headers);
}
