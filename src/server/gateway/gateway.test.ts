/** The gateway over HTTP: shapes, keys, limits, leases, pauses, and what it records. */

import { afterEach, describe, expect, test } from 'vitest';
import { pretrainedConversation } from '../../model/pretrained-conversation.ts';
import { parityLanguage } from '../../model/testing/parity-data.ts';
import type { PromptRequest } from '../../policy/policy.ts';
import { Gateway, type GatewayOptions } from './gateway.ts';
import { policyModel } from './policy-model.ts';
import type { SessionRecord } from './recorded-call.ts';
import type { GatewaySession, SessionOptions } from './session.ts';
import { rendererOf, type ScriptedTokens, scriptedTokens } from './testing/scripted-policy.ts';
import { turnsOf } from './trajectories.ts';

const renderer = rendererOf('hello there who is ada person: look one two three stop {"a":1} {"a":"x"} [1]');
const LOOK = {
  type: 'function',
  function: { name: 'look', parameters: { type: 'object', properties: { person: { type: 'string' } } } },
};

let gateway: Gateway | undefined;
afterEach(() => gateway?.stop());

interface Setup {
  readonly session: GatewaySession;
  readonly policy: ScriptedTokens;
  post(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Body }>;
}
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here.
type Body = any;

async function setUp(
  say: (request: PromptRequest) => string | Promise<string> = () => 'hello there',
  options: GatewayOptions = {},
  sessionOptions: Partial<SessionOptions> = {},
): Promise<Setup> {
  const policy = scriptedTokens(renderer, say);
  const model = policyModel({ policy, renderer, contextLength: 64 });
  const started = await new Gateway({
    newSession: () => ({ name: 'over-http', seed: 1, model, maxCalls: 100, ...sessionOptions }),
    ...options,
  }).start();
  gateway = started;
  const session = started.open({ name: 'episode', seed: 1, model, maxCalls: 100, ...sessionOptions });
  return {
    session,
    policy,
    post: async (path, body, headers) => {
      const response = await fetch(`${started.baseURL(session)}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${session.key}`, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return { status: response.status, body: await response.json() };
    },
  };
}

const chat = (content: string, more: object = {}): object => ({
  model: 'policy',
  messages: [{ role: 'user', content }],
  ...more,
});

describe('/chat/completions', () => {
  test('answers in OpenAI’s shape', async () => {
    const { post } = await setUp();
    const { status, body } = await post('/chat/completions', chat('who is ada'));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'chat.completion',
      model: 'policy',
      system_fingerprint: 'version-7',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'hello there' },
          finish_reason: 'stop',
          logprobs: null,
        },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
      turnwise: { policy_version: 7, valid: true },
    });
  });

  test('records the rendered prompt, the sampled ids and their log-probabilities', async () => {
    const { post, session } = await setUp();
    await post('/chat/completions', chat('who is ada'));
    const [call] = session.record().calls;
    expect(call).toMatchObject({
      policyVersion: 7,
      promptIds: renderer.prompt({ ids: [], messages: [] }, [{ role: 'user', content: 'who is ada' }])
        .promptIds,
      ids: renderer.completionIds('hello there'),
      logprobs: [-1, -2, -3],
      text: 'hello there',
    });
    expect(call).not.toHaveProperty('untrainable');
  });

  test('tool calls: what the policy wrote is parsed, and the next prompt extends it token for token', async () => {
    const answers = ['<call> look person: ada', 'one'];
    const { post, session } = await setUp(() => answers.shift()!);
    const first = await post('/chat/completions', chat('who is ada', { tools: [LOOK] }));
    const message = first.body.choices[0].message;
    expect(message).toMatchObject({
      content: null,
      tool_calls: [{ type: 'function', function: { name: 'look', arguments: '{"person":"ada"}' } }],
    });
    expect(first.body.choices[0].finish_reason).toBe('tool_calls');
    await post('/chat/completions', {
      model: 'policy',
      tools: [LOOK],
      messages: [
        { role: 'user', content: 'who is ada' },
        message,
        { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'two' },
      ],
    });
    const { calls, trajectories } = session.record();
    expect(trajectories).toEqual([['call-0', 'call-1']]);
    const [one, two] = calls;
    expect(two!.promptIds.slice(0, one!.promptIds.length + one!.ids.length)).toEqual([
      ...one!.promptIds,
      ...one!.ids,
    ]);
    expect(turnsOf(calls).map(({ extendsPrevious }) => extendsPrevious)).toEqual([false, true]);
  });

  test('tool_choice: a forced call begins with context that was not sampled; "none" reads no calls', async () => {
    const { post, session } = await setUp(() => 'person: ada');
    const forced = { tools: [LOOK], tool_choice: { type: 'function', function: { name: 'look' } } };
    const { body } = await post('/chat/completions', chat('who', forced));
    expect(body.choices[0].message.tool_calls[0].function).toEqual({
      name: 'look',
      arguments: '{"person":"ada"}',
    });
    const [call] = session.record().calls;
    expect(renderer.text(call!.promptIds.slice(-2))).toBe('<call> look');
    expect(call!.ids).toEqual(renderer.completionIds('person: ada'));
    const { body: none } = await post(
      '/chat/completions',
      chat('who', { tools: [LOOK], tool_choice: 'none' }),
    );
    expect(none.choices[0].message).toEqual({ role: 'assistant', content: 'person: ada', refusal: null });
  });

  test('n choices are completions of one prompt, each a trajectory of its own', async () => {
    const answers = ['one', 'two', 'three'];
    const { post, session, policy } = await setUp(() => answers.shift()!);
    const { body } = await post('/chat/completions', chat('who', { n: 3, temperature: 0.5, top_p: 0.9 }));
    expect(body.choices.map((choice: Body) => choice.message.content)).toEqual(['one', 'two', 'three']);
    expect(session.record().trajectories).toEqual([['call-0'], ['call-1'], ['call-2']]);
    expect(new Set(policy.requests.map(({ seedKey }) => seedKey)).size).toBe(3);
    expect(policy.requests[0]!.sampling).toMatchObject({ temperature: 0.5, topP: 0.9 });
  });

  test('stop cuts text and tokens where sampling would have ended', async () => {
    const { post, session } = await setUp(() => 'one two stop three');
    const { body } = await post('/chat/completions', chat('who', { stop: ['stop'] }));
    expect(body.choices[0]).toMatchObject({ message: { content: 'one two' }, finish_reason: 'stop' });
    const [call] = session.record().calls;
    expect(renderer.text(call!.ids)).toBe('one two stop');
    expect(call!.logprobs).toEqual([-1, -2, -3]);
    // The next prompt closes the turn that was cut.
    await post('/chat/completions', {
      model: 'policy',
      messages: [
        { role: 'user', content: 'who' },
        { role: 'assistant', content: 'one two' },
        { role: 'user', content: 'who' },
      ],
    });
    expect(session.record().trajectories).toEqual([['call-0', 'call-1']]);
  });

  test('max_tokens, logprobs and token ids', async () => {
    const { post } = await setUp(() => 'one two three');
    const { body } = await post(
      '/chat/completions',
      chat('who', { max_completion_tokens: 2, logprobs: true, return_token_ids: true }),
    );
    const [choice] = body.choices;
    expect(choice.finish_reason).toBe('length');
    expect(choice.logprobs.content).toMatchObject([
      { token: 'one', logprob: -1 },
      { token: 'two', logprob: -2 },
    ]);
    expect(choice.token_ids).toHaveLength(2);
    expect(body.prompt_token_ids).toEqual(
      renderer.prompt({ ids: [], messages: [] }, [{ role: 'user', content: 'who' }]).promptIds,
    );
  });

  test('the same seed gives the same randomness, in any session; without one, calls differ', async () => {
    const { post, policy } = await setUp();
    await post('/chat/completions', chat('who', { seed: 3 }));
    await post('/chat/completions', chat('who'));
    await post('/chat/completions', chat('who'));
    await gateway!.stop();
    const other = await setUp(undefined, {}, { name: 'another episode', seed: 2 });
    await other.post('/chat/completions', chat('who', { seed: 3, n: 2 }));
    const keys = policy.requests.map(({ seedKey }) => seedKey);
    expect(new Set(keys).size).toBe(3);
    const [first, second] = other.policy.requests.map(({ seedKey }) => seedKey);
    expect(first).toBe(keys[0]);
    expect(second).not.toBe(first);
  });

  test('response_format is checked, not enforced, and says so', async () => {
    const answers = ['{"a":1}', '[1]', '{"a":1}', '{"a":"x"}', 'hello'];
    const { post } = await setUp(() => answers.shift()!);
    const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
    const format = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } };
    const valid = async (more: object): Promise<boolean> =>
      (await post('/chat/completions', chat('who', more))).body.turnwise.valid;
    expect(await valid({ response_format: { type: 'json_object' } })).toBe(true);
    expect(await valid({ response_format: { type: 'json_object' } })).toBe(false);
    expect(await valid(format)).toBe(true);
    expect(await valid(format)).toBe(false);
    expect(await valid({ response_format: { type: 'text' } })).toBe(true);
  });
});

