/** Calling work off: samples are dropped, what changes a model is not. */

import { expect, test } from 'vitest';
import { adam_params, input, openModel, pass } from './testing/requests.ts';
import { call, tinyServer, work } from './testing/tiny-server.ts';

const stepNorm = async (url: string, model_id: string, seq_id: number): Promise<number> => {
  const { metrics } = await work(url, 'optim_step', { model_id, seq_id, adam_params });
  return (metrics as Record<string, number>)['turnwise/grad_norm']!;
};

test('a forward-backward pass cannot be called off: its gradient counts once, and its result comes', async () => {
  const { url } = await tinyServer();
  const plain = await openModel(url);
  await work(url, 'forward_backward', pass(plain.model_id, 1));
  const expected = await stepNorm(url, plain.model_id, 2);

  const { model_id } = await openModel(url, 1, plain.session_id);
  const { body } = await call(url, 'forward_backward', pass(model_id, 1));
  const { request_id } = body;
  const cancelled = await call(url, 'cancel_future', { request_id });
  expect(cancelled).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('What changes a model cannot be called off') },
  });
  // Who sends it again, as one whose connection broke would, is answered with the same work.
  expect((await call(url, 'forward_backward', pass(model_id, 1))).body.request_id).toBe(request_id);
  expect((await call(url, 'retrieve_future', { request_id })).body).toHaveProperty('loss_fn_outputs');
  expect(await stepNorm(url, model_id, 2)).toBeCloseTo(expected, 6);
});

test('a sample can be called off, but only by who knows its name', async () => {
  const { url, server } = await tinyServer();
  const { model_id } = await openModel(url);
  const ask = { base_model: 'tiny', prompt: input, sampling_params: { max_tokens: 4 } };
  const { request_id } = (await call(url, 'asample', ask)).body;
  const number = Number(String(request_id).split('-')[0]);
  // Names that count up could be guessed from one's own.
  for (const guess of [number, number + 1, `${number}-`, `${number}-${'A'.repeat(24)}`])
    expect(await call(url, 'retrieve_future', { request_id: String(guess) })).toMatchObject({ status: 404 });
  await call(url, 'cancel_future', { request_id });
  const { body } = await call(url, 'retrieve_future', { request_id });
  expect(body.sequences ?? body.error).toBeDefined();
  expect(await work(url, 'forward_backward', pass(model_id, 1))).toHaveProperty('loss_fn_outputs');
  // What was forgotten is told from what never was.
  server.futures.drop('without session');
  expect(await call(url, 'retrieve_future', { request_id })).toMatchObject({ status: 410 });
});
