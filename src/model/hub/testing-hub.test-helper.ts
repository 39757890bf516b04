/** A hub on this machine that can misbehave in every way that matters. */

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeHub {
  readonly endpoint: string;
  /** Requests seen, as `METHOD path range`. */
  readonly seen: string[];
  /** Authorization headers by server: the hub itself, and the store it sends to for large files. */
  readonly authorizations: { readonly hub: Set<string>; readonly store: Set<string> };
  /** Called for each GET of a file's content; true means that it has answered. */
  misbehave: (
    name: string,
    attempt: number,
    response: ServerResponse,
    content: Buffer,
    from: number,
  ) => boolean;
  close(): Promise<void>;
}

export const COMMIT = '0123456789abcdef0123456789abcdef01234567';
export const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
const gitBlob = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');

/** Serves `files` of the model `owner/name`; safetensors are large files that live in another place. */
export async function startHub(files: Readonly<Record<string, Buffer>>): Promise<FakeHub> {
  const seen: string[] = [];
  const authorizations = { hub: new Set<string>(), store: new Set<string>() };
  const attempts = new Map<string, number>();
  const listen = (handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server> => {
    const server = createServer(handle);
    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
  };
  const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const send = (name: string, request: IncomingMessage, response: ServerResponse): void => {
    const content = files[name]!;
    const attempt = (attempts.get(name) ?? 0) + 1;
    attempts.set(name, attempt);
    const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
    const from = range ? Number(range[1]) : 0;
    if (hub.misbehave(name, attempt, response, content, from)) return;
    if (range) {
      if (from >= content.length) {
        response.writeHead(416).end();
        return;
      }
      response.writeHead(206, { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` });
    } else response.writeHead(200, { 'content-length': content.length });
    response.end(content.subarray(from));
  };
  const store = await listen((request, response) => {
    seen.push(`GET store ${request.url} ${request.headers.range ?? ''}`.trim());
    if (request.headers.authorization) authorizations.store.add(request.headers.authorization);
    send(request.url!.slice(1), request, response);
  });
  const server = await listen((request, response) => {
    const { method, url } = request;
    seen.push(`${method} ${url} ${request.headers.range ?? ''}`.trim());
    if (request.headers.authorization) authorizations.hub.add(request.headers.authorization);
    const listing = /^\/api\/models\/([^/]+\/[^/]+)\/revision\/(.+)$/.exec(url!);
    if (listing) {
      if (listing[1] === 'owner/gated')
        response
          .writeHead(403, { 'x-error-code': 'GatedRepo', 'x-error-message': 'Access is restricted.' })
          .end();
      else if (listing[1] !== 'owner/name') response.writeHead(404, { 'x-error-code': 'RepoNotFound' }).end();
      else if (listing[2] !== 'main' && listing[2] !== COMMIT)
        response.writeHead(404, { 'x-error-code': 'RevisionNotFound' }).end();
      else
        response.end(
          JSON.stringify({ sha: COMMIT, siblings: Object.keys(files).map((rfilename) => ({ rfilename })) }),
        );
      return;
    }
    const name = url!.split('/').at(-1)!;
    const content = files[name];
    if (content === undefined) {
      response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end();
    } else if (name.endsWith('.safetensors')) {
      response
        .writeHead(302, {
          location: `${originOf(store)}/${name}`,
          'x-linked-etag': `"${sha256(content)}"`,
          'x-linked-size': content.length,
        })
        .end();
    } else if (method === 'HEAD') {
      response.writeHead(200, { etag: `"${gitBlob(content)}"`, 'content-length': content.length }).end();
    } else send(name, request, response);
  });
  const hub: FakeHub = {
    endpoint: originOf(server),
    seen,
    authorizations,
    misbehave: () => false,
    close: async () => {
      for (const each of [server, store]) {
        each.closeAllConnections();
        await new Promise((resolve) => each.close(resolve));
      }
    },
  };
  return hub;
}
