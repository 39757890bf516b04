/** Whatever is sent, in whatever dialect: an answer in its shape, no crash, and no session or call that is left over. */

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Gateway } from './gateway.ts';
import { policyModel } from './policy-model.ts';
import { pathsOf, promptsOf } from './testing/rebuild.ts';
import { rendererOf, scriptedTokens } from './testing/scripted-policy.ts';

const renderer = rendererOf('who is ada one two <call> look person:');
let asked = 0;
const policy = scriptedTokens(renderer, () => {
  asked++;
  if (asked % 7 === 0) throw new Error('the model stumbles');
  return ['one', 'two one', '<call> look person: ada', '<call> look <call>', ''][asked % 5]!;
});
const model = policyModel({ policy, renderer, contextLength: 48 });
let gateway: Gateway;

beforeAll(async () => {
  gateway = await new Gateway({
    key: 'key',
    limits: { bodyBytes: 4096, sessions: 8, callBurst: 1e6 },
    newSession: () => ({ name: 'fuzz', seed: 1, model, maxCalls: 1e6 }),
  }).start();
});
afterAll(() => gateway.stop());

const anything = fc.jsonValue({ maxDepth: 3 });
/** Something that is mostly right: many requests get all the way, and each kind of mistake is made. */
const nearly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 30, arbitrary: right }, { weight: 1, arbitrary: anything });
const contents = fc.constantFrom(
  'who is ada',
  'one',
  'two one',
  '',
  'x'.repeat(300),
  '<call> look',
  '\u0000\ud800',
  'one '.repeat(60),
);
const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{"person":"ada"}' } };
const message = fc.oneof(
  fc.record({ role: nearly(fc.constantFrom('system', 'user', 'developer')), content: nearly(contents) }),
  fc.record(
    { role: fc.constant('assistant'), content: nearly(contents), tool_calls: nearly(fc.constant([call])) },
    { requiredKeys: ['role'] },
  ),
  fc.record({
    role: fc.constant('tool'),
    content: nearly(contents),
    tool_call_id: nearly(fc.constant('call_1')),
  }),
);
const look = {
  type: 'function',
  function: { name: 'look', parameters: { type: 'object', properties: { person: { type: 'string' } } } },
};
const shared = {
  model: nearly(fc.constantFrom('policy', 'policy', 'policy', 'other')),
  n: nearly(fc.integer({ min: 1, max: 4 })),
  stop: nearly(fc.constantFrom('one', ['two'], [])),
  temperature: nearly(fc.double({ min: 0, max: 2, noNaN: true })),
  top_p: nearly(fc.double({ min: 0.01, max: 1, noNaN: true })),
  max_tokens: nearly(fc.integer({ min: 1, max: 5 })),
  seed: nearly(fc.integer()),
  stream: nearly(fc.boolean()),
  stream_options: nearly(fc.constant({ include_usage: true })),
};
const chatBody = fc.record(
  {
    ...shared,
    messages: nearly(fc.array(message, { minLength: 1, maxLength: 5 })),
    tools: nearly(fc.constant([look])),
    tool_choice: nearly(fc.constantFrom('auto', 'none', 'required')),
    logprobs: nearly(fc.boolean()),
    response_format: nearly(
      fc.constantFrom(
        { type: 'json_object' },
        { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
        { type: 'json_schema', json_schema: { name: 'x', schema: { $ref: '#/nowhere' } } },
      ),
    ),
  },
  { requiredKeys: ['model', 'messages'] },
);
const textBody = fc.record(
  {
    ...shared,
    prompt: nearly(
      fc.oneof(
        fc.constant('who is'),
        fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 5 }),
      ),
    ),
    logprobs: nearly(fc.integer({ min: 0, max: 1 })),
  },
  { requiredKeys: ['model', 'prompt'] },
);
const item = fc.oneof(
  fc.record({ role: nearly(fc.constantFrom('system', 'user', 'assistant')), content: nearly(contents) }),
  fc.record({
    type: fc.constant('message'),
    role: fc.constant('user'),
    content: nearly(fc.constant([{ type: 'input_text', text: 'who' }])),
  }),
  fc.record({
    type: fc.constant('item_reference'),
    id: nearly(fc.constantFrom('msg_a_0', 'rs_', '__proto__')),
  }),
  fc.record({
    type: fc.constant('function_call'),
    call_id: nearly(fc.constant('a')),
    name: nearly(fc.constant('look')),
    arguments: nearly(fc.constantFrom('{"person":"ada"}', '{"pers', '[[[[')),
  }),
  fc.record({
    type: fc.constant('function_call_output'),
    call_id: nearly(fc.constant('a')),
    output: nearly(contents),
  }),
  fc.record({ type: fc.constantFrom('reasoning', 'computer_call', 'toString'), summary: anything }),
);
const parameters = look.function.parameters;
const responsesBody = fc.record(
  {
    model: shared.model,
    input: nearly(fc.oneof(contents, fc.array(item, { minLength: 1, maxLength: 5 }))),
    instructions: nearly(contents),
    previous_response_id: nearly(fc.constantFrom(null, null, null, 'resp_a_0')),
    tools: nearly(fc.constant([{ type: 'function', name: 'look', parameters }])),
    tool_choice: nearly(fc.constantFrom('auto', 'required', { type: 'function', name: 'look' })),
    text: nearly(fc.constantFrom({}, { format: { type: 'json_object' } })),
    include: nearly(fc.constantFrom([], ['message.output_text.logprobs'])),
    max_output_tokens: shared.max_tokens,
    stream: shared.stream,
  },
  { requiredKeys: ['model', 'input'] },
);
const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text: nearly(contents) }),
  fc.record({
    type: fc.constant('tool_use'),
    id: nearly(fc.constant('a')),
    name: nearly(fc.constant('look')),
    input: nearly(fc.constant({})),
  }),
  fc.record({
    type: fc.constant('tool_result'),
    tool_use_id: nearly(fc.constant('a')),
    content: nearly(contents),
  }),
  fc.record({ type: fc.constantFrom('thinking', 'image', '__proto__'), thinking: nearly(contents) }),
);
const messagesBody = fc.record(
  {
    model: shared.model,
    max_tokens: shared.max_tokens,
    messages: nearly(
      fc.array(
        fc.record({
          role: nearly(fc.constantFrom('user', 'assistant')),
          content: nearly(fc.oneof(contents, fc.array(block, { maxLength: 3 }))),
        }),
        { minLength: 1, maxLength: 4 },
      ),
    ),
    system: nearly(contents),
    tools: nearly(fc.constant([{ name: 'look', input_schema: parameters }])),
    tool_choice: nearly(fc.constantFrom({ type: 'auto' }, { type: 'any' }, { type: 'tool', name: 'look' })),
    thread: nearly(
      fc.constantFrom(null, null, { type: 'create' }, { type: 'continue', previous_message_id: 'msg_a_0' }),
    ),
    stop_sequences: nearly(fc.constantFrom(['one'], [])),
    stream: shared.stream,
  },
  { requiredKeys: ['model', 'messages', 'max_tokens'] },
);
const json = fc.oneof(
  { weight: 9, arbitrary: fc.oneof(chatBody, textBody, responsesBody, messagesBody) },
  fc.dictionary(fc.constantFrom('__proto__', 'model', 'messages', 'toString'), anything),
  anything,
);
const strayText = fc.oneof(
  json.map((value) => JSON.stringify(value)),
  fc.string(),
  fc.constantFrom('{', '[[[[', '', `{"messages":"${'y'.repeat(5000)}"}`, '{"messages":[1e999]}'),
);
const key = fc.oneof(
  { weight: 8, arbitrary: fc.constant('own') },
  { weight: 1, arbitrary: fc.constantFrom('key', 'wrong', '') },
);
const CHAT = '/sessions/:id/v1/chat/completions';
const TEXT = '/sessions/:id/v1/completions';
const RESPONSES = '/sessions/:id/v1/responses';
const MESSAGES = '/sessions/:id/v1/messages';
const to = (path: string, body: fc.Arbitrary<object>) =>
  fc.record({
    method: fc.constant('POST'),
    path: fc.constant(path),
    key,
    text: body.map((value) => JSON.stringify(value)),
  });
