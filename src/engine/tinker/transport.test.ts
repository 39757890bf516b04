/** The client against servers that misbehave: every answer of the protocol, and some outside it. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { TurnwiseError } from '../../core/errors.ts';
import { TinkerService } from './service.ts';
import { Transport } from './transport.ts';

interface Scripted {
  readonly status?: number;
  readonly body?: string | Uint8Array;
  readonly headers?: Record<string, string>;
  /** Break the connection instead, or never answer. */
  readonly instead?: 'break' | 'hang' | 'break in the middle';
}

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

interface Seen {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Answers in turn; the last answer is given for ever. */
async function scripted(...answers: Scripted[]): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    const script = answers[Math.min(seen.length, answers.length - 1)]!;
    seen.push({ url: request.url!, headers: request.headers, body });
    if (script.instead === 'break') return void request.socket.destroy();
    if (script.instead === 'hang') return;
    response.writeHead(script.status ?? 200, { 'content-type': 'application/json', ...script.headers });
    if (script.instead === 'break in the middle') {
      response.write('{"half');
      return void setTimeout(() => request.socket.destroy(), 5);
    }
    response.end(script.body ?? '{}');
  };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => answer(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const policy = {
  pauseMs: 1,
  longestPauseMs: 30,
  patienceMs: 800,
  paymentPauseMs: 20,
  paymentPatienceMs: 800,
};
const apiKey = 'tml-very-secret';

function transport(url: string): Transport {
  return new Transport({ baseUrl: url, apiKey, policy, signal: new AbortController().signal });
}

/** What people read of each status, where the server says `the reason`. */
const sentences: Readonly<Record<number, string>> = {
  401: 'The Tinker server refused the key. Seen: 401 from /x: the reason. Set TINKER_API_KEY to a valid key of this server.',
  402: 'The Tinker server asks for payment. Seen: 402 from /x: the reason. Settle the account; the weights saved so far are still there.',
  404: 'The Tinker server does not know this resource. Seen: 404 from /x: the reason. Its session may have expired: resume from the last checkpoint.',
  409: 'The Tinker server has seen this sequence number or name with other content. Seen: 409 from /x: the reason. Is another process using the same session? Resume from the last checkpoint.',
  410: 'The Tinker server no longer has the result, also after the request was sent again. Seen: 410 from /x: the reason. Resume from the last checkpoint.',
  422: 'The Tinker server rejected a request. Seen: 422 from /x: the reason. The message says why.',
  429: 'The Tinker server kept asking to slow down. Seen: 429 from /x: the reason. Try later, or lower rollout.concurrency.',
  500: 'The Tinker server kept failing. Seen: 500 from /x: the reason. Look at its log, then resume from the last checkpoint.',
};

async function outcome(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'done';
  } catch (error) {
    return TurnwiseError.isInstance(error) ? error.code : `untyped: ${error}`;
  }
}

test('answers that are too long or too deep are errors at once, not asked for again', async () => {
  const long = await scripted({ body: 'x'.repeat(5000) });
  await expect(transport(long.url).request('/x', { mostBytes: 1000 })).rejects.toThrow(
    '/x answered at too great a length',
  );
  const deep = await scripted({ body: '['.repeat(5_000_000) });
  await expect(transport(deep.url).json('/x')).rejects.toThrow(
    '/x gave an answer that is nested deeper than 64',
  );
  expect([long.seen.length, deep.seen.length]).toEqual([1, 1]);
});

