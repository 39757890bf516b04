/** The three servers against what a page in a browser can send, and against names that are made to point here. */

import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectOpenEnv } from '../../env/remote/openenv.ts';
import { connectTurnwise } from '../../env/remote/turnwise.ts';
import { serveEnvironment } from '../environment/serve.ts';
import { counter, socketTo } from '../environment/server.test-helper.ts';
import { Gateway } from '../gateway/gateway.ts';
import { listenTinker } from '../tinker/listen.ts';
import { tinySource } from '../tinker/testing/tiny-server.ts';
import { givenKey } from './guard.ts';
import { sameSecret } from './secrets.ts';

interface Server {
  readonly port: number;
  readonly open: () => number;
  readonly close: () => Promise<unknown>;
}
const key = 'tml-right';
const allowHosts = ['box', 'mapped:9000'];
const echo = {
  name: 'policy',
  author: { kind: 'policy' as const, name: 'learner' },
  version: 0,
  answer: () => Promise.reject(new Error('not asked')),
};
const folder = mkdtempSync(join(tmpdir(), 'turnwise-guard-'));

async function tinker(): Promise<Server> {
  const { url, server, close } = await listenTinker({
    source: tinySource,
    folder,
    port: 0,
    host: '127.0.0.1',
    app: { allowHosts, apiKey: key },
  });
  return { port: Number(new URL(url).port), open: () => server.sessions.size, close };
}

async function gateway(): Promise<Server> {
  const started = await new Gateway({
    key,
    allowHosts,
    newSession: () => ({ name: 'x', seed: 1, model: echo, maxCalls: 1 }),
  }).start();
  const port = Number(new URL(started.address).port);
  return { port, open: () => started.sessions.length, close: () => started.stop() };
}

async function environment(): Promise<Server> {
  const { port, openSessions, close } = await serveEnvironment({ world: counter, port: 0, allowHosts });
  return { port, open: openSessions, close };
}

/** A request with exactly these headers, which `fetch` would not send. */
function send(port: number, path: string, headers: Record<string, string>, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, method: body === undefined ? 'GET' : 'POST', headers },
      (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode!));
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}

describe.each([
  ['turnwise serve', tinker, '/api/v1/create_session', '/api/v1/healthz', { 'x-api-key': key }],
  ['turnwise gateway', gateway, '/sessions', '/health', { authorization: `Bearer ${key}` }],
  ['turnwise env serve', environment, '/v1/sessions', '/v1/environment', {}],
] as const)('%s', (_name, start, opens, tells, keyHeader) => {
  let server: Server;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());
  const json = { 'content-type': 'application/json' };
  const ask = (headers: Record<string, string>): Promise<number> =>
    send(server.port, opens, { ...json, ...headers }, opens === '/sessions' ? '{}' : '{"index":0}');

  test('names of this machine, with the right port, and those allowed', async () => {
    const { port } = server;
    const own = ['localhost', '127.0.0.1', 'LOCALHOST', '127.1.2.3', '[::1]'].map(
      (name) => `${name}:${port}`,
    );
    for (const host of [...own, 'box', 'box:1', 'mapped:9000'])
      expect([host, await send(port, tells, { host })]).toEqual([host, 200]);
    const foreign = [`evil.example:${port}`, 'localhost', `localhost:${port + 1}`, 'mapped', 'mapped:9001'];
    for (const host of [...foreign, `localhost.evil.example:${port}`, `127.0.0.1.evil.example:${port}`])
      expect([host, await send(port, tells, { host })]).toEqual([host, 403]);
  });

  test('pages cannot open sessions, however they ask', async () => {
    const host = `127.0.0.1:${server.port}`;
    const page = { host, origin: 'https://evil.example' };
    expect(await ask(page)).toBe(403);
    expect(await ask({ host, origin: 'null' })).toBe(403);
    expect(await ask({ host, origin: `http://127.0.0.1:${server.port + 1}` })).toBe(403);
    // Rebound: page, origin and host agree, and are not ours.
    expect(await ask({ host: 'evil.example', origin: 'http://evil.example' })).toBe(403);
    // What needs no preflight.
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', ''])
      expect([type, await ask({ host, 'content-type': type })]).toEqual([type, 415]);
    expect(server.open()).toBe(0);
    expect(await ask({ host, origin: `http://${host}`, ...keyHeader })).toBeLessThan(300);
  });
});

test('an environment beyond this machine needs a key, and then its clients send it', async () => {
  const beyond = { world: counter, port: 0, host: '0.0.0.0' };
  await expect(serveEnvironment(beyond)).rejects.toMatchObject({
    code: 'serve-open',
    message:
      'A server that others can reach needs a key. Seen: host 0.0.0.0. Start it with --key, or listen on 127.0.0.1.',
  });
  const server = await serveEnvironment({ ...beyond, key: 'tw-right' });
  const url = `http://127.0.0.1:${server.port}`;
  try {
    await expect(connectTurnwise('x', url)).rejects.toMatchObject({ code: 'remote-refused' });
    await expect(socketTo(url)).rejects.toThrow('401');
    expect((await fetch(`${url}/health`)).status).toBe(200);
    process.env.TURNWISE_ENV_KEY = 'tw-right';
    const world = await connectTurnwise('x', url);
    expect(world.description).toBe(counter.description);
    const open = await connectOpenEnv('y', url.replace('http', 'ws'));
    const made = open.create(open.options.parse({}) as never);
    const session = await made.open(made.tasks('train').at(0), undefined as never).catch((error) => error);
    expect(session).not.toMatchObject({ code: 'remote-unreachable' });
  } finally {
    delete process.env.TURNWISE_ENV_KEY;
    await server.close();
  }
});

test('keys are read wherever clients put them, and compared as a whole', () => {
  expect(givenKey({ authorization: 'Bearer  abc ' })).toBe('abc');
  expect(givenKey({ authorization: `Basic ${btoa('any:abc:d')}` })).toBe('abc:d');
  expect(givenKey({ 'x-api-key': 'abc' })).toBe('abc');
  expect(givenKey({})).toBe('');
  expect(sameSecret('abc', 'abc')).toBe(true);
  for (const wrong of ['', 'ab', 'abcd', 'abd']) expect(sameSecret(wrong, 'abc')).toBe(false);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));