const stray = fc.record({
  method: fc.constantFrom('POST', 'GET', 'DELETE', 'PUT'),
  path: fc.constantFrom(
    CHAT,
    TEXT,
    RESPONSES,
    `${RESPONSES}/input_tokens`,
    `${RESPONSES}/resp_a_0`,
    MESSAGES,
    `${MESSAGES}/count_tokens`,
    '/sessions',
    '/sessions/:id',
    '/sessions/:id/close',
    '/sessions/:id/v1/models',
    '/health',
    '/',
    '/sessions/%00',
  ),
  key,
  text: strayText,
});
const creation = fc.record({
  method: fc.constant('POST'),
  path: fc.constant('/sessions'),
  key: fc.constantFrom('key', 'key', 'own'),
  text: fc.constantFrom('', '{}', '{"task":{"a":1},"lease_ms":500}', '{"lease_ms":-1}', '{"leases":1}'),
});
const request = fc.oneof(
  { weight: 6, arbitrary: to(CHAT, chatBody) },
  { weight: 2, arbitrary: to(TEXT, textBody) },
  { weight: 5, arbitrary: to(RESPONSES, responsesBody) },
  { weight: 5, arbitrary: to(MESSAGES, messagesBody) },
  { weight: 3, arbitrary: stray },
  { weight: 1, arbitrary: creation },
);

