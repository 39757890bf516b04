/** The server as any client sees it: order, duplicates, several models, expiry and limits. */

import { describe, expect, test } from 'vitest';
import { adam_params, datum, input, openModel, pass, tensor } from './testing/requests.ts';
import { call, tinyServer, work } from './testing/tiny-server.ts';

describe('order', () => {
  test('a request that overtook another waits for it; one sent twice is one', async () => {
    const { url } = await tinyServer();
    const { model_id } = await openModel(url);
    const step = await call(url, 'optim_step', { model_id, seq_id: 2, adam_params });
    const first = await call(url, 'forward_backward', pass(model_id, 1));
    const again = await call(url, 'forward_backward', pass(model_id, 1));
    expect(again.body).toEqual(first.body);
    const { body } = await call(url, 'retrieve_future', { request_id: step.body.request_id });
    expect((body.metrics as Record<string, number>)['turnwise/grad_norm']).toBeGreaterThan(0);
    expect(await call(url, 'optim_step', { model_id, seq_id: 1, adam_params })).toMatchObject({
      status: 409,
      body: { detail: 'The sequence number was used for another request. Seen: seq_id 1.' },
    });
  });

  test('a number that never comes fails what waits for it, and nothing else', async () => {
    const { url } = await tinyServer({ limits: { gapMs: 20 } });
    const { model_id } = await openModel(url);
    expect(await work(url, 'optim_step', { model_id, seq_id: 3, adam_params })).toMatchObject({
      error:
        'A request came out of order, and those before it did not follow. Seen: seq_id 3; 1 has not come.',
      category: 'user',
    });
    expect(await work(url, 'forward_backward', pass(model_id, 1))).toHaveProperty('loss_fn_outputs');
    expect((await work(url, 'forward_backward', pass(model_id))).loss_fn_outputs).toHaveLength(1);
  });
});

test('several models at once, and snapshots that stay what they were', async () => {
  const { url } = await tinyServer();
  const a = await openModel(url, 0);
  const b = await openModel(url, 1, a.session_id);
  const lossOf = async (model_id: string): Promise<unknown> =>
    (await work(url, 'forward', { model_id, forward_input: { data: [datum], loss_fn: 'cross_entropy' } }))
      .metrics;
  const start = await lossOf(b.model_id);
  const publish = async (number: number, seq_id: number): Promise<string> =>
    (
      await work(url, 'save_weights_for_sampler', {
        model_id: a.model_id,
        seq_id,
        sampling_session_seq_id: number,
      })
    ).sampling_session_id as string;
  const ask = (sampling_session_id: string, seq_id: number): Promise<Record<string, unknown>> =>
    work(url, 'asample', {
      sampling_session_id,
      seq_id,
      prompt: input,
      num_samples: 2,
      sampling_params: { max_tokens: 4, temperature: 0, stop: [] },
      prompt_logprobs: true,
    });
  const old = await publish(0, 1);
  const before = await ask(old, 0);
  await work(url, 'forward_backward', pass(a.model_id, 2));
  await work(url, 'optim_step', { model_id: a.model_id, seq_id: 3, adam_params: { learning_rate: 0.1 } });
  expect(await ask(old, 1)).toEqual(before);
  const fresh = await publish(1, 4);
  expect((await ask(fresh, 0)).prompt_logprobs).not.toEqual(before.prompt_logprobs);
  expect(await ask(old, 2)).toEqual(before);
  expect(await lossOf(b.model_id)).toEqual(start);
  expect(await lossOf(a.model_id)).not.toEqual(start);
});

