/**
 * Requests to other hosts. Everything that Turnwise asks over HTTP goes through here: by the proxy that HTTP_PROXY,
 * HTTPS_PROXY and NO_PROXY name (in small letters, too), never to another host with a secret, and never with an answer that
 * is longer than its reader wants. Nothing is retried here: each protocol has rules of its own for that.
 */

import type { Dispatcher } from 'undici';

export interface HttpRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers for the host that is asked alone: a redirect to another one leaves them out. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Ends the request, and its answer while that is read. Nothing else limits their time. */
  readonly signal?: AbortSignal;
  /** How many redirects of a GET or HEAD are followed. Default: 0. */
  readonly redirects?: number;
}

/** An answer whose body is still on its way: read it with `bytes` or `body`, or `discard` it. */
export class HttpAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
  readonly #stream: Dispatcher.ResponseData['body'];

  constructor({ statusCode, statusText, headers, body }: Dispatcher.ResponseData) {
    this.status = statusCode;
    // A proxy may leave it out.
    this.statusText = statusText ?? '';
    this.headers = headers;
    this.body = body;
    this.#stream = body;
  }

  /** Whether the status is one of success. */
  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** The first value of a header, by its name in small letters. */
  header(name: string): string | undefined {
    const value = this.headers[name];
    return typeof value === 'string' ? value : value?.[0];
  }

  /** The whole body; undefined where it is longer than `most` bytes, in which case the connection is given up. */
  async bytes(most: number): Promise<Uint8Array | undefined> {
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const part of this.body) {
      length += part.byteLength;
      // Leaving the loop closes the connection.
      if (length > most) return undefined;
      parts.push(part);
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts, length);
  }

  /** Give the body up unread. */
  discard(): void {
    this.#stream.on('error', () => {}).destroy();
  }
}

/**
 * One exchange, whatever its status.
 *
 * @throws the reason of `signal`; the error of the connection, for `reasonOf`
 */
export async function ask(address: string | URL, request: HttpRequest = {}): Promise<HttpAnswer> {
  const { method = 'GET', headers, secrets, body, signal, redirects = 0 } = request;
  const { request: send } = await library();
  const first = new URL(address);
  let url = first;
  for (let followed = 0; ; followed++) {
    const answer = new HttpAnswer(
      await send(url, {
        method,
        dispatcher: await dispatcherTo(url),
        headers: { 'user-agent': 'turnwise', ...headers, ...(url.origin === first.origin && secrets) },
        headersTimeout: 0,
        bodyTimeout: 0,
        ...(body !== undefined && { body }),
        ...(signal !== undefined && { signal }),
      }),
    );
    const location = answer.header('location');
    const isMoved = answer.status >= 300 && answer.status < 400 && location !== undefined;
    if (!isMoved || followed >= redirects || (method !== 'GET' && method !== 'HEAD')) return answer;
    answer.discard();
    url = new URL(location, url);
  }
}

/** `fetch` by way of the same proxy, for libraries that bring a protocol and want a `fetch` for it. */
export async function fetchByProxy(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const undici = await library();
  const address = input instanceof Request ? input.url : input;
  const options = { ...init, dispatcher: await dispatcherTo(new URL(address)) };
  // The types of the library are its own; its classes are those of the standard.
  return undici.fetch(address, options as Parameters<typeof undici.fetch>[1]) as unknown as Promise<Response>;
}

/** Why there was no answer. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // An error of several addresses of one host has a code alone.
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}

/** Loaded with the first request: most runs ask nobody. */
const library = (): Promise<typeof import('undici')> => import('undici');

let direct: Dispatcher | undefined;
let byProxy: Dispatcher | undefined;
let proxies = '';

/** This machine is asked directly, whatever the proxy. */
async function dispatcherTo({ hostname }: URL): Promise<Dispatcher> {
  const { Agent, EnvHttpProxyAgent } = await library();
  direct ??= new Agent();
  if (/^(localhost|.*\.localhost|127\..*|\[::1\])$/.test(hostname)) return direct;
  const { HTTP_PROXY, http_proxy, HTTPS_PROXY, https_proxy } = process.env;
  const named = JSON.stringify([HTTP_PROXY, http_proxy, HTTPS_PROXY, https_proxy]);
  if (byProxy === undefined || named !== proxies) {
    // Plain HTTP is asked of the proxy itself: many open tunnels for HTTPS alone.
    byProxy = new EnvHttpProxyAgent({ proxyTunnel: false });
    proxies = named;
  }
  return byProxy;
}