test('streaming: the same record as without, in chunks that add up to the same answer, and usage at the end', async () => {
  const { post, session } = await setUp(() => 'hello there <call> look person: ada');
  const { body } = await post('/chat/completions', chat('who', { tools: [LOOK], seed: 1 }));
  const response = await fetch(`${gateway!.baseURL(session)}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session.key}` },
    body: JSON.stringify(
      chat('who', { tools: [LOOK], seed: 1, stream: true, stream_options: { include_usage: true } }),
    ),
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const lines = (await response.text()).trimEnd().split('\n\n');
  expect(lines.at(-1)).toBe('data: [DONE]');
  const chunks: Body[] = lines.slice(0, -1).map((line) => JSON.parse(line.slice('data: '.length)));
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }: Body) => delta));
  const [whole] = body.choices;
  expect(deltas.map(({ content }) => content ?? '').join('')).toBe(whole.message.content);
  const calls = deltas.flatMap(({ tool_calls }) => tool_calls ?? []);
  expect(calls[0].function.name).toBe('look');
  expect(calls.map((call: Body) => call.function.arguments).join('')).toBe(
    whole.message.tool_calls[0].function.arguments,
  );
  expect(chunks.at(-2).choices[0].finish_reason).toBe('tool_calls');
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: body.usage });
  const [one, two] = session.record().calls;
  expect({ ...two, id: '', conversation: '', policyMs: 0, environmentMs: 0 }).toEqual({
    ...one,
    id: '',
    conversation: '',
    policyMs: 0,
    environmentMs: 0,
  });
});

