/** What no client would send: the server answers it and stays what it was. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { adam_params, input, openModel, pass } from './testing/requests.ts';
import { call, tinyServer, work } from './testing/tiny-server.ts';

test('1,000 generated requests: each is answered, none crashes the server or leaves a session behind', {
  timeout: 120_000,
}, async () => {
  const { url, server } = await tinyServer({ limits: { gapMs: 50, mostSessions: 64 }, app: { pollMs: 20 } });
  const { session_id, model_id } = await openModel(url);
  const value: fc.Memo<unknown> = fc.memo((depth) =>
    depth <= 1
      ? leaf
      : fc.oneof(leaf, fc.array(value(), { maxLength: 3 }), fc.dictionary(name, value(), { maxKeys: 4 })),
  );
  const name = fc.constantFrom(
    'model_id',
    'session_id',
    'seq_id',
    'model_seq_id',
    'base_model',
    'lora_config',
    'rank',
    'data',
    'path',
    'prompt',
    'chunks',
    'tokens',
    'sampling_params',
    'max_tokens',
    'adam_params',
    'request_id',
    'loss_fn',
    'model_input',
    'loss_fn_inputs',
    'target_tokens',
    'forward_backward_input',
    'sampling_session_id',
    'sampling_session_seq_id',
    '__proto__',
  );
  const leaf = fc.oneof(
    fc.constantFrom<unknown>(
      model_id,
      session_id,
      'tiny',
      'cross_entropy',
      'tinker://a/weights/b',
      '../..',
      '',
      null,
      true,
      [],
      {},
    ),
    fc.integer({ min: -2, max: 5 }),
    fc.double(),
    fc.string({ maxLength: 8 }),
  );
  const valid = fc.constantFrom<[string, unknown]>(
    ['forward_backward', pass(model_id)],
    ['forward_backward', pass(model_id, 900)],
    ['optim_step', { model_id, adam_params }],
    ['create_session', {}],
    ['asample', { base_model: 'tiny', prompt: input, sampling_params: { max_tokens: 2 } }],
    ['session_heartbeat', { session_id }],
    ['cancel_future', { request_id: '1' }],
    ['retrieve_future', { request_id: '1' }],
  );
  const route = fc.constantFrom(
    'create_session',
    'session_heartbeat',
    'create_model',
    'get_info',
    'forward',
    'forward_backward',
    'optim_step',
    'save_weights',
    'save_weights_for_sampler',
    'load_weights',
    'unload_model',
    'create_sampling_session',
    'asample',
    'cancel_future',
    'retrieve_future',
    'weights_info',
    'telemetry',
    'client/config',
    'training_runs',
    '%00',
    '..',
  );
  const body = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.dictionary(name, value(3), { maxKeys: 6 }).map((object) => JSON.stringify(object)),
    },
    { weight: 1, arbitrary: value(2).map((any) => JSON.stringify(any) ?? '') },
    { weight: 1, arbitrary: fc.string({ maxLength: 30 }) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  );
  const anything = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.tuple(
        route,
        body,
        fc.constantFrom('application/json', 'application/x-protobuf', 'text/plain'),
      ),
    },
    {
      weight: 1,
      arbitrary: valid.map(
        ([where, content]) => [where, JSON.stringify(content), 'application/json'] as const,
      ),
    },
  );
  const statuses = new Map<number, number>();
  const requests = fc.sample(anything, { numRuns: 1000, seed: 20_261_121 });
  for (let from = 0; from < requests.length; from += 20) {
    await Promise.all(
      requests.slice(from, from + 20).map(async ([where, content, type]) => {
        const response = await fetch(`${url}/api/v1/${where}`, {
          method: 'POST',
          body: content as string | Uint8Array<ArrayBuffer>,
          headers: { 'content-type': type },
        });
        await response.arrayBuffer();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      }),
    );
  }
  expect([...statuses.values()].reduce((a, b) => a + b, 0)).toBe(1000);
  expect([...statuses.keys()].filter((status) => status >= 500)).toEqual([]);
  expect((await call(url, 'healthz')).body).toEqual({ status: 'ok' });
  expect(await work(url, 'forward_backward', pass(model_id))).toHaveProperty('loss_fn_outputs');
  for (const id of server.sessions.ids()) await server.endSession(id);
  expect([server.sessions.size, server.models.size]).toEqual([0, 0]);
});
