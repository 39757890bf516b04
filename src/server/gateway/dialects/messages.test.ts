/** `/messages`: blocks, events in order, counting, and threads. */

import { afterEach, describe, expect, test } from 'vitest';
import {
  type Asking,
  asking,
  type Body,
  callText,
  DIALECTS,
  PARAMETERS,
  stopGateway,
} from '../testing/dialect-client.ts';
import { pathsOf } from '../testing/rebuild.ts';

afterEach(stopGateway);

const PATH = '/messages';
const body = DIALECTS[PATH];
const ask = async ({ post }: Asking, more: object = {}): Promise<Body> => {
  const { status, body: told } = await post(PATH, body(more));
  expect([status, told.error]).toEqual([200, undefined]);
  return told;
};
const user = (content: unknown): object => ({ role: 'user', content });

test('an answer has the blocks and counts that clients read, and no key that breaks one', async () => {
  const asked = await asking(
    () => `<think>\nhm\n</think>\n\nLet me look. ${callText('weather', '{"city": "Bern"}')}`,
  );
  const told = await ask(asked);
  const [call] = asked.session.record().calls;
  expect(told).toMatchObject({
    type: 'message',
    role: 'assistant',
    model: 'policy',
    content: [
      { type: 'thinking', thinking: 'hm', signature: expect.stringMatching(/./) },
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_use', id: expect.stringMatching(/^toolu_/), name: 'weather', input: { city: 'Bern' } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: {
      input_tokens: call!.context.length,
      output_tokens: call!.ids.length,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    },
  });
  expect(told.id).toMatch(/^msg_/);
  expect(told.content[1]).not.toHaveProperty('citations');
});

