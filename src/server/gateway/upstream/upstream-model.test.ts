/** Servers elsewhere: black boxes, ones that tell token ids, and ones that lie, fail or vanish. */

import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { Gateway } from '../gateway.ts';
import { policyModel } from '../policy-model.ts';
import type { GatewaySession } from '../session/session.ts';
import { pathsOf } from '../testing/rebuild.ts';
import { rendererOf, scriptedTokens } from '../testing/scripted-policy.ts';
import { parseUpstream, type UpstreamOptions, upstreamModel } from './upstream-model.ts';

const open: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.stop();
});

async function serveRaw(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  open.push({
    stop: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const answering =
  (body: unknown, status = 200): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

/** An answer of the gateway: a completion, or an error. */
interface Answer {
  readonly choices: readonly {
    readonly message: {
      readonly content: string;
      readonly tool_calls: readonly { readonly function: object }[];
    };
  }[];
  readonly usage: object;
  readonly error: { readonly message: string; readonly code: string };
}

interface Fronted {
  readonly session: GatewaySession;
  ask(messages: object[], more?: object): Promise<{ status: number; body: Answer }>;
}

async function front(url: string, more: Partial<UpstreamOptions> = {}): Promise<Fronted> {
  const gateway = await new Gateway().start();
  open.push(gateway);
  const model = upstreamModel({
    name: 'policy',
    url,
    model: 'there',
    apiKey: 'sk',
    tokenIds: false,
    retries: 0,
    ...more,
  });
  const session = gateway.open({ name: 'fronted', seed: 1, model, maxCalls: 10 });
  return {
    session,
    ask: async (messages, extra = {}) => {
      const response = await fetch(`${gateway.baseURL(session)}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${session.key}` },
        body: JSON.stringify({ model: 'policy', messages, ...extra }),
      });
      return { status: response.status, body: (await response.json()) as Answer };
    },
  };
}

const hello = [{ role: 'user', content: 'who' }];

test('a black box: what was asked goes through, the answer comes back, and nothing of it can be trained', async () => {
  let seen: { body: string; key: string | undefined; path: string | undefined } | undefined;
  const url = await serveRaw((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      seen = { body, key: request.headers.authorization, path: request.url };
      answering({
        choices: [
          {
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [
                { id: 'theirs', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
              ],
            },
            finish_reason: 'tool_calls',
          },
        ],
        usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
      })(request, response);
    });
  });
  const { ask, session } = await front(url);
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
  const { body } = await ask(hello, { tools, temperature: 0.3, stop: 'x', tool_choice: 'required' });
  expect(body.choices[0]!.message.tool_calls[0]!.function).toEqual({ name: 'look', arguments: '{"a":1}' });
  expect(body.usage).toEqual({ prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 });
  expect(seen).toMatchObject({ key: 'Bearer sk', path: '/v1/chat/completions' });
  expect(JSON.parse(seen!.body)).toMatchObject({
    model: 'there',
    messages: hello,
    temperature: 0.3,
    stop: ['x'],
    tool_choice: 'required',
    tools: [{ type: 'function', function: { name: 'look' } }],
  });
  expect(JSON.parse(seen!.body)).not.toHaveProperty('return_token_ids');
  expect(session.record()).toMatchObject({
    untrainable: { 'no-token-ids': 1 },
    calls: [
      {
        by: { kind: 'model', name: `there@${new URL(url).host}`, version: 0 },
        trainable: 'no-token-ids',
        sampling: { temperature: 0.3 },
      },
    ],
  });
});

test('a tool call that its server cut does not leave as one, and the agent that throws is not to blame', async () => {
  const call = { id: 'theirs', type: 'function', function: { name: 'look', arguments: '{"a":' } };
  for (const given of [call, { ...call, function: { name: 'look', arguments: '{"a":1}' } }]) {
    const message = { role: 'assistant', content: null, tool_calls: [given] };
    const url = await serveRaw(answering({ choices: [{ message, finish_reason: 'length' }] }));
    const { ask, session } = await front(url);
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
    const { body } = await ask(hello, { tools });
    expect(body.choices[0]!.message.tool_calls).toBeUndefined();
    expect(body.choices[0]!.message.content).toContain('look');
    expect(session.record().calls).toMatchObject([{ finish: 'length', problem: expect.any(String) }]);
  }
});