test('checkpoints: saved, listed, described, downloaded, loaded into another model, deleted', async () => {
  const { url } = await tinyServer();
  const { model_id, session_id } = await openModel(url);
  await work(url, 'forward_backward', pass(model_id, 1));
  await work(url, 'optim_step', { model_id, seq_id: 2, adam_params });
  const { path } = await work(url, 'save_weights', { model_id, seq_id: 3, path: 'first' });
  expect(path).toBe(`tinker://${model_id}/weights/first`);
  expect(await work(url, 'save_weights', { model_id, seq_id: 4, path: 'first' })).toMatchObject({
    category: 'user',
  });
  const sampler = await work(url, 'save_weights_for_sampler', { model_id, path: 'first' });
  expect((await call(url, 'weights_info', { tinker_path: path })).body).toEqual({
    base_model: 'tiny',
    is_lora: false,
    lora_rank: null,
  });
  const listed = (await call(url, `training_runs/${model_id}/checkpoints`)).body.checkpoints as {
    checkpoint_id: string;
  }[];
  expect(listed.map(({ checkpoint_id }) => checkpoint_id)).toEqual([
    'weights/first',
    'sampler_weights/first',
  ]);
  const run = (await call(url, `training_runs/${model_id}`)).body;
  expect(run).toMatchObject({ base_model: 'tiny', last_checkpoint: { tinker_path: path } });
  const archive = await fetch(
    `${url}/api/v1/training_runs/${model_id}/checkpoints/sampler_weights/first/archive`,
  );
  expect([...new Uint8Array(await archive.arrayBuffer()).subarray(0, 2)]).toEqual([0x1f, 0x8b]);
  const answer = await work(url, 'asample', {
    model_path: sampler.path,
    prompt: input,
    sampling_params: { max_tokens: 2, temperature: 0, stop: 'abc' },
  });
  expect(answer.sequences).toHaveLength(1);

  const loss = async (id: string): Promise<unknown> =>
    (await work(url, 'forward', { model_id: id, forward_input: { data: [datum], loss_fn: 'cross_entropy' } }))
      .metrics;
  const made = await work(url, 'load_weights', { session_id, model_seq_id: 7, path, optimizer: true });
  expect(made).toMatchObject({ type: 'load_weights', model_id: `${session_id}:train:7` });
  expect(await loss(made.model_id as string)).toEqual(await loss(model_id));
  expect(await call(url, 'load_weights', { model_id, path, optimizer: true })).toMatchObject({ status: 422 });

  const remove = (name: string) =>
    fetch(`${url}/api/v1/training_runs/${model_id}/checkpoints/${name}`, { method: 'DELETE' }).then(
      ({ status }) => status,
    );
  expect(await remove('first')).toBe(422);
  expect(await remove('weights/first')).toBe(204);
  expect(await remove('weights/first')).toBe(404);
});

test('a session that falls silent ends: its models are unloaded, its results and snapshots forgotten', async () => {
  const { url, server } = await tinyServer({ limits: { sessionTimeoutMs: 300 } });
  const { session_id, model_id } = await openModel(url);
  const kept = await openModel(url);
  await work(url, 'save_weights_for_sampler', { model_id, seq_id: 1, sampling_session_seq_id: 0 });
  for (let beat = 0; beat < 6; beat++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await call(url, 'session_heartbeat', { session_id: kept.session_id })).status).toBe(200);
  }
  await server.sweep();
  expect(await call(url, 'session_heartbeat', { session_id })).toMatchObject({ status: 410 });
  expect(await call(url, 'get_info', { model_id })).toMatchObject({ status: 404 });
  expect([...server.models.keys()]).toEqual([kept.model_id]);
  expect(server.sessions.size).toBe(1);
});

test('there is room for so many models; unloading twice is fine', async () => {
  const { url } = await tinyServer({ limits: { mostModels: 1 } });
  const { session_id, model_id } = await openModel(url);
  const second = { session_id, model_seq_id: 1, base_model: 'tiny', lora_config: { rank: 1 } };
  expect(await work(url, 'create_model', second)).toMatchObject({
    error: 'There is no room for another model. Seen: 1 are loaded. Unload one, or let its session end.',
  });
  for (let i = 0; i < 2; i++)
    expect(await work(url, 'unload_model', { model_id })).toMatchObject({ status: 'unloaded' });
  expect(await work(url, 'forward_backward', pass(model_id, 1))).toMatchObject({ category: 'user' });
  expect(await work(url, 'create_model', { ...second, model_seq_id: 2 })).toHaveProperty('model_id');
});

test('keys, lengths of bodies, and where results are held for a while', async () => {
  const { url } = await tinyServer({ app: { apiKey: 'tml-right', bodyBytes: 1000, pollMs: 5 } });
  expect((await call(url, 'create_session', {})).status).toBe(401);
  expect((await call(url, 'create_session', {}, { 'x-api-key': 'tml-wrong' })).status).toBe(401);
  const right = { 'x-api-key': 'tml-right' };
  const opened = await call(url, 'create_session', {}, { ...right, 'x-idempotency-key': 'once' });
  expect(await call(url, 'create_session', {}, { ...right, 'x-idempotency-key': 'once' })).toEqual(opened);
  expect((await call(url, 'asample', ' '.repeat(2000), right)).status).toBe(413);
  const { session_id } = opened.body;
  const creation = { session_id, model_seq_id: 0, base_model: 'tiny', lora_config: { rank: 1 } };
  const { model_id } = (await call(url, 'create_model', creation, right)).body;
  const step = await call(url, 'optim_step', { model_id, seq_id: 2, adam_params }, right);
  expect(await call(url, 'retrieve_future', { request_id: step.body.request_id }, right)).toEqual({
    status: 408,
    body: { type: 'try_again', request_id: step.body.request_id, queue_state: 'active' },
  });
});

