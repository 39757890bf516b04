/** Bodies that are meant to exhaust: refused by size and depth before they are parsed, and never kept. */

import { expect, test } from 'vitest';
import { PROTOBUF } from '../../wire/tinker/shapes.ts';
import { input, openModel } from './testing/requests.ts';
import { call, tinyServer, work } from './testing/tiny-server.ts';

const MB = 1e6;

test('a body of brackets is refused before anything parses it', async () => {
  const { url } = await tinyServer();
  expect(await call(url, 'create_session', '['.repeat(30 * MB))).toMatchObject({
    status: 422,
    body: { detail: 'The body is nested deeper than 64.' },
  });
  expect(await call(url, 'create_session', '['.repeat(60 * MB))).toMatchObject({ status: 413 });
});

test('a pass of 32 MiB of empty data is refused before anything decodes it, and the server goes on', async () => {
  const { url } = await tinyServer();
  const body = new Uint8Array(32 * 2 ** 20);
  for (let index = 0; index < body.length; index += 2) body[index] = 0x1a;
  const headers = { 'content-type': PROTOBUF };
  const answer = await fetch(`${url}/api/v1/forward_backward`, { method: 'POST', headers, body });
  expect(answer.status).toBe(422);
  expect(await answer.json()).toMatchObject({
    detail: expect.stringContaining('more than 250000 fields'),
  });
  expect((await call(url, 'healthz')).status).toBe(200);
});

test('a list of a million wrong numbers is one error', async () => {
  const { url } = await tinyServer();
  const prompt = { chunks: [{ tokens: Array.from({ length: MB }, () => -1) }] };
  expect(await call(url, 'asample', { base_model: 'tiny', prompt, sampling_params: {} })).toMatchObject({
    status: 422,
    body: { detail: expect.stringContaining('prompt.chunks.0.tokens.0 is not usable') },
  });
});

test('metadata of one client never breaks the list of models for the others', async () => {
  const { url } = await tinyServer();
  const { session_id, model_id } = await openModel(url);
  const creation = { session_id, model_seq_id: 1, base_model: 'tiny', lora_config: { rank: 1 } };
  const nested = `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`;
  const body = JSON.stringify({ ...creation, user_metadata: 0 }).replace(
    '"user_metadata":0',
    `"user_metadata":${nested}`,
  );
  expect((await call(url, 'create_model', body)).status).toBe(422);
  const long = { ...creation, user_metadata: { note: 'x'.repeat(20_000) } };
  expect(await call(url, 'create_model', long)).toMatchObject({
    status: 422,
    body: { detail: expect.stringContaining('at most 16384 bytes of JSON') },
  });
  const { status, body: listed } = await call(url, 'training_runs');
  expect(status).toBe(200);
  expect((listed.training_runs as { training_run_id: string }[]).map((run) => run.training_run_id)).toEqual([
    model_id,
  ]);
});

test('a model that was refused is not kept, and its number may be used again', async () => {
  const { url, server } = await tinyServer({ limits: { mostModels: 1, keptUnloaded: 2 } });
  const { session_id, model_id } = await openModel(url);
  const creation = (model_seq_id: number) => ({
    session_id,
    model_seq_id,
    base_model: 'tiny',
    lora_config: { rank: 1 },
    user_metadata: { note: 'x'.repeat(10_000) },
  });
  for (let number = 1; number <= 20; number++)
    expect(await work(url, 'create_model', creation(number))).toHaveProperty('error');
  expect([...server.models.keys()]).toEqual([model_id]);
  await work(url, 'unload_model', { model_id });
  expect(await work(url, 'create_model', creation(1))).toHaveProperty('model_id');
  // Unloaded ones are told of, but not for ever.
  for (let number = 1; number <= 5; number++) {
    if (number > 1) await work(url, 'create_model', creation(number));
    await work(url, 'unload_model', { model_id: `${session_id}:train:${number}` });
  }
  expect(server.models.size).toBe(2);
  expect(
    (await call(url, 'asample', { base_model: 'tiny', prompt: input, sampling_params: {} })).status,
  ).toBe(200);
});
