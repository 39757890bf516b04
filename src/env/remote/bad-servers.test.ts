/** Servers that lie, vanish or answer garbage: a typed error, the episode marked as failed, and the next one played. */

import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { NO_ACTION } from '../protocol.ts';
import type { World } from '../world.ts';
import { connectOpenEnv } from './openenv.ts';
import { closeServers, httpServer, play, type Seen, sendJson } from './servers.test-helper.ts';
import { connectTurnwise } from './turnwise.ts';

/** Less than a turn may take in `play`, and more than a busy machine needs. */
const PATIENCE_MS = 4000;

const sockets: WebSocketServer[] = [];
afterEach(async () => {
  for (const server of sockets.splice(0)) for (const socket of server.clients) socket.terminate();
  await closeServers();
});

const description = {
  protocol: 1,
  name: 'x',
  description: 'x',
  roles: ['agent'],
  maxTurns: 5,
  action: { form: 'raw' },
  tasks: { train: null, validation: 1, test: 1 },
  scripts: false,
  settings: {},
  maxSessions: 9,
};
const view = { toMove: 'agent', messages: { agent: [{ role: 'user', content: 'go' }] }, anchor: 'a' };
const over = { toMove: null, messages: { agent: [] }, anchor: '' };
const last = {
  step: 0,
  rewards: { agent: 1 },
  done: true,
  success: { agent: true },
  valid: true,
  view: over,
};

/** A server of our protocol that is well until it is asked for a step. */
async function breaking(
  step: (response: ServerResponse, count: number) => void,
  timeoutMs = PATIENCE_MS,
): Promise<{ world: World; seen: Seen[] }> {
  let count = 0;
  const { url, seen } = await httpServer(({ method, path }, response) => {
    if (path === '/v1/environment') return sendJson(response, description);
    if (method === 'DELETE') return sendJson(response, {}, 404);
    if (path === '/v1/sessions') return sendJson(response, { session: 's', leaseMs: 1, step: 0, view }, 201);
    step(response, count++);
  });
  const factory = await connectTurnwise('bad', url);
  return { world: factory.create({ timeoutMs }), seen };
}

describe('our own protocol', () => {
  test.each<[string, (response: ServerResponse, count: number) => void, string]>([
    ['garbage', (response) => response.end('<html>'), 'JSON'],
    [
      'the wrong shape',
      (response) => sendJson(response, { ...last, rewards: { agent: 'much' } }),
      '"rewards.agent"',
    ],
    [
      'an error of the environment',
      (response) => sendJson(response, { error: { code: 'x', message: 'the lake has melted' } }, 500),
      'the lake has melted',
    ],
    ['nothing', () => {}, '600 ms'],
    [
      'half an answer, then silence',
      (response) => response.writeHead(200, { 'content-length': 900 }).write('{'),
      '600 ms',
    ],
    [
      'a connection that is cut mid-stream',
      (response) => response.write('{"step":', () => response.destroy()),
      'broke off',
    ],
    [
      'a length that is too long',
      (response) => {
        response.writeHead(200, { 'content-length': 500 });
        response.write(JSON.stringify(last), () => response.destroy());
      },
      'broke off',
    ],
    [
      'more than can be read',
      (response) => response.end(Buffer.alloc(17 * 1024 * 1024, 32)),
      '16777216 bytes',
    ],
  ])('%s', async (_, step, seen) => {
    const { world } = await breaking(
      (response, count) => (count < 4 ? step(response, count) : sendJson(response, last)),
      seen === '600 ms' ? 600 : PATIENCE_MS,
    );
    const episode = await play(world, ['up']);
    expect(episode).toMatchObject({ stop: 'failed:environment', outcome: { agent: 0 }, transitions: [] });
    expect(episode.failure).toContain(seen);
  });

  test('an answer that is lost once is asked for again, with the same key', async () => {
    const { world, seen } = await breaking((response, count) =>
      count === 0 ? response.destroy() : sendJson(response, last),
    );
    expect(await play(world, ['up'])).toMatchObject({ stop: 'done', outcome: { agent: 1 } });
    const steps = seen.filter(({ path }) => path.endsWith('/step'));
    expect(steps).toHaveLength(2);
    expect(steps[0]!.body).toEqual(steps[1]!.body);
  });

  test('a server without room is asked again, for a while', async () => {
    let count = 0;
    const { url } = await httpServer(({ path }, response) => {
      if (path === '/v1/environment') return sendJson(response, description);
      if (++count < 3) return sendJson(response, { error: { code: 'session-limit', message: 'full' } }, 503);
      sendJson(response, { session: 's', leaseMs: 1, step: 0, view: over }, 201);
    });
    const world = (await connectTurnwise('full', url)).create({ timeoutMs: 5000 });
    expect(await play(world, ['up'])).toMatchObject({ stop: 'done' });
    expect(count).toBe(4);
  });

  test('a server that does not speak it, and one that is not there', async () => {
    const { url } = await httpServer((_, response) => sendJson(response, { status: 'ok' }));
    await expect(connectTurnwise('x', url)).rejects.toMatchObject({ code: 'remote-answer-invalid' });
    await closeServers();
    await expect(connectTurnwise('x', url)).rejects.toMatchObject({ code: 'remote-unreachable' });
  });
});