describe('answers', () => {
  const ok: Scripted = {};
  test.each<[string, Scripted[], string, number]>([
    ['408 is asked again at once', [{ status: 408 }, { status: 408 }, ok], 'done', 3],
    ['500 is asked again', [{ status: 500 }, { status: 503 }, ok], 'done', 3],
    ['429 is asked again', [{ status: 429, headers: { 'retry-after': '0' } }, ok], 'done', 2],
    ['402 is waited for', [{ status: 402 }, { status: 402 }, ok], 'done', 3],
    [
      'a broken connection is tried again',
      [{ instead: 'break' }, { instead: 'break in the middle' }, ok],
      'done',
      3,
    ],
    [
      'a bare 400 three times',
      [{ status: 400, body: '' }, { status: 400, body: '' }, { status: 400, body: '' }, ok],
      'done',
      4,
    ],
    ['a bare 400 four times', [{ status: 400, body: '' }], 'tinker-rejected', 4],
    ['400 with a reason', [{ status: 400, body: '{"detail":"no"}' }], 'tinker-rejected', 1],
    ['401', [{ status: 401 }], 'tinker-unauthorized', 1],
    ['403', [{ status: 403 }], 'tinker-unauthorized', 1],
    ['404', [{ status: 404 }], 'tinker-not-found', 1],
    ['409', [{ status: 409 }], 'tinker-conflict', 1],
    ['410', [{ status: 410 }], 'tinker-expired', 1],
    ['422', [{ status: 422 }], 'tinker-rejected', 1],
  ])('%s', async (_name, answers, code, requests) => {
    const { url, seen } = await scripted(...answers);
    expect(await outcome(transport(url).request('/x', { body: {} }))).toBe(code);
    expect(seen).toHaveLength(requests);
  });

  test.each<[string, Scripted, string]>([
    ['429', { status: 429 }, 'tinker-busy'],
    ['402', { status: 402 }, 'tinker-payment'],
    ['500', { status: 500 }, 'tinker-server-error'],
    ['no connection', { instead: 'break' }, 'tinker-unreachable'],
  ])('patience ends: %s for ever', async (_name, answer, code) => {
    const { url, seen } = await scripted(answer);
    expect(await outcome(transport(url).request('/x', { body: {} }))).toBe(code);
    expect(seen.length).toBeGreaterThan(2);
  });

  test('messages say what the server said, and never the key, even where the server repeats it', async () => {
    const detail = [{ loc: ['body', 'rank'], msg: `too large for ${apiKey}` }];
    const { url, seen } = await scripted({ status: 422, body: JSON.stringify({ detail }) });
    const error = await transport(url)
      .request('/create_model', { body: {} })
      .catch((caught: unknown) => caught);
    expect(seen[0]!.headers['x-api-key']).toBe(apiKey);
    expect(error).toMatchObject({ code: 'tinker-rejected' });
    expect(JSON.stringify([String(error), (error as TurnwiseError).fields])).not.toContain(apiKey);
    expect((error as Error).message).toMatchInlineSnapshot(
      `"The Tinker server rejected a request. Seen: 422 from /create_model: body.rank: too large for (key). The message says why."`,
    );
  });

  test.each([401, 402, 404, 409, 410, 422, 429, 500])('what %i says', async (status) => {
    const { url } = await scripted({ status, body: '{"detail":"the reason"}' });
    const error = await transport(url)
      .request('/x', { body: {}, once: true })
      .catch((caught: Error) => caught);
    expect((error as Error).message).toBe(sentences[status]);
  });

  test('whoever waits is told why, and not with every pause', async () => {
    const { url } = await scripted({ status: 503 }, { status: 503 }, { status: 429 }, ok);
    const told: string[] = [];
    const signal = new AbortController().signal;
    const patient = new Transport({ baseUrl: url, policy, signal, onWait: (reason) => told.push(reason) });
    await patient.request('/asample', { body: {} });
    expect(told).toEqual([
      'waiting for the Tinker server, and asking again. The Tinker server kept failing. Seen: 503 from /asample: no explanation. Look at its log, then resume from the last checkpoint.',
    ]);
  });

  test('a server that is not there at the beginning is not waited for', async () => {
    const { url, seen } = await scripted({ instead: 'break' });
    expect(await outcome(TinkerService.connect({ baseUrl: url, policy }))).toBe('tinker-unreachable');
    expect(seen).toHaveLength(1);
  });

  test('a download from elsewhere is followed without the key; nothing else is', async () => {
    const store = await scripted({ body: 'bytes' });
    const moved = { status: 302, headers: { location: `${store.url}/file` } };
    const { url, seen } = await scripted(moved);
    const { bytes } = await transport(url).request('/archive', { method: 'GET' });
    expect(Buffer.from(bytes).toString()).toBe('bytes');
    expect([seen[0]!.headers['x-api-key'], store.seen[0]!.headers['x-api-key']]).toEqual([apiKey, undefined]);
    expect(await outcome(transport(url).request('/asample', { body: {} }))).toBe('tinker-rejected');
    expect(store.seen).toHaveLength(1);
  });

  test.each(['ftp://server', 'server:8000', 'http://me:hunter2@server'])('%s is no address', (baseUrl) => {
    expect(() => transport(baseUrl)).toThrow(/The address of the Tinker server cannot be used/);
    expect(() => transport(baseUrl)).not.toThrow(/hunter2/);
  });

  test('an answer that is no JSON', async () => {
    const { url } = await scripted({ body: '<html>' });
    expect(await outcome(transport(url).json('/x', { body: {} }))).toBe('tinker-garbled');
  });
});

