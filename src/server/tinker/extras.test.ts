/** What the SDK asks for beside training and sampling, and what is refused by name rather than passed over. */

import { expect, test } from 'vitest';
import { datum, input, openModel, pass, tensor } from './testing/requests.ts';
import { call, tinyServer, work } from './testing/tiny-server.ts';

const send = async (url: string, method: string, route: string, body?: object): Promise<number> => {
  const headers = { 'content-type': 'application/json' };
  const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
  return (await fetch(`${url}/api/v1/${route}`, init)).status;
};

test('sessions, and what they hold', async () => {
  const { url } = await tinyServer();
  const { session_id, model_id } = await openModel(url);
  const other = (await call(url, 'create_session', {})).body.session_id;
  const source = { session_id, sampling_session_seq_id: 0, base_model: 'tiny' };
  const { sampling_session_id } = (await call(url, 'create_sampling_session', source)).body;
  expect((await call(url, 'sessions')).body).toEqual({ sessions: [session_id, other] });
  expect((await call(url, 'sessions?limit=1&offset=1')).body).toEqual({ sessions: [other] });
  expect((await call(url, `sessions/${session_id}`)).body).toEqual({
    training_run_ids: [model_id],
    sampler_ids: [sampling_session_id],
    user_metadata: null,
  });
  expect((await call(url, 'sessions/none')).status).toBe(404);
});

test('all checkpoints, what they weigh, how long they stay, and marks', async () => {
  const { url, server } = await tinyServer();
  const { session_id, model_id } = await openModel(url);
  expect((await call(url, 'billing/usage/checkpoints/current')).body).toEqual({ data: [] });
  const second = await openModel(url, 1, session_id);
  await work(url, 'save_weights', { model_id, path: 'short', ttl_seconds: 3600 });
  await work(url, 'save_weights', { model_id: second.model_id, path: 'long' });
  const listed = async () =>
    (await call(url, 'checkpoints')).body as {
      checkpoints: { tinker_path: string; expires_at: string | null; public: boolean; size_bytes: number }[];
      cursor: object;
    };
  const { checkpoints, cursor } = await listed();
  expect(cursor).toEqual({ offset: 0, limit: 20, total_count: 2 });
  const [long, short] = checkpoints;
  expect([long!.tinker_path, long!.expires_at, long!.public]).toEqual([
    `tinker://${second.model_id}/weights/long`,
    null,
    false,
  ]);
  expect(Date.parse(short!.expires_at!) - Date.now()).toBeGreaterThan(3_500_000);
  const [usage] = (await call(url, 'billing/usage/checkpoints/current')).body.data as Record<
    string,
    number
  >[];
  expect(usage).toMatchObject({ checkpoint_count: 2, size_bytes: long!.size_bytes + short!.size_bytes });

  const path = `training_runs/${second.model_id}/checkpoints/weights/long`;
  expect(await send(url, 'POST', `${path}/publish`)).toBe(204);
  expect((await listed()).checkpoints[0]!.public).toBe(true);
  expect(await send(url, 'DELETE', `${path}/publish`)).toBe(204);
  expect(await send(url, 'PUT', `${path}/ttl`, { ttl_seconds: 1 })).toBe(204);
  expect((await listed()).checkpoints[0]).toMatchObject({ public: false, expires_at: expect.any(String) });
  const none = `training_runs/${model_id}/checkpoints/weights/none`;
  expect(await send(url, 'PUT', `${none}/ttl`, { ttl_seconds: null })).toBe(404);
  await new Promise((resolve) => setTimeout(resolve, 1100));
  await server.sweep();
  expect((await listed()).checkpoints.map(({ tinker_path }) => tinker_path)).toEqual([short!.tinker_path]);
  expect((await call(url, 'weights_info', { tinker_path: long!.tinker_path })).status).toBe(404);
});

test('the last log-probabilities of a prompt, and none of what is not served', async () => {
  const { url } = await tinyServer();
  const ask = {
    base_model: 'tiny',
    prompt: input,
    sampling_params: { max_tokens: 1 },
    prompt_logprobs: true,
  };
  const whole = (await work(url, 'asample', ask)).prompt_logprobs as number[];
  expect((await work(url, 'asample', { ...ask, prompt_logprobs_last_n: 1 })).prompt_logprobs).toEqual([
    null,
    null,
    whole[2],
  ]);
  const refusals = [
    { prompt_logprobs_last_n: 3 },
    { prompt_logprobs_last_n: 1, prompt_logprobs: false },
    { topk_prompt_logprobs: 5 },
    { topk_sample_logprobs: 5 },
    { target_prompt_logprobs: { data: [1, 2], dtype: 'int64', shape: [2, 1] } },
    { prompt_alt_tokens_k: 4 },
  ];
  const said = [];
  for (const refusal of refusals) said.push((await call(url, 'asample', { ...ask, ...refusal })).body.detail);
  expect(said).toMatchInlineSnapshot(`
    [
      "prompt_logprobs_last_n is not usable. Seen: 3 of 3 tokens. Allowed: prompt_logprobs, and a number below the length of the prompt.",
      "prompt_logprobs_last_n is not usable. Seen: no prompt_logprobs. Allowed: prompt_logprobs, and a number below the length of the prompt.",
      "topk_prompt_logprobs is not served here. Seen: 5. Allowed: log-probabilities of the sampled tokens, and with prompt_logprobs of the prompt.",
      "topk_sample_logprobs is not served here. Seen: 5. Allowed: log-probabilities of the sampled tokens, and with prompt_logprobs of the prompt.",
      "target_prompt_logprobs is not served here. Seen: {"data":[1,2],"dtype":"int64","shape":[2,1]}. Allowed: log-probabilities of the sampled tokens, and with prompt_logprobs of the prompt.",
      "prompt_alt_tokens_k is not served here. Seen: 4. Allowed: log-probabilities of the sampled tokens, and with prompt_logprobs of the prompt.",
    ]
  `);
});

test('targets in one column are targets; several for one token are refused by name', async () => {
  const { url } = await tinyServer();
  const { model_id } = await openModel(url);
  const shaped = (shape: number[], data: number[]) => ({
    ...pass(model_id),
    forward_backward_input: {
      data: [
        {
          ...datum,
          loss_fn_inputs: { ...datum.loss_fn_inputs, target_tokens: { ...tensor(data, 'int64'), shape } },
        },
      ],
      loss_fn: 'cross_entropy',
    },
  });
  const plain = await work(url, 'forward_backward', pass(model_id));
  expect(await work(url, 'forward_backward', shaped([3, 1], [2, 3, 4]))).toEqual(plain);
  expect((await call(url, 'forward_backward', shaped([3, 2], [2, 5, 3, 5, 4, 5]))).body.detail).toContain(
    'several targets for one token are not trained on here',
  );
});