describe('OpenEnv', () => {
  const schema = {
    action: { type: 'object', properties: { message: { type: 'string' } } },
    observation: {},
    state: {},
  };
  const opening = { type: 'observation', data: { observation: { text: 'go' }, reward: null, done: false } };

  async function openEnv(
    answers: readonly (string | object | undefined)[],
    timeoutMs = PATIENCE_MS,
  ): Promise<World> {
    const { url, server } = await httpServer(({ path }, response) =>
      path === '/schema' ? sendJson(response, schema) : sendJson(response, { detail: 'Not Found' }, 404),
    );
    const accepting = new WebSocketServer({ server, path: '/ws' });
    sockets.push(accepting);
    accepting.on('connection', (socket) => {
      let count = 0;
      socket.on('message', () => {
        const answer = answers[count++];
        if (answer === undefined) socket.terminate();
        else if (answer !== '') socket.send(typeof answer === 'string' ? answer : JSON.stringify(answer));
      });
    });
    const factory = await connectOpenEnv('bad', url.replace('http', 'ws'));
    return factory.create(factory.options.parse({ timeoutMs }));
  }

  test.each<[string, readonly (string | object | undefined)[], string]>([
    ['garbage', [opening, '<html>'], 'JSON'],
    ['the wrong shape', [opening, { type: 'observation', data: { observation: 1 } }], 'an observation'],
    [
      'an error of the environment',
      [opening, { type: 'error', data: { message: 'melted', code: 'EXECUTION_ERROR' } }],
      'melted',
    ],
    ['nothing', [opening, ''], '400 ms'],
    ['a socket that is cut', [opening, undefined], 'broke off'],
    ['a socket that is cut at once', [undefined], 'broke off'],
    ['a state instead of an observation', [opening, { type: 'state', data: {} }], 'of type state'],
  ])('%s', async (_, answers, seen) => {
    const episode = await play(await openEnv(answers, seen === '400 ms' ? 400 : PATIENCE_MS), ['up']);
    expect(episode).toMatchObject({ stop: 'failed:environment', outcome: { agent: 0 }, transitions: [] });
    expect(episode.failure).toContain(seen);
  });

  test('an action that the server refuses is invalid, and the episode goes on', async () => {
    const refusal = { type: 'error', data: { message: 'Invalid message', code: 'VALIDATION_ERROR' } };
    const end = { type: 'observation', data: { observation: { text: 'end' }, reward: true, done: true } };
    const episode = await play(await openEnv([opening, refusal, end]), ['up']);
    expect(episode).toMatchObject({ stop: 'done', outcome: { agent: 1 }, success: { agent: true } });
    expect(episode.transitions.map(({ valid }) => valid)).toEqual([false, true]);
  });

  test('a server without room says so, and the episode fails with what to do', async () => {
    const full = {
      type: 'error',
      data: { message: 'full', code: 'CAPACITY_REACHED', active_sessions: 1, max_sessions: 1 },
    };
    const episode = await play(await openEnv([full], 400), ['up']);
    expect(episode.failure).toContain('rollout.concurrency');
  });

  test('actions of several fields are tool calls', async () => {
    const { url } = await httpServer((_, response) =>
      sendJson(response, {
        action: {
          type: 'object',
          properties: { turn: { enum: ['left', 'right'] }, clicks: { type: 'integer' }, metadata: {} },
          required: ['turn'],
        },
      }),
    );
    const factory = await connectOpenEnv('dial', url);
    const { protocol } = factory.create(factory.options.parse({}));
    expect(protocol.parse('<tool_call>{"name":"act","arguments":{"turn":"up"}}</tool_call>')).toMatchObject({
      ok: false,
    });
    expect(
      protocol.parse('<tool_call>{"name":"act","arguments":{"turn":"left","clicks":2}}</tool_call>'),
    ).toEqual({
      ok: true,
      action: '{"arguments":{"clicks":2,"turn":"left"},"name":"act"}',
    });
    expect(protocol.parse(NO_ACTION).ok).toBe(false);
  });
});
