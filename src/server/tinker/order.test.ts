/** Numbers of requests where some are refused, and numbers that no double holds. */

import { expect, test } from 'vitest';
import { encodeForwardBackwardRequest } from '../../wire/tinker/protobuf.ts';
import { PROTOBUF } from '../../wire/tinker/shapes.ts';
import { adam_params, input, openModel, pass } from './testing/requests.ts';
import { call, tinyServer, work } from './testing/tiny-server.ts';

const patient = { limits: { gapMs: 3_600_000 } };

test('nobody waits for a training request that was refused, whether its number is counted or used again', async () => {
  const { url } = await tinyServer(patient);
  const { model_id } = await openModel(url);
  expect(await call(url, 'forward_backward', pass(model_id, 1, 'gspo'))).toMatchObject({ status: 422 });
  // A client that does not count refusals.
  expect(await work(url, 'forward_backward', pass(model_id, 1))).toHaveProperty('loss_fn_outputs');
  expect(await call(url, 'forward_backward', pass(model_id, 2, 'gspo'))).toMatchObject({ status: 422 });
  expect(await call(url, 'optim_step', { model_id, seq_id: 3, adam_params: { eps: 0 } })).toMatchObject({
    status: 422,
  });
  const missing = { model_id, seq_id: 4, path: `tinker://${model_id}/weights/none` };
  expect(await call(url, 'load_weights', missing)).toMatchObject({ status: 404 });
  // One that does, as the official SDK.
  expect(await work(url, 'forward_backward', pass(model_id, 5))).toHaveProperty('loss_fn_outputs');
  expect(await call(url, 'forward_backward', pass(model_id, 2))).toMatchObject({
    status: 409,
    body: { detail: 'The sequence number has been passed. Seen: seq_id 2; the next is 6.' },
  });
});

test('what waited for a request begins when that is refused, also one in protobuf with parts that are not read here', async () => {
  const { url } = await tinyServer(patient);
  const { model_id } = await openModel(url);
  const step = await call(url, 'optim_step', { model_id, seq_id: 3, adam_params });
  await call(url, 'forward_backward', pass(model_id, 2, 'gspo'));
  const request = { modelId: model_id, seqId: 1, data: [], lossName: 'cross_entropy', lossConfig: {} };
  const bytes = encodeForwardBackwardRequest({ ...request, forwardOnly: false });
  // One datum with a chunk that is an image.
  const image = Uint8Array.of(0x1a, 4, 0x0a, 2, 0x12, 0);
  const refused = await fetch(`${url}/api/v1/forward_backward`, {
    method: 'POST',
    headers: { 'content-type': PROTOBUF },
    body: Buffer.concat([bytes, image]),
  });
  expect(refused.status).toBe(422);
  expect(await work(url, 'retrieve_future', { request_id: step.body.request_id })).toHaveProperty('metrics');
});

test('sampling requests are told apart by numbers above 2^53, and one sent twice is one', async () => {
  const { url } = await tinyServer();
  const { session_id } = await openModel(url);
  const source = { session_id, sampling_session_seq_id: 0, base_model: 'tiny' };
  const { sampling_session_id } = (await call(url, 'create_sampling_session', source)).body;
  const ask = (seqId: string, seed: number) =>
    call(
      url,
      'asample',
      JSON.stringify({
        sampling_session_id,
        seq_id: 0,
        prompt: input,
        sampling_params: { max_tokens: 1, seed },
      }).replace('"seq_id":0', `"seq_id": ${seqId}`),
    );
  // As a double both are 999999999000000000.
  const first = await ask('999999999000000001', 1);
  const second = await ask('999999999000000002', 2);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(first.body.request_id).not.toBe(second.body.request_id);
  expect((await ask('999999999000000001', 1)).body).toEqual(first.body);
  expect((await ask('999999999000000001', 3)).status).toBe(409);
  const { body } = await call(url, 'retrieve_future', { request_id: second.body.request_id });
  expect(body.sequences).toHaveLength(1);
});