describe('results', () => {
  const session: Scripted[] = [{ status: 404 }, { body: '{"session_id":"s"}' }];
  const taken: Scripted = { body: '{"request_id":"7"}' };
  const sample = (service: TinkerService) =>
    service.sample({
      samplingSession: 'a',
      sequence: 0,
      prompt: [1],
      count: 1,
      parameters: { maxTokens: 2, seed: 1, stopIds: [], temperature: 1, topP: 1, topK: 0 },
    });
  const done: Scripted = {
    body: JSON.stringify({ sequences: [{ stop_reason: 'stop', tokens: [5], logprobs: [-1] }] }),
  };

  test.each<[string, Scripted[], string]>([
    ['at once', [done], 'done'],
    [
      'after 408, a try-again with 200, and metadata',
      [{ status: 408 }, { body: '{"type":"try_again"}' }, { body: '{"status":"complete_metadata"}' }, done],
      'done',
    ],
    ['lost and asked for again', [{ status: 410 }, taken, done], 'done'],
    [
      'lost every time',
      [{ status: 410 }, taken, { status: 410 }, taken, { status: 410 }, taken, { status: 410 }],
      'tinker-expired',
    ],
    ['failed, as hosted servers say it', [{ body: '{"error":"no","category":"user"}' }], 'tinker-failed'],
    ['failed, as others say it', [{ status: 400, body: '{"detail":"no"}' }], 'tinker-failed'],
    ['unknown', [{ status: 404 }], 'tinker-not-found'],
    ['something else', [{ body: '{"sequences":3}' }], 'tinker-garbled'],
    [
      'protobuf that is none',
      [{ body: new Uint8Array([255, 255, 1]), headers: { 'content-type': 'application/x-protobuf' } }],
      'tinker-garbled',
    ],
    ['never', [{ body: '{"type":"try_again"}' }], 'tinker-timeout'],
    ['never, without an answer', [{ instead: 'hang' }], 'tinker-timeout'],
  ])('%s', async (_name, answers, code) => {
    const { url } = await scripted(...session, taken, ...answers);
    const futures = { resultTimeoutMs: code === 'tinker-timeout' ? 300 : 20_000, pollMs: 100 };
    const service = await TinkerService.connect({ baseUrl: url, policy, futures, heartbeatMs: 1e6 });
    expect(await outcome(sample(service))).toBe(code);
    await service.close();
  });

  test('closing ends all waiting and calls off what runs', async () => {
    const { url, seen } = await scripted(...session, taken, { instead: 'hang' }, {});
    const service = await TinkerService.connect({ baseUrl: url, policy, heartbeatMs: 1e6 });
    const waiting = outcome(sample(service));
    while (seen.length < 4) await new Promise((resolve) => setTimeout(resolve, 2));
    await service.close();
    expect(await waiting).toBe('engine-closed');
    expect(seen.map(({ url: route }) => route).at(-1)).toBe('/api/v1/cancel_future');
    expect(seen.at(-1)!.body).toBe('{"request_id":"7"}');
  });

  test('a session is kept alive by heartbeats, which stop when it has ended', async () => {
    const { url, seen } = await scripted(...session, {}, { status: 500 }, { status: 410 });
    const service = await TinkerService.connect({ baseUrl: url, policy, heartbeatMs: 10 });
    while (seen.length < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(seen.slice(2).map(({ url: route }) => route)).toEqual(
      new Array(3).fill('/api/v1/session_heartbeat'),
    );
    await service.close();
  });
});