test('1,440 generated requests', { timeout: 120_000 }, async () => {
  const statuses = new Map<number, number>();
  const answered = new Set<string>();
  let sent = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 12, maxLength: 12 }), async (requests) => {
      const session = gateway.open({ name: `fuzz-${sent}`, seed: 1, model, maxCalls: 1e6 });
      await Promise.all(
        requests.map(async ({ method, path, key, text }) => {
          sent++;
          const response = await fetch(gateway.address + path.replace(':id', session.id), {
            method,
            headers: { authorization: `Bearer ${key === 'own' ? session.key : key}` },
            ...(method === 'GET' ? {} : { body: text }),
          });
          const answer = await response.text();
          statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
          if (response.ok) answered.add(path);
          if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
            expect(answer.trimEnd()).toMatch(/data: (\[DONE\]|\{"type":"(response\.|message_stop).*)$/);
            return;
          }
          const parsed = JSON.parse(answer) as { error?: { message: string; type: string } };
          if (response.ok) return;
          const { error } = parsed;
          expect(error).toMatchObject({ message: expect.any(String), type: expect.any(String) });
          const details = { details: { error_code: expect.any(String) } };
          expect(error).toMatchObject(path.startsWith(MESSAGES) ? details : { code: expect.any(String) });
          // A fault of ours would be told as one.
          if (response.status === 500) expect(error!.message).toContain('the model stumbles');
        }),
      );
      const { calls } = session.record();
      expect([...new Set(pathsOf(calls).flat())].sort()).toEqual(calls.map(({ id }) => id).sort());
      const prompts = promptsOf(calls);
      for (const { id, ids, logprobs } of calls) {
        expect(logprobs).toHaveLength(ids.length);
        expect(prompts.get(id)!.length).toBeGreaterThan(0);
      }
      if (session.status === 'open') gateway.end(session.id);
      // What the requests made themselves ends like everything else.
      for (const id of gateway.sessions) gateway.end(id);
      expect(gateway.state).toEqual({ running: 0, paused: false });
      expect(gateway.sessions).toEqual([]);
    }),
    { numRuns: 120, seed: 7 },
  );
  expect(sent).toBeGreaterThanOrEqual(1440);
  // The requests got everywhere.
  expect([...answered]).toEqual(expect.arrayContaining([CHAT, TEXT, RESPONSES, MESSAGES]));
  for (const status of [201, 400, 401, 404, 413, 500]) expect([...statuses.keys()]).toContain(status);
  expect(statuses.get(200)).toBeGreaterThan(150);
});
