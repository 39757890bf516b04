/** A real proxy, a real server, and names that only the proxy can resolve. */

import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ask, fetchByProxy, reasonOf } from './http.ts';

const closing: Server[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const server of closing.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const settings = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
beforeEach(() => {
  for (const name of settings) vi.stubEnv(name, undefined);
});

async function listen(server: Server): Promise<number> {
  closing.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const serve = (answer: (request: IncomingMessage) => { status?: number; headers?: object; body: string }) =>
  listen(
    createServer((request, response) => {
      const { status = 200, headers, body } = answer(request);
      response.writeHead(status, { ...headers }).end(body);
    }),
  );

/** A proxy that sends every name to one port here, with the requests that it has seen. */
async function startProxy(port: number): Promise<{ address: string; seen: string[]; keys: unknown[] }> {
  const seen: string[] = [];
  const keys: unknown[] = [];
  const server = createServer(async (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    keys.push(request.headers['proxy-authorization']);
    const { pathname } = new URL(request.url!);
    const answer = await fetch(`http://127.0.0.1:${port}${pathname}`);
    response.writeHead(answer.status).end(await answer.text());
  });
  server.on('connect', (request, socket) => {
    seen.push(`CONNECT ${request.url}`);
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  return { address: `http://127.0.0.1:${await listen(server)}`, seen, keys };
}

const text = async (address: string): Promise<string | undefined> => {
  const bytes = await (await ask(address, { signal: AbortSignal.timeout(5000) })).bytes(1000);
  return bytes && new TextDecoder().decode(bytes);
};

test('other hosts are asked by the proxy, and its password is sent to it', async () => {
  const { address, seen, keys } = await startProxy(await serve(({ url }) => ({ body: `here is ${url}` })));
  vi.stubEnv('HTTP_PROXY', address.replace('//', '//me:secret@'));
  expect(await text('http://hub.test/models')).toBe('here is /models');
  const response = await fetchByProxy('http://tools.test/list');
  expect(await response.text()).toBe('here is /list');
  expect(seen).toEqual(['GET http://hub.test/models', 'GET http://tools.test/list']);
  expect(keys[0]).toBe(`Basic ${Buffer.from('me:secret').toString('base64')}`);
});

test('HTTPS goes through a tunnel of the proxy', async () => {
  const { address, seen } = await startProxy(await serve(() => ({ body: '' })));
  vi.stubEnv('https_proxy', address);
  // The server here speaks no TLS: the tunnel is there, and the handshake in it fails.
  await expect(text('https://hub.test/models')).rejects.toThrow(/SSL|TLS|wrong version/i);
  expect(seen).toEqual(['CONNECT hub.test:443']);
});

test('this machine and NO_PROXY are asked directly', async () => {
  const port = await serve(() => ({ body: 'direct' }));
  const { address, seen } = await startProxy(port);
  vi.stubEnv('HTTP_PROXY', address);
  vi.stubEnv('NO_PROXY', 'inside.invalid');
  expect(await text(`http://127.0.0.1:${port}`)).toBe('direct');
  expect(await text(`http://localhost:${port}`)).toBe('direct');
  await expect(text('http://inside.invalid/')).rejects.toThrow();
  expect(seen).toEqual([]);
});

test('a secret does not follow a redirect to another host', async () => {
  const keys: unknown[] = [];
  const there = await serve(({ headers }) => {
    keys.push(headers['x-api-key']);
    return { body: 'there' };
  });
  const here = await serve(({ headers, url }) => {
    keys.push(headers['x-api-key']);
    const location = url === '/start' ? '/moved' : `http://127.0.0.1:${there}/end`;
    return { status: 302, headers: { location }, body: '' };
  });
  const request = { secrets: { 'x-api-key': 'mine' }, redirects: 2 };
  const answer = await ask(`http://127.0.0.1:${here}/start`, request);
  expect(new TextDecoder().decode(await answer.bytes(100))).toBe('there');
  expect(keys).toEqual(['mine', 'mine', undefined]);
  const moved = await ask(`http://127.0.0.1:${here}/start`, { redirects: 1 });
  expect(moved.status).toBe(302);
  moved.discard();
});

test('an answer is read up to a length, and the rest is not waited for', async () => {
  const endless = createServer((_, response) => {
    const more = (): void => {
      while (response.write(Buffer.alloc(65536)));
      response.once('drain', more);
    };
    more();
  });
  const answer = await ask(`http://127.0.0.1:${await listen(endless)}`);
  expect(await answer.bytes(1_000_000)).toBeUndefined();
});

test('a signal ends a request that has no answer yet, and one whose answer is under way', async () => {
  const port = await listen(
    createServer((request, response) => void (request.url === '/half' && response.write('a'))),
  );
  const late = new Error('too late');
  for (const path of ['/never', '/half']) {
    const end = new AbortController();
    setTimeout(() => end.abort(late), 50);
    const asking = ask(`http://127.0.0.1:${port}${path}`, { signal: end.signal }).then((answer) =>
      answer.bytes(9),
    );
    await expect(asking).rejects.toBe(late);
  }
});

test('a host that is not there has a reason', async () => {
  const error: unknown = await ask('http://localhost:1').catch((reason) => reason);
  expect(reasonOf(error)).toContain('ECONNREFUSED');
});