test('what a model thinks is apart from what it says, whole and streamed, and is no edit where it is left out', async () => {
  const thinking = pretrainedConversation(await parityLanguage('tokenizer-qwen'), { maxTurnTokens: 64 });
  const policy = scriptedTokens(thinking, () => '<think>\nhm well\n</think>\n\nfigs');
  const model = policyModel({ policy, renderer: thinking, contextLength: 1024 });
  const { post, session } = await setUp(undefined, {}, { model });
  const { body } = await post('/chat/completions', chat('who'));
  expect(body.choices[0].message).toMatchObject({ content: 'figs', reasoning_content: 'hm well' });
  const response = await fetch(`${gateway!.baseURL(session)}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session.key}` },
    body: JSON.stringify(chat('who', { stream: true })),
  });
  const deltas = (await response.text())
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)).choices[0].delta);
  expect(deltas.map((delta) => delta.reasoning_content ?? '').join('')).toBe('hm well');
  expect(deltas.map((delta) => delta.content ?? '').join('')).toBe('figs');
  const messages = [
    { role: 'user', content: 'who' },
    { role: 'assistant', content: 'figs' },
    { role: 'user', content: 'why' },
  ];
  await post('/chat/completions', { model: 'policy', messages });
  const last = session.record().calls.at(-1)!;
  expect(last.untrainable).toBeUndefined();
  expect(last.fresh).toEqual([{ role: 'user', content: 'why' }]);
});

describe('/completions and /models', () => {
  test('text prompts chain by text, prompts of ids by ids', async () => {
    const { post, session } = await setUp(() => 'one two');
    const first = await post('/completions', { model: 'policy', prompt: 'who is', max_tokens: 8 });
    expect(first.body).toMatchObject({
      object: 'text_completion',
      choices: [{ text: 'one two', finish_reason: 'stop' }],
    });
    await post('/completions', { model: 'policy', prompt: 'who isone two three', max_tokens: 8 });
    const { calls } = session.record();
    const ids = [...calls[1]!.promptIds, ...calls[1]!.ids, ...renderer.textIds('ada')];
    await post('/completions', { model: 'policy', prompt: ids, max_tokens: 8 });
    expect(session.record().trajectories).toEqual([['call-0', 'call-1', 'call-2']]);
    expect(session.record().calls[2]!.promptIds).toEqual(ids);
  });

  test('lists the models', async () => {
    const { session } = await setUp();
    const headers = { authorization: `Bearer ${session.key}` };
    const response = await fetch(`${gateway!.baseURL(session)}/models`, { headers });
    expect(await response.json()).toMatchObject({ object: 'list', data: [{ id: 'policy' }] });
  });
});

