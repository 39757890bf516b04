/** Requests that a small model answers, for tests. */

import { call, work } from './tiny-server.ts';

export const input = { chunks: [{ type: 'encoded_text', tokens: [1, 2, 3] }] };
export const tensor = (data: number[], dtype = 'float32') => ({ data, dtype, shape: [data.length] });
export const datum = {
  model_input: input,
  loss_fn_inputs: { target_tokens: tensor([2, 3, 4], 'int64'), weights: tensor([0, 1, 1]) },
};
export const adam_params = { learning_rate: 0.01 };

export async function openModel(
  url: string,
  number = 0,
  session?: string,
): Promise<{ session_id: string; model_id: string }> {
  const session_id = session ?? ((await call(url, 'create_session', {})).body.session_id as string);
  const { model_id } = await work(url, 'create_model', {
    session_id,
    model_seq_id: number,
    base_model: 'tiny',
    lora_config: { rank: 4, seed: 1 },
  });
  return { session_id, model_id: model_id as string };
}

export const pass = (model_id: string, seq_id?: number, loss_fn = 'cross_entropy') => ({
  model_id,
  ...(seq_id !== undefined && { seq_id }),
  forward_backward_input: { data: [datum], loss_fn },
});