test('what is wrong is said, with the place', async () => {
  const { url } = await tinyServer();
  const { model_id, session_id } = await openModel(url);
  const broken = (inputs: object) => ({
    ...pass(model_id),
    forward_backward_input: {
      data: [{ model_input: input, loss_fn_inputs: inputs }],
      loss_fn: 'cross_entropy',
    },
  });
  const cases: [string, unknown][] = [
    ['create_model', { session_id, model_seq_id: 3, base_model: 'other', lora_config: { rank: 1 } }],
    ['create_model', { session_id: 'nope', model_seq_id: 0, base_model: 'tiny', lora_config: { rank: 1 } }],
    ['forward_backward', pass('nope')],
    ['forward_backward', pass(model_id, undefined, 'cross_entrpy')],
    ['forward_backward', broken({})],
    ['forward_backward', broken({ target_tokens: tensor([2, 3], 'int64') })],
    ['forward_backward', broken({ target_tokens: tensor([2, 9, 4], 'int64') })],
    ['forward_backward', broken({ target_tokens: tensor([2, 3, 4], 'int64'), mask: tensor([1, 1, 1]) })],
    ['forward_backward', pass(model_id, undefined, 'ppo')],
    ['optim_step', { model_id, adam_params: { learning_rate: -1 } }],
    ['optim_step', 'model_id=1'],
    ['save_weights', { model_id, path: '../x' }],
    ['load_weights', { model_id, path: 'tinker://a/b' }],
    ['asample', { base_model: 'tiny', prompt: input, sampling_params: { max_tokens: 0 } }],
    ['asample', { prompt: input, sampling_params: {} }],
    ['retrieve_future', { request_id: 'x' }],
    ['nope', {}],
  ];
  const said = [];
  for (const [route, body] of cases) {
    const { status, body: answer } = await call(url, route, body);
    said.push(`${route} ${status}: ${answer.detail}`);
  }
  expect(said).toMatchInlineSnapshot(`
    [
      "create_model 404: Base model not found. Seen: other. Allowed: tiny.",
      "create_model 404: Session not found. Seen: nope.",
      "forward_backward 404: Model not found. Seen: nope.",
      "forward_backward 422: There is no loss "cross_entrpy". Allowed: cross_entropy, importance_sampling, ppo, cispo, dro. Did you mean "cross_entropy"?",
      "forward_backward 422: Datum 0 has no usable target_tokens. Seen: nothing. Allowed: 3 values, one for each token.",
      "forward_backward 422: Datum 0 has no usable target_tokens. Seen: 2 values. Allowed: 3 values, one for each token.",
      "forward_backward 422: The targets of datum 0 are not its next tokens. Seen: 9 at position 1. Allowed: 3, the next token of model_input.",
      "forward_backward 422: The loss cross_entropy has no input "mask". Seen: in datum 0. Allowed: target_tokens, weights.",
      "forward_backward 422: Datum 0 has no usable advantages. Seen: nothing. Allowed: 3 values, one for each token.",
      "optim_step 422: adam_params.learning_rate is not usable. Seen: -1. Allowed: a number >= 0.",
      "optim_step 422: The body is not JSON. Seen: Unexpected token 'm', "model_id=1" is not valid JSON.",
      "save_weights 422: path is not usable. Seen: "../x". Allowed: letters, digits, _ and -.",
      "load_weights 422: The path is not one of saved weights. Seen: tinker://a/b. Allowed: tinker://<model>/weights/<name>.",
      "asample 422: sampling_params.max_tokens is not usable. Seen: 0. Allowed: a number >= 1.",
      "asample 422: One source is needed. Allowed: sampling_session_id with seq_id, base_model, or model_path.",
      "retrieve_future 404: Future not found. Seen: x.",
      "nope 404: Not Found",
    ]
  `);
  expect(
    await work(url, 'asample', {
      base_model: 'tiny',
      prompt: { chunks: [{ tokens: [99] }] },
      sampling_params: { max_tokens: 1 },
    }),
  ).toMatchObject({ category: 'user' });
});
