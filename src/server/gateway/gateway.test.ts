/** The gateway over HTTP: errors, keys, limits, leases, pauses. */

import { afterEach, describe, expect, test } from 'vitest';
import { Gateway } from './gateway.ts';
import type { SessionRecord } from './session/session-record.ts';
import { type Body, chat, gateway, setUp, stopGateway } from './testing/open-gateway.ts';

afterEach(stopGateway);

describe('errors', () => {
  test.each([
    ['a body that is not JSON', '{', 'invalid_json'],
    ['a list', [], 'invalid_body'],
    ['deep nesting', `{"a":${'['.repeat(100_000)}`, 'invalid_json'],
    ['no messages', { model: 'policy', messages: [] }, 'invalid_value'],
    ['a misspelt parameter', chat('who', { temprature: 1 }), 'unknown_parameter'],
    ['a penalty', chat('who', { frequency_penalty: 1 }), 'unsupported_parameter'],
    ['a forced call without tools', chat('who', { tool_choice: 'required' }), 'invalid_tool_choice'],
    [
      'a picture',
      { model: 'policy', messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
      'invalid_value',
    ],
    ['a prompt that is too long', chat('who '.repeat(80)), 'context_length_exceeded'],
  ])('%s', async (_case, body, code) => {
    const { post } = await setUp();
    const answer = await post('/chat/completions', body);
    expect([400, 404]).toContain(answer.status);
    expect(answer.body.error).toMatchObject({ code, message: expect.any(String), type: expect.any(String) });
    expect(answer.body.error).toHaveProperty('param');
  });

  test('name what was meant', async () => {
    const { post } = await setUp();
    const { body } = await post('/chat/completions', chat('who', { temprature: 1 }));
    expect(body.error).toMatchInlineSnapshot(`
      {
        "code": "unknown_parameter",
        "message": "There is no parameter "temprature". Did you mean "temperature"?",
        "param": "temprature",
        "type": "invalid_request_error",
      }
    `);
  });

  test('wrong keys, unknown sessions and routes', async () => {
    const { post, session } = await setUp();
    expect((await post('/chat/completions', chat('x'), { authorization: 'Bearer no' })).status).toBe(401);
    expect((await post('/chat/completions', chat('x'), { authorization: '' })).status).toBe(401);
    expect((await post('/nothing', {})).body.error.code).toBe('unknown_route');
    const elsewhere = await fetch(`${gateway().address}/sessions/none/v1/models`, {
      headers: { authorization: `Bearer ${session.key}` },
    });
    expect(elsewhere.status).toBe(404);
    // The key of one session opens no other, and not the list.
    const list = await fetch(`${gateway().address}/sessions`, {
      headers: { authorization: `Bearer ${session.key}` },
    });
    expect(list.status).toBe(401);
  });

  test('a model that fails: status 500, not to be repeated, and the session knows whose fault it was', async () => {
    const { post, session } = await setUp(() => {
      throw new Error('no weights');
    });
    const { status, body } = await post('/chat/completions', chat('who'));
    expect(status).toBe(500);
    expect(body.error).toMatchObject({ code: 'model_failed', type: 'server_error' });
    expect(session.fault).toMatchObject({ message: 'no weights' });
  });

  test('too many calls, too fast, too large', async () => {
    const limits = { bodyBytes: 500, callsPerSecond: 1, callBurst: 2 };
    const { post, session } = await setUp(undefined, { limits }, { maxCalls: 1 });
    expect((await post('/chat/completions', chat('x'.repeat(1000)))).body.error.code).toBe('body_too_large');
    expect((await post('/chat/completions', chat('who'))).status).toBe(200);
    expect((await post('/chat/completions', chat('who'))).body.error.code).toBe('call_limit_reached');
    expect(session.limited).toBe(true);
    expect((await post('/chat/completions', chat('who'))).body.error.code).toBe('too_many_calls');
  });

  test('a call that takes too long ends', async () => {
    const { post } = await setUp(() => new Promise(() => {}), { limits: { callTimeoutMs: 30 } });
    expect((await post('/chat/completions', chat('who'))).body.error.code).toBe('call_timeout');
    expect(gateway().state.running).toBe(0);
  });

  test('a client that hangs up leaves nothing running', async () => {
    const { session } = await setUp(() => new Promise(() => {}));
    const hangUp = new AbortController();
    const call = fetch(`${gateway().baseURL(session)}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${session.key}` },
      body: JSON.stringify(chat('who')),
      signal: hangUp.signal,
    });
    await expect.poll(() => session.running).toBe(1);
    hangUp.abort();
    await expect(call).rejects.toThrow();
    await expect.poll(() => session.running).toBe(0);
  });
});

