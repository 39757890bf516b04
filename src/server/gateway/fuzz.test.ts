/** Whatever is sent: an answer in OpenAI's shape, no crash, and no session or call that is left over. */

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Gateway } from './gateway.ts';
import { policyModel } from './policy-model.ts';
import { rendererOf, scriptedTokens } from './testing/scripted-policy.ts';

const renderer = rendererOf('who is ada one two <call> look person:');
let seed = 0;
const policy = scriptedTokens(renderer, ({ promptIds }) => {
  seed += promptIds.length;
  if (seed % 17 === 0) throw new Error('the model stumbles');
  return ['one', 'two one', '<call> look person: ada', '<call> look <call>', ''][seed % 5]!;
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
/** Something that is often right, and often not. */
const nearly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: anything });
const message = fc.record(
  {
    role: nearly(fc.constantFrom('system', 'user', 'assistant', 'tool', 'developer', 'function')),
    content: nearly(
      fc.constantFrom('who is ada', 'one', 'two one', '', 'x'.repeat(300), '<call> look', '\u0000\ud800'),
    ),
    tool_call_id: nearly(fc.constant('call_1')),
    tool_calls: nearly(
      fc.constant([{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"person":"ada"}' } }]),
    ),
  },
  { requiredKeys: ['role', 'content'] },
);
const body = fc.record(
  {
    model: nearly(fc.constantFrom('policy', 'other')),
    messages: nearly(fc.array(message, { maxLength: 5 })),
    prompt: nearly(
      fc.oneof(fc.constant('who is'), fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 5 })),
    ),
    tools: nearly(
      fc.constant([
        {
          type: 'function',
          function: {
            name: 'look',
            parameters: { type: 'object', properties: { person: { type: 'string' } } },
          },
        },
      ]),
    ),
    tool_choice: nearly(fc.constantFrom('auto', 'none', 'required')),
    n: nearly(fc.integer({ min: -1, max: 4 })),
    stop: nearly(fc.constantFrom('one', ['two'], [])),
    temperature: nearly(fc.double({ noNaN: true })),
    top_p: nearly(fc.double({ min: 0, max: 1 })),
    max_tokens: nearly(fc.integer({ min: -1, max: 5 })),
    seed: nearly(fc.integer()),
    stream: nearly(fc.boolean()),
    stream_options: nearly(fc.constant({ include_usage: true })),
    logprobs: nearly(fc.boolean()),
    response_format: nearly(
      fc.constantFrom(
        { type: 'json_object' },
        { type: 'json_schema', json_schema: { name: 'x', schema: { $ref: '#/nowhere' } } },
      ),
    ),
    ['__proto__']: anything,
  },
  { requiredKeys: ['model', 'messages'] },
);
const request = fc.record({
  method: fc.constantFrom('POST', 'POST', 'POST', 'GET', 'DELETE', 'PUT'),
  path: fc.oneof(
    { weight: 6, arbitrary: fc.constant('/sessions/:id/v1/chat/completions') },
    { weight: 2, arbitrary: fc.constant('/sessions/:id/v1/completions') },
    fc.constantFrom(
      '/sessions',
      '/sessions/:id',
      '/sessions/:id/close',
      '/sessions/:id/v1/models',
      '/health',
      '/',
      '/sessions/%00',
    ),
  ),
  key: fc.constantFrom('own', 'own', 'own', 'key', 'wrong', ''),
  text: fc.oneof(
    { weight: 8, arbitrary: body.map((value) => JSON.stringify(value)) },
    anything.map((value) => JSON.stringify(value)),
    fc.string(),
    fc.constantFrom('{', '[[[[', '', `{"messages":"${'y'.repeat(5000)}"}`, '{"messages":[1e999]}'),
  ),
});

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
      const { calls, trajectories } = session.record();
      expect(trajectories.flat().sort()).toEqual(calls.map(({ id }) => id).sort());
      for (const { ids, logprobs, promptIds } of calls) {
        expect(logprobs).toHaveLength(ids.length);
        expect(promptIds.length).toBeGreaterThan(0);
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
  for (const status of [200, 400, 401, 404, 413, 500]) expect([...statuses.keys()]).toContain(status);
});
