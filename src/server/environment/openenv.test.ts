import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { tagProtocol } from '../../env/tag-protocol.ts';
import { closeServers, counter, post, serve, socketTo, until } from './server.test-helper.ts';

afterEach(closeServers);

test('an episode over the socket, and refusals that leave it open', async () => {
  const { url, openSessions } = await serve();
  const ask = await socketTo(url);
  expect(await ask({ type: 'state' })).toMatchObject({ type: 'state', data: { step_count: 0 } });
  expect(await ask({ type: 'step', data: { text: 'up' } })).toMatchObject({
    data: { code: 'SESSION_ERROR' },
  });
  const opening = await ask({ type: 'reset', data: { seed: 3, episode_id: 'e' } });
  expect(opening).toMatchObject({
    type: 'observation',
    data: { reward: null, done: false, observation: { text: 'at 0' } },
  });
  expect(await ask('nonsense')).toMatchObject({ type: 'error', data: { code: 'INVALID_JSON' } });
  expect(await ask({ type: 'dance' })).toMatchObject({ type: 'error', data: { code: 'UNKNOWN_TYPE' } });
  expect(await ask({ type: 'step', data: { word: 'up' } })).toMatchObject({
    data: { code: 'VALIDATION_ERROR' },
  });
  expect(await ask({ type: 'step', data: { text: 'fail' } })).toMatchObject({
    data: { code: 'EXECUTION_ERROR' },
  });
  for (const _ of [1, 2]) await ask({ type: 'step', data: { text: 'up', metadata: {} } });
  expect(await ask({ type: 'step', data: { text: 'up' } })).toMatchObject({
    data: { reward: 1, done: true, observation: { success: true } },
  });
  expect(await ask({ type: 'state' })).toMatchObject({
    data: { episode_id: 'e', step_count: 3, done: true },
  });
  expect(openSessions()).toBe(1);
  await ask({ type: 'reset' });
  expect(openSessions()).toBe(1);
  await ask.close();
  await until(() => openSessions() === 0);
});

test('a scripted player can be asked what it would write', async () => {
  const { url } = await serve({ world: { ...counter, protocol: tagProtocol } });
  const ask = await socketTo(url);
  const script = (player: string): Promise<unknown> =>
    ask({ type: 'script', data: { player, chance: [1, 2, 3, 4] } });
  expect(await script('expert')).toMatchObject({ data: { code: 'SESSION_ERROR' } });
  await ask({ type: 'reset', data: { seed: 3 } });
  expect(await script('expert')).toEqual({ type: 'script', data: { text: '<action>up</action>' } });
  expect(await script('nobody')).toMatchObject({ data: { code: 'VALIDATION_ERROR' } });
  await ask.close();
});

test('the routes', async () => {
  const { url, openSessions } = await serve();
  const get = async (path: string): Promise<Record<string, object>> =>
    (await (await fetch(`${url}${path}`)).json()) as Record<string, object>;
  expect(await get('/health')).toEqual({ status: 'healthy' });
  expect(await get('/metadata')).toMatchObject({
    name: 'counter',
    description: 'say up three times',
    turnwise: { roles: ['agent'], maxTurns: 10, scripts: true },
  });
  const schema = await get('/schema');
  expect(Object.keys(schema)).toEqual(['action', 'observation', 'state', 'reset']);
  expect(schema.action).toMatchObject({ type: 'object', required: ['text'] });
  expect((await post(`${url}/reset`, { seed: 0 })).body).toMatchObject({
    done: false,
    observation: { text: 'at 0' },
  });
  expect((await post(`${url}/step`, { action: { text: 'up' } })).body).toMatchObject({
    reward: 0,
    done: false,
  });
  expect(openSessions()).toBe(0);
});

test('there is room for so many sockets, and the next is told', async () => {
  const { url } = await serve({ limits: { maxSessions: 1 } });
  const first = await socketTo(url);
  await first({ type: 'reset' });
  const second = await socketTo(url);
  expect(await second({ type: 'reset' })).toMatchObject({
    type: 'error',
    data: { code: 'CAPACITY_REACHED' },
  });
  await first.close();
  await second.close();
});

test('a client that vanishes without a word is noticed', async () => {
  const { url, openSessions } = await serve({ limits: { leaseMs: 150 } });
  const { port } = new URL(url);
  const stream = connect(Number(port), '127.0.0.1');
  stream.on('error', () => {});
  stream.write(
    `GET /ws HTTP/1.1\r\nhost: localhost:${port}\r\nupgrade: websocket\r\nconnection: upgrade\r\n` +
      'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  await new Promise((resolve) => stream.once('data', resolve));
  // A masked text frame with {"type":"reset"}; pings that follow are never answered.
  const text = Buffer.from('{"type":"reset"}');
  stream.write(Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text]));
  await until(() => openSessions() === 1);
  await until(() => openSessions() === 0);
  stream.destroy();
});

test('a page of another site cannot connect', async () => {
  const { url } = await serve();
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, {
    headers: { origin: 'https://elsewhere.example' },
  });
  const [error] = await new Promise<Error[]>((resolve) =>
    socket.once('error', (reason) => resolve([reason])),
  );
  expect(error!.message).toContain('403');
});
