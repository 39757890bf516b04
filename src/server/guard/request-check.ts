/**
 * What every server of ours asks of a request before it looks at it, so that no page in a browser can drive a server of this
 * machine: pages may send requests anywhere, under any name that they make point here, but not without saying so.
 *
 * | checked      | against                                                                                        |
 * |--------------|------------------------------------------------------------------------------------------------|
 * | `host`       | pages of a site whose name is made to point here (DNS rebinding)                               |
 * | `origin`     | pages of other sites                                                                           |
 * | content type | bodies that a page may send without asking first. Asking first is never answered, and a key    |
 * |              | cannot be sent without, so that programs with a key may leave the type out                     |
 */

import type { IncomingHttpHeaders } from 'node:http';
import { TurnwiseError } from '../../core/errors.ts';

/** A request before its body is read, as Node's `IncomingMessage` has it. */
export interface RequestHead {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly localPort?: number | undefined; readonly localAddress?: string | undefined };
}

export interface RequestRules {
  /** Names by which the server is reached beside those of this machine: `name` or `name:port`, as in `--allow-host`. */
  readonly allowHosts?: readonly string[];
  /** What bodies may be. */
  readonly bodyTypes: readonly string[];
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * The check for these rules: why a request is refused, or undefined.
 *
 * `request-host` and `request-origin` are for status 403, `request-type` for 415.
 */
export function requestCheck({
  allowHosts = [],
  bodyTypes,
}: RequestRules): (head: RequestHead) => TurnwiseError | undefined {
  const allowed = new Set(allowHosts.map((name) => name.toLowerCase()));
  return (head) => {
    const host = (head.headers.host ?? '').toLowerCase();
    if (!isOwnName(host, head, allowed)) return foreignHost(host, head, allowHosts);
    const { origin } = head.headers;
    if (origin !== undefined && !isSameSite(origin, host)) return foreignPage(origin);
    const type = (head.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
    const isFree = !hasBody(head) || hasKey(head) || bodyTypes.includes(type);
    return isFree ? undefined : wrongType(type, bodyTypes);
  };
}

function isOwnName(host: string, { socket }: RequestHead, allowed: ReadonlySet<string>): boolean {
  const [, name = '', port = '80'] = /^(\[[\da-f:.]+\]|[^:]+)(?::(\d+))?$/.exec(host) ?? [];
  if (name === '') return false;
  if (allowed.has(name) || allowed.has(host)) return true;
  if (Number(port) !== socket.localPort) return false;
  // The address that the connection came to is no name that could be made to point elsewhere.
  const address = (socket.localAddress ?? '').replace(/^::ffff:/, '');
  return LOOPBACK.test(name) || name === address || name === `[${address}]`;
}

function isSameSite(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host;
}

function hasBody({ headers }: RequestHead): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function hasKey({ headers }: RequestHead): boolean {
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined;
}

function foreignHost(host: string, { socket }: RequestHead, allowHosts: readonly string[]): TurnwiseError {
  const own = ['localhost', '127.0.0.1', '[::1]'].map((name) => `${name}:${socket.localPort}`);
  return new TurnwiseError('request-host', {
    what: 'This server is not known by that name',
    seen: host === '' ? 'no host' : `host ${host.slice(0, 100)}`,
    allowed: [...own, ...allowHosts].join(', '),
    next: 'Start it with --allow-host NAME to admit another name, such as a container’s',
  });
}

function foreignPage(origin: string): TurnwiseError {
  return new TurnwiseError('request-origin', {
    what: 'Pages of other sites may not use this server',
    seen: `origin ${origin.slice(0, 100)}`,
    next: 'Ask from a program, or from a page of this server',
  });
}

function wrongType(type: string, bodyTypes: readonly string[]): TurnwiseError {
  return new TurnwiseError('request-type', {
    what: 'The body of a request has a type that is not read here',
    seen: type === '' ? 'no content type' : type.slice(0, 100),
    allowed: bodyTypes.map((name) => `content-type: ${name}`).join(', '),
  });
}