describe('what cannot be trained is kept, marked and counted', () => {
  test('edited history', async () => {
    const { post, session } = await setUp(() => 'one');
    await post('/chat/completions', chat('who'));
    const edited = {
      model: 'policy',
      messages: [
        { role: 'user', content: 'who' },
        { role: 'assistant', content: 'two' },
        { role: 'user', content: 'who' },
      ],
    };
    const { body } = await post('/chat/completions', edited);
    expect(body.turnwise.untrainable).toBe('edited-history');
    const record = session.record();
    expect(record.untrainable).toEqual({ 'edited-history': 1 });
    expect(record.calls).toHaveLength(2);
    expect(turnsOf(record.calls).map(({ untrainable }) => untrainable)).toEqual([
      undefined,
      'edited-history',
    ]);
    expect(turnsOf(record.calls).map(({ sampled }) => sampled)).toEqual([true, false]);
  });

  test('another model', async () => {
    const judge = {
      ...policyModel({ policy: scriptedTokens(renderer, () => 'two'), renderer, contextLength: 64 }),
      name: 'judge',
    };
    const { post, session } = await setUp(() => 'one', {}, { foreign: [judge] });
    await post('/chat/completions', { ...chat('who'), model: 'judge' });
    await post('/chat/completions', chat('who'));
    expect(session.record().untrainable).toEqual({ 'foreign-model': 1 });
  });
});

test('branches and parallel conversations are trajectories of their own, and no token is sampled in two', async () => {
  const { post, session } = await setUp(({ promptIds }) => ['one', 'two', 'three'][promptIds.length % 3]!);
  await post('/chat/completions', chat('who'));
  const { text } = session.record().calls[0]!;
  const branch = (content: string): Promise<unknown> =>
    post('/chat/completions', {
      model: 'policy',
      messages: [
        { role: 'user', content: 'who' },
        { role: 'assistant', content: text },
        { role: 'user', content },
      ],
    });
  await branch('one');
  await branch('two');
  await Promise.all([post('/chat/completions', chat('ada')), post('/chat/completions', chat('hello'))]);
  const record = session.record();
  expect(record.trajectories.map((ids) => ids.length).sort()).toEqual([1, 1, 1, 2]);
  const turns = turnsOf(record.calls);
  expect(turns.reduce((sum, { ids }) => sum + ids.length, 0)).toBe(
    record.calls.reduce((sum, { ids }) => sum + ids.length, 0),
  );
});

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
    ['another model', { ...chat('who'), model: 'polcy' }, 'model_not_found'],
    ['a prompt that is too long', chat('who '.repeat(80)), 'context_length_exceeded'],
    [
      'arguments that are no object',
      {
        model: 'policy',
        messages: [
          {
            role: 'assistant',
            tool_calls: [{ id: 'x', type: 'function', function: { name: 'a', arguments: '[' } }],
          },
        ],
      },
      'invalid_arguments',
    ],
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
    const elsewhere = await fetch(`${gateway!.address}/sessions/none/v1/models`, {
      headers: { authorization: `Bearer ${session.key}` },
    });
    expect(elsewhere.status).toBe(404);
    // The key of one session opens no other, and not the list.
    const list = await fetch(`${gateway!.address}/sessions`, {
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
    expect(gateway!.state.running).toBe(0);
  });

  test('a client that hangs up leaves nothing running', async () => {
    const { session } = await setUp(() => new Promise(() => {}));
    const hangUp = new AbortController();
    const call = fetch(`${gateway!.baseURL(session)}/chat/completions`, {
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
    const response = await fetch(`${gateway!.address}${path}`, {
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
      trajectories: [['call-0']],
    });
    const closed = await ask('DELETE', `/sessions/${body.id}`, body.api_key, {
      reward: 0.5,
      info: { why: 'half' },
    });
    expect(closed.body).toMatchObject({ status: 'closed', reward: 0.5, info: { why: 'half' } });
    expect((await ask('POST', `/sessions/${body.id}/close`, body.api_key)).body.error.code).toBe(
      'session_not_found',
    );
    expect(ended).toHaveLength(1);
    expect(ended[0]!.task).toEqual({ q: 1 });
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
    gateway!.endExpired(performance.now() + 500);
    expect(gateway!.sessions).toHaveLength(2);
    gateway!.endExpired(performance.now() + 1500);
    expect(gateway!.sessions).toEqual([session.id]);
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
    const change = gateway!.exclusively(async () => {
      order.push('change');
      policy.version = 8;
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
    expect(session.record().calls.map(({ policyVersion }) => policyVersion)).toEqual([7, 8]);
  });

  test('closing a session frees whoever waits for its calls', async () => {
    const { post, session } = await setUp(() => new Promise(() => {}));
    const call = post('/chat/completions', chat('who'));
    await expect.poll(() => session.running).toBe(1);
    const change = gateway!.exclusively(async () => 'changed');
    gateway!.end(session.id);
    expect(await change).toBe('changed');
    expect((await call).body.error.code).toBe('session_not_found');
  });
});

test('a port that is taken', async () => {
  await setUp();
  const port = Number(new URL(gateway!.address).port);
  await expect(new Gateway({ port }).start()).rejects.toMatchObject({ code: 'port-unusable' });
});
