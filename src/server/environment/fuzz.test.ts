/** Whatever is sent to an environment server: it answers, goes on, and keeps no session. */

import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { closeServers, open, serve, socketTo, until } from './server.test-helper.ts';

afterEach(closeServers);

const path = fc.constantFrom(
  '/v1/sessions',
  '/v1/sessions/ID/step',
  '/v1/sessions/ID/fork',
  '/v1/sessions/ID/script',
  '/v1/sessions/ID',
  '/reset',
  '/step',
  '/v1/sessions/%00/step',
  '/schema',
  '/x',
);
const field = fc.constantFrom(
  'index',
  'seed',
  'split',
  'chance',
  'leaseMs',
  'step',
  'action',
  'text',
  'player',
  'data',
  'type',
);
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(0, 1, -1, 1e308, 'up', 'fail', 'train', 'expert', [1, 2, 3, 4], {
    episode: [1, 2, 3, 4],
  }),
);
const body = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.dictionary(field, value, { maxKeys: 4 }).map((object) => JSON.stringify(object)),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 60 }) },
  { weight: 1, arbitrary: fc.json() },
);

const request = fc.record({
  where: path,
  method: fc.constantFrom('POST', 'POST', 'POST', 'GET', 'DELETE', 'PUT'),
  text: body,
  type: fc.constantFrom('application/json', 'application/json', 'application/json', 'text/plain', ''),
  key: fc.constantFrom(undefined, 'k', 'other'),
});

test('1,000 requests: none crashes the server, answers 500 for itself, or leaks a session', async () => {
  const { url, openSessions } = await serve({ limits: { maxSessions: 8, leaseMs: 300 } });
  let count = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 20, maxLength: 20 }), async (requests) => {
      const send = async ({ where, method, text, type, key }: (typeof requests)[number]): Promise<void> => {
        const live = where.includes('ID') ? await open(url) : undefined;
        const response = await fetch(url + where.replace('ID', live ?? 'none'), {
          method,
          ...(method === 'GET' ? {} : { body: text }),
          headers: { 'content-type': type, ...(key === undefined ? {} : { 'idempotency-key': key }) },
        });
        const answer = await response.text();
        count++;
        if (response.status < 400) return;
        const { error } = JSON.parse(answer) as { error: { code: string; message: string } };
        expect(error.code).toMatch(/^[a-z-]+$/);
        if (response.status === 500) expect(error.message).toBe('asked to fail');
      };
      await Promise.all(requests.map(send));
      expect(openSessions()).toBeLessThanOrEqual(8);
    }),
    { numRuns: 50 },
  );
  expect(count).toBeGreaterThanOrEqual(1000);
  await until(() => openSessions() === 0);
  expect(await open(url)).toBeTruthy();
});

test('1,000 messages over sockets: the same', async () => {
  const { url, openSessions } = await serve({ limits: { maxSessions: 4 } });
  const type = fc.oneof(
    fc.constantFrom('reset', 'step', 'state', 'reset', 'step', 'script'),
    fc.string({ maxLength: 5 }),
  );
  const data = fc.oneof(fc.dictionary(field, value, { maxKeys: 3 }), value);
  const message = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .record({ type, data }, { requiredKeys: ['type'] })
        .map((object) => JSON.stringify(object)),
    },
    { weight: 1, arbitrary: fc.string({ maxLength: 40 }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 20, maxLength: 20 }), async (messages) => {
      const ask = await socketTo(url);
      for (const text of messages) {
        const answer = (await ask(text)) as { type: string };
        expect(['observation', 'state', 'script', 'error']).toContain(answer.type);
      }
      await ask.close();
      expect(openSessions()).toBeLessThanOrEqual(1);
    }),
    { numRuns: 50 },
  );
  await until(() => openSessions() === 0);
});

test('streams that are not HTTP, lie about their length, or break off', async () => {
  const { url, openSessions } = await serve();
  const { port } = new URL(url);
  const head = `POST /v1/sessions HTTP/1.1\r\nhost: localhost:${port}\r\ncontent-type: application/json\r\n`;
  for (const text of [
    'rubbish\r\n\r\n',
    `${head}content-length: 5\r\n\r\n{"index":0}`,
    `${head}content-length: 500\r\n\r\n{"index":0}`,
    `${head}content-length: -1\r\n\r\n`,
    `${head}transfer-encoding: chunked\r\n\r\nzz\r\n`,
    `GET /ws HTTP/1.1\r\nhost: localhost:${port}\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n`,
  ]) {
    const stream = connect(Number(port), '127.0.0.1');
    stream.on('error', () => {});
    stream.write(text);
    await sleep(20);
    stream.destroy();
  }
  expect(await open(url)).toBeTruthy();
  expect(openSessions()).toBe(1);
});
