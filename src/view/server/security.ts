/** What a browser is told it may do with the page: run its script, read from its server, and nothing else. */

import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import { TurnwiseError } from '../../core/errors.ts';
import { guard, requireKey } from '../../server/guard/guard.ts';

export type ViewApp = Hono<{ Bindings: HttpBindings }>;

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const headers = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

const keyWanted =
  'Open the address that the terminal printed, which ends in #token=KEY; a program sends the key as "authorization: Bearer KEY"';

/** Headers on every answer, the checks of all our servers, and a key for everything that holds data. */
export function secure(app: ViewApp, key: string): void {
  app.use(async (context, next) => {
    // Before there is an answer: each header of a finished one costs as much as a small answer.
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
    await next();
  });
  app.use(guard({ bodyTypes: ['application/json'] }));
  app.use('/api/*', async (context, next) => {
    const { incoming } = context.env;
    requireSameSite(incoming);
    requireKey(incoming.headers, key, keyWanted);
    context.header('cache-control', 'no-store');
    await next();
  });
}

/** Browsers say where a request comes from; programs say nothing. */
function requireSameSite({ headers: sent }: IncomingMessage): void {
  const site = sent['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  throw new TurnwiseError('request-origin', {
    what: 'Pages of other sites may not use this server',
    seen: `sec-fetch-site ${String(site).slice(0, 40)}`,
    next: 'Ask from a program, or from a page of this server',
  });
}
