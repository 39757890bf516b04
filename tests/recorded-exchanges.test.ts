/** Conversations with software that is not ours, recorded by tools/interop: our side says and understands the same today. */

import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { world as frozenLake } from '../envs/frozen-lake/index.ts';
import { playEpisode } from '../src/env/play.ts';
import { connectAgentGym } from '../src/env/remote/agentgym.ts';
import { connectNemo } from '../src/env/remote/nemo.ts';
import { connectOpenEnv } from '../src/env/remote/openenv.ts';
import { toolAction } from '../src/env/tool-protocol.ts';
import { serveEnvironment } from '../src/server/environment/serve.ts';
import type { Exchange } from './exchange.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function recorded(name: string): Exchange[] {
  const lines = readFileSync(new URL(`exchanges/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n');
  return lines.slice(1).map((line) => JSON.parse(line) as Exchange);
}

/** Ids that a client draws anew each time. */
const withoutIds = (value: unknown): unknown =>
  value === undefined
    ? undefined
    : JSON.parse(JSON.stringify(value).replace(/\b(call|msg|resp)_[0-9a-f-]{36}/g, '$1_ID'));

/** A server that says what the recorded one said, as long as it is asked what that one was asked; `left` is the rest. */
async function replay(name: string): Promise<{ port: number; left: Exchange[] }> {
  const left = recorded(name);
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request as AsyncIterable<Buffer>) text += chunk;
    answer(request, text, response);
  });
  const answer = (request: IncomingMessage, text: string, response: ServerResponse): void => {
    const next = left.shift();
    if (next === undefined || !('method' in next)) throw new Error(`${request.url} was not asked for`);
    const { status, setCookies = [], answer: said, ...asked } = next;
    expect({
      method: request.method,
      path: request.url,
      ...(request.headers.cookie === undefined ? {} : { cookie: request.headers.cookie }),
      ...(text === '' ? {} : { body: withoutIds(JSON.parse(text)) }),
    }).toEqual({ ...asked, ...('body' in asked ? { body: withoutIds(asked.body) } : {}) });
    response.writeHead(status, { 'content-type': 'application/json', 'set-cookie': [...setCookies] });
    response.end(said);
  };
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.on('message', (raw) => {
      expect({ sent: JSON.parse(raw.toString()) }).toEqual(left.shift());
      for (let next = left[0]; next !== undefined && 'received' in next; next = left[0]) {
        left.shift();
        socket.send(JSON.stringify(next.received));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, left };
}

test("a dial of openenv-core's server", async () => {
  const { port, left } = await replay('openenv-dial');
  const factory = await connectOpenEnv('dial', `ws://127.0.0.1:${port}`);
  const world = factory.create(factory.options.parse({ maxTurns: 5 }));
  const clicks = [5, -2, 1];
  const played = await playEpisode(world, world.tasks('train').at(1), 1, () =>
    toolAction('act', { turn: 'right', clicks: clicks.shift()! }),
  );
  expect(played.turns.map(({ rewards }) => rewards.agent)).toEqual([-0.1, -0.1, 1]);
  expect(played).toMatchObject({ success: true, done: true });
  expect(left).toEqual([]);
});

test("TextCraft of AgentGym's server", async () => {
  const { port, left } = await replay('agentgym-textcraft');
  const factory = await connectAgentGym('craft', `http://127.0.0.1:${port}`, 'textcraft');
  const world = factory.create(factory.options.parse({ maxTurns: 6 }));
  const plans = [
    ['get 1 blue orchid', 'craft 1 light blue dye using 1 blue orchid'],
    ['get 9 emerald', 'craft 1 emerald block using 9 emerald'],
    ['get 6 glass', 'craft 16 glass pane using 6 glass'],
  ];
  for (const [index, plan] of plans.entries()) {
    const played = await playEpisode(world, world.tasks('train').at(index), 1, () => plan.shift()!);
    expect(played).toMatchObject({ success: true, outcome: 1, done: true });
  }
  const idle = await playEpisode(world, world.tasks('train').at(0), 1, () => '');
  expect(idle).toMatchObject({ success: false, outcome: 0, done: false });
  expect(left).toEqual([]);
});

test('a resources server of NeMo Gym, whose sessions are signed cookies', async () => {
  const { port, left } = await replay('nemo-counter');
  const [seed] = left.flatMap((exchange) => ('path' in exchange && exchange.body ? [exchange.body] : []));
  const rows = Array.from({ length: 12 }, () => JSON.stringify(seed)).join('\n');
  const data = join(tmpdir(), `turnwise-nemo-${process.pid}.jsonl`);
  writeFileSync(data, rows);
  closing.push(() => rmSync(data));
  const factory = await connectNemo('counter', `http://127.0.0.1:${port}`, data);
  const world = factory.create(factory.options.parse({}));
  const add = (count: number): string => toolAction('increment_counter', { count });
  const rest = [toolAction('get_counter_value', {}), JSON.stringify({ answer: 'done' })];
  const outcomes: number[] = [];
  for (const plan of [
    [add(3), add(1), ...rest],
    [add(1), ...rest],
  ]) {
    outcomes.push((await playEpisode(world, world.tasks('train').at(0), 1, () => plan.shift()!)).outcome);
  }
  expect(outcomes).toEqual([1, 0]);
  expect(left).toEqual([]);
});

test("openenv-core's client, played to our server again", async () => {
  const exchanges = recorded('openenv-client');
  const server = await serveEnvironment({ world: frozenLake.create(frozenLake.options.parse({})), port: 0 });
  closing.push(() => server.close());
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/ws`);
  await once(socket, 'open');
  const answered: unknown[] = [];
  const questions = exchanges.flatMap((exchange) => ('sent' in exchange ? [exchange.sent] : []));
  for (const question of questions.slice(0, -1)) {
    socket.send(JSON.stringify(question));
    const [raw] = (await once(socket, 'message')) as [Buffer];
    answered.push(JSON.parse(raw.toString()));
  }
  expect(questions.at(-1)).toEqual({ type: 'close' });
  expect(questions.length).toBeGreaterThan(15);
  expect(answered).toEqual(
    exchanges.flatMap((exchange) => ('received' in exchange ? [exchange.received] : [])),
  );
  socket.send('{"type":"close"}');
  await once(socket, 'close');
});