test('events of two pieces of text and a call of two: thirteen, with the counts at the end', async () => {
  const { post } = await asking(() => `Let me${callText('weather', '{"city": "New York", "days": 1}')}`);
  const { events, body: whole } = await post(PATH, body({ stream: true }));
  const told = events.map(({ event, data }) => {
    const parsed = JSON.parse(data);
    expect(parsed.type).toBe(event);
    return parsed;
  });
  expect(told.map(({ type, delta }) => delta?.type ?? type)).toEqual([
    'message_start',
    'ping',
    'content_block_start',
    'text_delta',
    'text_delta',
    'content_block_stop',
    'content_block_start',
    'input_json_delta',
    'input_json_delta',
    'input_json_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
  expect(told[0].message).toMatchObject({ content: [], stop_reason: null, usage: { output_tokens: 0 } });
  expect(told[6].content_block.input).toEqual({});
  expect(told[7].delta.partial_json).toBe('');
  expect(told[11].usage).toEqual(whole.usage);
});

test('results are messages of their own, and words among them come after', async () => {
  const answers = [callText('weather', '{"city": "Bern"}') + callText('weather', '{"city": "Rome"}'), 'so'];
  const asked = await asking(() => answers.shift()!);
  const { content } = await ask(asked, {
    system: [
      { type: 'text', text: 'be ' },
      { type: 'text', text: 'kind' },
    ],
  });
  const [bern, rome] = content;
  const result = (id: string, given: unknown): object => ({
    type: 'tool_result',
    tool_use_id: id,
    content: given,
  });
  await ask(asked, {
    system: 'be kind',
    messages: [
      user('how warm is it'),
      { role: 'assistant', content },
      user([
        result(bern.id, '21'),
        { type: 'text', text: 'hurry', cache_control: { type: 'ephemeral' } },
        { ...result(rome.id, [{ type: 'text', text: '30' }]), is_error: false },
      ]),
    ],
  });
  const { calls } = asked.session.record();
  expect(pathsOf(calls)).toEqual([[0, 1]]);
  expect(calls[1]!.messages).toEqual([
    { role: 'tool', content: '21', toolCallId: bern.id },
    { role: 'tool', content: '30', toolCallId: rome.id },
    { role: 'user', content: 'hurry' },
  ]);
});

test('a stop sequence is named', async () => {
  const asked = await asking(() => 'one Observation: two');
  const told = await ask(asked, { stop_sequences: ['Calling tools:', 'Observation:'] });
  expect(told).toMatchObject({
    content: [{ text: 'one' }],
    stop_reason: 'stop_sequence',
    stop_sequence: 'Observation:',
  });
});

test('a tool can be demanded, and calls be one at a time', async () => {
  const answers = [
    'weather", "arguments": {"city": "Bern"}}\n</tool_call>',
    callText('weather', '{"city": "Bern"}') + callText('weather', '{"city": "Rome"}'),
  ];
  const asked = await asking(() => answers.shift()!);
  const forced = await ask(asked, { tool_choice: { type: 'any' } });
  expect(forced.content).toMatchObject([{ type: 'tool_use', input: { city: 'Bern' } }]);
  const one = await ask(asked, { tool_choice: { type: 'auto', disable_parallel_tool_use: true } });
  expect(one.content).toHaveLength(1);
});

test('limits above what there is room for, thinking and effort are taken; a form is checked', async () => {
  const asked = await asking(() => '{"a": 1}');
  const schema = { type: 'object', properties: { b: { type: 'number' } }, required: ['b'] };
  const {
    status,
    headers,
    body: told,
  } = await asked.post(
    PATH,
    body({
      max_tokens: 64_000,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      output_config: { effort: 'low', format: { type: 'json_schema', schema } },
      metadata: { user_id: 'me' },
    }),
    { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'unheard-of-2030-01-01' },
  );
  expect(status).toBe(200);
  expect(headers.get('x-turnwise-ignored')).toBe('thinking, output_config.effort');
  expect(headers.get('request-id')).toMatch(/^req_/);
  expect(told.turnwise.valid).toBe(false);
});

test.each<[string, object, RegExp]>([
  ['no limit', { max_tokens: undefined }, /max_tokens/],
  ['a container', { container: 'c' }, /"container".*declare a tool/],
  ['servers of tools', { mcp_servers: [{}] }, /connect the agent/],
  ['an edit of the history', { context_management: {} }, /history/],
  [
    'a tool of the vendor',
    { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    /web_search_20250305/,
  ],
  ['a picture', { messages: [user([{ type: 'image', source: {} }])] }, /"image"/],
  ['nothing', { messages: [] }, /empty/],
])('%s is refused by name', async (_case, more, message) => {
  const { post } = await asking(() => 'so');
  const { status, body: told } = await post(PATH, body(more));
  expect([status, told.type, told.error.type]).toEqual([400, 'error', 'invalid_request_error']);
  expect(told.error.message).toMatch(message);
});

test('both base URLs lead here, and either header has the key', async () => {
  const { gateway, session } = await asking(() => 'so');
  for (const base of [gateway.baseURL(session), gateway.anthropicBaseURL(session)]) {
    for (const headers of [{ 'x-api-key': session.key }, { authorization: `Bearer ${session.key}` }]) {
      const response = await fetch(`${base}/v1/messages`, {
        method: 'POST',
        headers: headers as Record<string, string>,
        body: JSON.stringify(body()),
      });
      expect(response.status).toBe(200);
    }
  }
});

test('tokens are counted as they would be read; nothing is recorded, and no call is spent', async () => {
  const asked = await asking(() => 'so', { session: { maxCalls: 1 } });
  const { max_tokens: _, ...counted } = body() as Record<string, unknown>;
  const { body: told } = await asked.post(`${PATH}/count_tokens`, counted);
  expect(told).toEqual({ input_tokens: expect.any(Number) });
  expect(asked.session.record().calls).toEqual([]);
  expect((await ask(asked)).usage.input_tokens).toBe(told.input_tokens);
});

describe('threads', () => {
  const create = { thread: { type: 'create' } };
  const on = (id: string, content: unknown): object => ({
    model: 'policy',
    max_tokens: 200,
    messages: [user(content)],
    thread: { type: 'continue', previous_message_id: id },
  });
  const codeOf = ({ status, body: told }: { status: number; body: Body }): unknown[] => [
    status,
    told.error?.details?.error_code,
  ];

  test('go on with only what is new: system, tools and history are remembered', async () => {
    const answers = [callText('weather', '{"city": "Bern"}'), 'so', 'so again'];
    const asked = await asking(() => answers.shift()!);
    const first = await ask(asked, { ...create, system: 'be kind' });
    const [use] = first.content;
    const second = await asked.post(
      PATH,
      on(first.id, [{ type: 'tool_result', tool_use_id: use.id, content: '21' }]),
    );
    await asked.post(PATH, on(second.body.id, 'again'));
    const { calls, tools } = asked.session.record();
    expect(pathsOf(calls)).toEqual([[0, 1, 2]]);
    expect(new Set(calls.map((call) => call.tools)).size).toBe(1);
    expect(Object.values(tools)).toEqual([[{ name: 'weather', description: '', parameters: PARAMETERS }]]);
  });

  test('refuse by the codes on which clients go on without them', async () => {
    let finish = (): void => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let slow = false;
    const asked = await asking(async () => {
      if (slow) await held;
      return 'so';
    });
    const { post } = asked;
    const first = await ask(asked, create);
    expect(codeOf(await post(PATH, on('msg_unknown_0', 'on')))).toEqual([400, 'thread_not_found']);
    const apart = await ask(asked);
    expect(codeOf(await post(PATH, on(apart.id, 'on')))).toEqual([400, 'thread_not_found']);
    slow = true;
    const going = post(PATH, on(first.id, 'on'));
    await expect.poll(() => asked.policy.requests.length).toBe(3);
    expect(codeOf(await post(PATH, on(first.id, 'on')))).toEqual([400, 'thread_continue_in_flight']);
    finish();
    expect((await going).status).toBe(200);
    expect(codeOf(await post(PATH, on(first.id, 'on')))).toEqual([400, 'thread_already_continued']);
    const unknown = await post(PATH, body({ thread: { type: 'fork', of: first.id } }));
    expect(codeOf(unknown)).toEqual([400, 'thread_unsupported_request']);
    expect(unknown.body.error.details.unsupported).toEqual(['thread']);
  });

  test('one that failed to go on may try again', async () => {
    let fail = false;
    const asked = await asking(() => {
      if (fail) throw new Error('no weights');
      return 'so';
    });
    const first = await ask(asked, create);
    fail = true;
    expect((await asked.post(PATH, on(first.id, 'on'))).status).toBe(500);
    fail = false;
    expect((await asked.post(PATH, on(first.id, 'on'))).status).toBe(200);
  });
});
