/** The checks of `request-check.ts` and a key, before every route of a server. */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { MiddlewareHandler } from 'hono';
import { TurnwiseError } from '../../core/errors.ts';
import { type RequestRules, requestCheck } from './request-check.ts';
import { sameSecret } from './secrets.ts';

/** Raises what is wrong with a request, for the server to answer in its own shape. */
export function guard(rules: RequestRules): MiddlewareHandler {
  const check = requestCheck(rules);
  return async (context, next) => {
    const refusal = check((context.env as { readonly incoming: IncomingMessage }).incoming);
    if (refusal !== undefined) throw refusal;
    await next();
  };
}

/** The key that a client sent: as `authorization: Bearer`, as `x-api-key`, or as the password of the address. */
export function givenKey(headers: IncomingHttpHeaders): string {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(.+)$/i.exec(headers.authorization ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') return value.trim();
  if (scheme !== '')
    return Buffer.from(value, 'base64')
      .toString('utf8')
      .replace(/^[^:]*:/, '');
  const named = headers['x-api-key'];
  return typeof named === 'string' ? named.trim() : '';
}

/**
 * @param next what whoever has no key is to do
 * @throws TurnwiseError `request-unauthorized`
 */
export function requireKey(
  headers: IncomingHttpHeaders,
  expected: string,
  next = 'Send the key of this server as "authorization: Bearer KEY", or as x-api-key',
): void {
  if (sameSecret(givenKey(headers), expected)) return;
  throw new TurnwiseError('request-unauthorized', { what: 'The key is missing or wrong', next });
}

/** Whether nobody but this machine can reach a server that listens there. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}

/** @throws TurnwiseError `serve-open` for an address that others can reach, and no key */
export function requireKeyBeyondLoopback(host: string, key: string | undefined, next: string): void {
  if (isLoopback(host) || key !== undefined) return;
  throw new TurnwiseError('serve-open', {
    what: 'A server that others can reach needs a key',
    seen: `host ${host}`,
    next,
  });
}
