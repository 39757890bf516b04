/** Whatever is sent: an answer in OpenAI's shape, no crash, and no session or call that is left over. */

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
const json = fc.oneof(
  { weight: 9, arbitrary: fc.oneof(chatBody, textBody) },
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
  { weight: 3, arbitrary: stray },
  { weight: 1, arbitrary: creation },
);

test('1,200 generated requests', { timeout: 60_000 }, async () => {
  const statuses = new Map<number, number>();
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
          if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
            expect(answer.trimEnd().endsWith('data: [DONE]')).toBe(true);
            return;
          }
          const parsed = JSON.parse(answer) as { error?: { message: string; type: string; code: string } };
          if (response.ok) return;
          expect(parsed.error).toEqual({
            message: expect.any(String),
            type: expect.any(String),
            param: parsed.error && 'param' in parsed.error ? parsed.error.param : null,
            code: expect.any(String),
          });
          // A fault of ours would be told as one.
          if (response.status === 500) expect(parsed.error!.code).toBe('model_failed');
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
    { numRuns: 100, seed: 7 },
  );
  expect(sent).toBeGreaterThanOrEqual(1200);
  // The requests got everywhere.
  for (const status of [201, 400, 401, 404, 413, 500]) expect([...statuses.keys()]).toContain(status);
  expect(statuses.get(200)).toBeGreaterThan(150);
});