test('an answer without end is cut off, and one that is too deep is not parsed', async () => {
  let sent = 0;
  const chunk = Buffer.alloc(2 ** 20, '[');
  const url = await serveRaw((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = (): void => {
      while (sent < 3000 && !response.destroyed) {
        sent++;
        if (!response.write(chunk)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  });
  const { ask } = await front(url);
  const before = process.memoryUsage().rss;
  expect((await ask(hello)).body.error.message).toContain('an answer of more than 33554432 bytes');
  expect(sent).toBeLessThan(200);
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * 2 ** 20);
  const deep = await front(await serveRaw(answering('['.repeat(20e6))));
  expect((await deep.ask(hello)).body.error.message).toContain('an answer that is nested deeper than 64');
  const long = await front(
    await serveRaw(answering({ choices: [{ message: { content: 'x'.repeat(40e6) } }] })),
  );
  expect((await long.ask(hello)).body.error.message).toContain('an answer of more than 33554432 bytes');
});

test('a server that tells token ids: calls are recorded for training and chained by exact prefix', async () => {
  // A gateway of ours stands in for it: it answers return_token_ids in vLLM's shape.
  const renderer = rendererOf('who is one two');
  const policy = scriptedTokens(renderer, () => 'one two');
  const behind = await new Gateway().start();
  open.push(behind);
  const model = policyModel({ policy, renderer, contextLength: 64 });
  const inner = behind.open({ name: 'inner', seed: 1, model, maxCalls: 10 });
  const { ask, session } = await front(behind.baseURL(inner), {
    apiKey: inner.key,
    model: 'policy',
    tokenIds: true,
  });
  const { body } = await ask(hello);
  await ask([...hello, body.choices[0]!.message, { role: 'user', content: 'is' }]);
  const { calls, untrainable } = session.record();
  expect(untrainable).toEqual({});
  expect(pathsOf(calls)).toEqual([[0, 1]]);
  expect(calls.map(({ context, ids, logprobs }) => ({ context, ids, logprobs }))).toEqual(
    inner.record().calls.map(({ context, ids, logprobs }) => ({ context, ids, logprobs })),
  );
});

test.each([
  ['no ids', { message: { content: 'x' } }, {}],
  ['no log-probabilities', { message: { content: 'x' }, token_ids: [1, 2] }, { prompt_token_ids: [3] }],
  [
    'too few log-probabilities',
    { message: { content: 'x' }, token_ids: [1, 2], logprobs: { content: [{ token: 'x', logprob: -1 }] } },
    { prompt_token_ids: [3] },
  ],
])('a server that should tell token ids and gives %s: kept, and marked', async (_case, choice, more) => {
  const url = await serveRaw(answering({ choices: [{ finish_reason: 'stop', ...choice }], ...more }));
  const { ask, session } = await front(url, { tokenIds: true });
  expect((await ask(hello)).status).toBe(200);
  expect(session.record()).toMatchObject({
    untrainable: { 'no-token-ids': 1 },
    calls: [{ context: new Int32Array(), ids: new Int32Array(), logprobs: new Float32Array() }],
  });
});

describe('a server that fails is a failure of the policy, with its own words', () => {
  test.each<[string, RequestListener, RegExp]>([
    ['is down', answering({ error: { message: 'overloaded' } }, 503), /status 503: overloaded/],
    ['knows no such key', answering({ error: { message: 'bad key' } }, 401), /status 401: bad key/],
    ['answers garbage', answering('<html>'), /not JSON: <html>/],
    ['answers another shape', answering({ choices: [] }), /another shape: choices/],
    ['vanishes', (request) => request.socket.destroy(), /upstream|server behind/],
    [
      'vanishes halfway',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"a');
        setTimeout(() => response.destroy(), 5);
      },
      /server behind/,
    ],
    ['is silent', () => {}, /no answer within 50 ms/],
  ])('%s', async (name, listener, message) => {
    const { ask, session } = await front(await serveRaw(listener), {
      timeoutMs: name === 'is silent' ? 50 : 5000,
    });
    const { status, body } = await ask(hello);
    expect(status).toBe(500);
    expect(body.error.message).toMatch(message);
    expect(session.fault).toMatchObject({ code: 'upstream-failed', fields: { origin: 'policy' } });
    expect(session.record().calls).toEqual([]);
  });

  test('a busy one is asked again', async () => {
    let times = 0;
    const url = await serveRaw((request, response) => {
      times++;
      if (times < 3) response.setHeader('retry-after', '0');
      answering(times < 3 ? {} : { choices: [{ message: { content: 'at last' } }] }, times < 3 ? 429 : 200)(
        request,
        response,
      );
    });
    const { ask } = await front(url, { retries: 3 });
    expect((await ask(hello)).body.choices[0]!.message.content).toBe('at last');
    expect(times).toBe(3);
  });

  test('a prompt that is too long is the end of the episode, not a failure', async () => {
    const refusal = { error: { message: 'too long', code: 'context_length_exceeded' } };
    const { ask, session } = await front(await serveRaw(answering(refusal, 400)));
    expect((await ask(hello)).body.error.code).toBe('context_length_exceeded');
    expect(session).toMatchObject({ overflowed: true, fault: undefined });
  });
});

describe('a key that the server echoes is in no error text', () => {
  const apiKey = 'sk-live-"0123456789"';
  const echoes: readonly (readonly [string, unknown, number])[] = [
    ['a refusal', { error: { message: `bad key ${apiKey}` } }, 401],
    ['an overflow', { error: { message: `${apiKey} maximum context length` } }, 400],
    ['an escaped refusal', JSON.stringify({ error: { message: apiKey } }).replace('sk', '\\u0073k'), 401],
    ['a page', `<p>${apiKey}${Buffer.from(apiKey).toString('base64')}</p>`, 403],
    ['what is not JSON, cut within the key', `${'x'.repeat(190)}${apiKey}`, 200],
    ['another shape', { choices: [{ [apiKey]: 1, logprobs: apiKey }] }, 200],
  ];
  test.each(echoes)('%s', async (_, body, status) => {
    const { ask, session } = await front(await serveRaw(answering(body, status)), { apiKey });
    const { body: answer } = await ask(hello);
    for (const text of [
      JSON.stringify(answer),
      String(session.fault),
      String((session.fault as Error | undefined)?.cause),
    ]) {
      expect(text).not.toMatch(/sk-live|0123|c2stbGl2/);
    }
  });
});

test('names of servers', () => {
  expect(parseUpstream('openai:http://x:1/v1#a/b', 'policy', undefined)).toMatchObject({
    url: 'http://x:1/v1',
    model: 'a/b',
    tokenIds: false,
  });
  expect(parseUpstream('vllm:https://x/v1', 'policy', 'k')).toMatchObject({
    tokenIds: true,
    model: 'default',
  });
  expect(() => parseUpstream('http://x', 'policy', undefined)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: This does not name a server. Seen: http://x. Allowed: openai:URL or vllm:URL, with #MODEL at the end where the server has several. For example: openai:http://localhost:8000/v1#qwen3-8b.]`,
  );
});