describe('sessions over HTTP', () => {
  const ask = async (
    method: string,
    path: string,
    key: string,
    body?: unknown,
  ): Promise<{ status: number; body: Body }> => {
    const response = await fetch(`${gateway().address}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };

  test('created, used, read and closed with a reward; the second close finds nothing', async () => {
    const ended: SessionRecord[] = [];
    await setUp(() => 'one', { key: 'secret', onEnd: (record) => ended.push(record) });
    const { status, body } = await ask('POST', '/sessions', 'secret', { task: { q: 1 } });
    expect(status).toBe(201);
    const answer = await fetch(`${body.base_url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${body.api_key}` },
      body: JSON.stringify(chat('who')),
    });
    expect(answer.status).toBe(200);
    expect((await ask('GET', `/sessions/${body.id}`, body.api_key)).body).toMatchObject({
      status: 'open',
      calls: [{ id: 0, ids: expect.any(Array), logprobs: [-1, -2] }],
    });
    const closed = await ask('DELETE', `/sessions/${body.id}`, body.api_key, {
      reward: 0.5,
      info: { why: 'half' },
    });
    expect(closed.body).toMatchObject({
      status: 'closed',
      reward: 0.5,
      info: { why: 'half' },
      transitions: [{ call: 0, action: 'one', rewards: { agent: 0.5 }, notes: { info: { why: 'half' } } }],
    });
    expect((await ask('POST', `/sessions/${body.id}/close`, body.api_key)).body.error.code).toBe(
      'session_not_found',
    );
    expect(ended).toHaveLength(1);
    expect(ended[0]!.task).toEqual({ q: 1 });
  });

  test('are rewarded along the way', async () => {
    await setUp(() => 'one', { key: 'secret' });
    const { body } = await ask('POST', '/sessions', 'secret');
    const chatted = async (content: string): Promise<string> => {
      const answer = await fetch(`${body.base_url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${body.api_key}` },
        body: JSON.stringify(chat(content)),
      });
      return ((await answer.json()) as { id: string }).id;
    };
    const path = `/sessions/${body.id}/rewards`;
    const early = await ask('POST', path, body.api_key, { value: 1 });
    expect([early.status, early.body.error.code]).toEqual([400, 'invalid_reward']);
    const first = await chatted('who');
    await chatted('ada');
    const paid = await ask('POST', path, body.api_key, { value: 0.5, call: first });
    expect([paid.status, paid.body]).toEqual([201, { object: 'reward', value: 0.5, call: first }]);
    expect((await ask('POST', path, 'secret', { value: 2 })).status).toBe(201);
    for (const wrong of [{ value: 'much' }, { value: 1, call: 'chatcmpl-no' }, { reward: 1 }, {}])
      expect((await ask('POST', path, body.api_key, wrong)).status).toBe(400);
    const { body: record } = await ask('DELETE', `/sessions/${body.id}`, body.api_key, { reward: 1 });
    expect(record.reward).toBe(1);
    expect(record.transitions.map(({ rewards }: Body) => rewards.agent)).toEqual([0.5, 3]);
    expect((await ask('POST', path, 'secret', { value: 2 })).status).toBe(404);
  });

  test('refuse wrong keys and rewards, and more than the limit', async () => {
    await setUp(undefined, { key: 'secret', limits: { sessions: 2 } });
    expect((await ask('POST', '/sessions', 'wrong')).status).toBe(401);
    const { body } = await ask('POST', '/sessions', 'secret');
    expect((await ask('DELETE', `/sessions/${body.id}`, 'secret', { reward: 'much' })).status).toBe(400);
    expect((await ask('DELETE', `/sessions/${body.id}`, 'secret', { rewrad: 1 })).status).toBe(400);
    expect((await ask('POST', '/sessions', 'secret')).body.error.code).toBe('too_many_sessions');
  });

  test('end when their lease runs out, unless they are used or belong to this process', async () => {
    const ended: SessionRecord[] = [];
    const { session } = await setUp(undefined, {
      key: 'secret',
      limits: { leaseMs: 1000 },
      onEnd: (record) => ended.push(record),
    });
    const { body } = await ask('POST', '/sessions', 'secret');
    gateway().endExpired(performance.now() + 500);
    expect(gateway().sessions).toHaveLength(2);
    gateway().endExpired(performance.now() + 1500);
    expect(gateway().sessions).toEqual([session.id]);
    expect(ended).toMatchObject([{ id: body.id, status: 'expired' }]);
    expect((await ask('GET', `/sessions/${body.id}`, 'secret')).status).toBe(404);
  });
});

describe('while weights change', () => {
  test('new calls wait, those under way are finished first, and each knows its version', async () => {
    const finish: (() => void)[] = [];
    const { post, policy, session } = await setUp(
      () => new Promise<string>((resolve) => finish.push(() => resolve('one'))),
    );
    const first = post('/chat/completions', chat('who'));
    await expect.poll(() => finish.length).toBe(1);
    const order: string[] = [];
    const change = gateway().exclusively(async () => {
      order.push('change');
      policy.author = { ...policy.author, version: 8 };
    });
    const second = post('/chat/completions', chat('who'));
    await expect.poll(() => session.running).toBe(2);
    expect(order).toEqual([]);
    expect(finish).toHaveLength(1);
    finish[0]!();
    await first;
    await change;
    expect(order).toEqual(['change']);
    await expect.poll(() => finish.length).toBe(2);
    finish[1]!();
    await second;
    const { calls, transitions } = session.record();
    expect(calls.map(({ by }) => by.version)).toEqual([7, 8]);
    expect(calls[1]!.at).toBeLessThan(transitions[0]!.at);
    expect(calls[1]!.waitMs).toBeGreaterThan(0);
  });

  test('closing a session frees whoever waits for its calls', async () => {
    const { post, session } = await setUp(() => new Promise(() => {}));
    const call = post('/chat/completions', chat('who'));
    await expect.poll(() => session.running).toBe(1);
    const change = gateway().exclusively(async () => 'changed');
    gateway().end(session.id);
    expect(await change).toBe('changed');
    expect((await call).body.error.code).toBe('session_not_found');
  });
});

test('a port that is taken', async () => {
  await setUp();
  const port = Number(new URL(gateway().address).port);
  await expect(new Gateway({ port }).start()).rejects.toMatchObject({ code: 'port-unusable' });
});

describe('stopping', () => {
  const slow = async (ms: number) => {
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const set = await setUp(async () => {
      await finished;
      return 'hello there';
    });
    const answer = set.post('/chat/completions', chat('who'));
    while (gateway().state.running === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    setTimeout(finish, ms).unref();
    return { ...set, answer };
  };

  test('gives calls under way the time to be answered, and takes no new ones', async () => {
    const { answer, post, session } = await slow(300);
    // A connection that is there already: a server that was closed takes no new one.
    const idle = await fetch(`${gateway().address}/health`);
    await idle.text();
    const began = performance.now();
    const stopped = gateway().stop(5000);
    const late = await post('/chat/completions', chat('who')).catch(() => 'refused');
    expect(late === 'refused' || (late as { status: number }).status === 503).toBe(true);
    expect((await answer).body.choices[0].message.content).toBe('hello there');
    await stopped;
    expect(performance.now() - began).toBeLessThan(2500);
    expect(session.record().calls).toHaveLength(1);
  });

  test('cuts them when that time is over, and at once when it is told to hurry', async () => {
    for (const [drainMs, hurryMs, atMost] of [
      [200, undefined, 1500],
      [60_000, 100, 1500],
    ] as const) {
      const { answer } = await slow(30_000);
      const cut = answer.then(
        ({ status }) => status,
        () => 'cut',
      );
      const hurry = new AbortController();
      if (hurryMs !== undefined) setTimeout(() => hurry.abort(), hurryMs);
      const began = performance.now();
      await gateway().stop(drainMs, hurry.signal);
      expect(performance.now() - began).toBeGreaterThan(90);
      expect(performance.now() - began).toBeLessThan(atMost);
      expect(await cut).not.toBe(200);
    }
  });
});
