/** What clients send as JSON, checked. Fields that are not listed are passed over, as other servers do. */

import { z } from 'zod';

import type { AdamOptions } from '../../engine/engine.ts';
import type { Datum, ForwardBackwardRequest, NumberArray } from '../../wire/tinker/shapes.ts';
import { isOneColumn } from '../../wire/tinker/shapes.ts';
import type { AdapterKind } from './model-source.ts';
import { numberList, tokenList } from './number-lists.ts';
import { parseProblem } from './parse-problem.ts';
import { invalid } from './refusals.ts';

const id = z.string().min(1).max(400);
const name = z
  .string()
  .max(255)
  .regex(/^[a-zA-Z0-9_-]+$/, 'letters, digits, _ and -');
const sequence = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);
const seqId = sequence.min(1).nullish();
/** Counts requests of a sampling session: copies of a client in other processes begin far above what a number can hold. */
const longSequence = z
  .union([z.int().min(0), z.string().regex(/^\d{1,20}$/)])
  .transform((value) => String(value));

const modelInput = z
  .object({
    chunks: z.array(z.object({ type: z.literal('encoded_text').default('encoded_text'), tokens: tokenList })),
  })
  .transform(({ chunks }): number[] => chunks.flatMap(({ tokens }) => tokens));

const tensor = z
  .object({
    data: numberList,
    dtype: z.enum(['int64', 'float32']),
    shape: z
      .array(z.int())
      .refine(isOneColumn, 'one number for each token; several targets for one token are not trained on here')
      .nullish(),
    sparse_crow_indices: z.null('a dense tensor').optional(),
  })
  .transform(
    ({ data, dtype }): NumberArray => (dtype === 'int64' ? Int32Array.from(data) : Float32Array.from(data)),
  );

const passInput = z.object({
  data: z.array(z.object({ model_input: modelInput, loss_fn_inputs: z.record(z.string(), tensor) })).min(1),
  loss_fn: z.string(),
  loss_fn_config: z.record(z.string(), z.union([z.number(), z.string()])).nullish(),
});

const passSchema = z.object({
  model_id: id,
  seq_id: seqId,
  forward_backward_input: passInput.optional(),
  forward_input: passInput.optional(),
});

/** `forward_backward` and `forward` in JSON. */
export function readPass(body: unknown, forwardOnly: boolean): ForwardBackwardRequest {
  const { model_id, seq_id, forward_backward_input, forward_input } = read(passSchema, body);
  const input = forwardOnly ? forward_input : forward_backward_input;
  if (input === undefined)
    throw invalid(`${forwardOnly ? 'forward_input' : 'forward_backward_input'} is missing`);
  return {
    modelId: model_id,
    ...(typeof seq_id === 'number' && { seqId: seq_id }),
    data: input.data.map(
      ({ model_input, loss_fn_inputs }): Datum => ({
        tokens: Int32Array.from(model_input),
        inputs: loss_fn_inputs,
      }),
    ),
    lossName: input.loss_fn,
    lossConfig: input.loss_fn_config ?? {},
    forwardOnly,
  };
}

export const createSessionSchema = z.object({ tags: z.array(z.string()).default([]) });
export const sessionIdSchema = z.object({ session_id: id });
export const modelIdSchema = z.object({ model_id: id });

/** Which training request it is, where nothing else of it may be readable. */
export const numbersSchema = z.object({ model_id: id, seq_id: z.int().min(1) });

/** Kept for as long as the session lives, and shown to everybody who lists models. */
const metadataBytes = 16 * 1024;
const metadata = z
  .record(z.string(), z.unknown())
  .refine((value) => JSON.stringify(value).length <= metadataBytes, `at most ${metadataBytes} bytes of JSON`)
  .nullish();
const loraConfig = z.object({
  rank: z.int().min(0).max(4096),
  seed: z.int().nullish(),
  train_unembed: z.boolean().nullish(),
  train_mlp: z.boolean().nullish(),
  train_attn: z.boolean().nullish(),
});

/** What an adapter of this configuration is beside. Nothing here has adapters beside embeddings, which others train as well. */
export function adapterOf({ rank, train_attn, train_mlp }: LoraConfig): AdapterKind {
  if (train_attn === false && train_mlp === false)
    throw invalid('An adapter beside nothing has nothing to train', 'train_attn and train_mlp false');
  return { rank, targets: train_mlp === false ? 'attention' : train_attn === false ? 'mlp' : 'all' };
}

export const createModelSchema = z.object({
  session_id: id,
  model_seq_id: sequence,
  base_model: z.string(),
  lora_config: loraConfig,
  optimizer_config: z.looseObject({ type: z.literal('adamw') }).optional(),
  user_metadata: metadata,
});
export type LoraConfig = z.output<typeof loraConfig>;

const share = z.number().min(0).lt(1);
export const optimStepSchema = z.object({
  model_id: id,
  seq_id: seqId,
  adam_params: z.object({
    learning_rate: z.number().min(0).default(1e-4),
    beta1: share.default(0.9),
    beta2: share.default(0.95),
    eps: z.number().positive().default(1e-12),
    weight_decay: z.number().min(0).default(0),
    grad_clip_norm: z.number().min(0).default(0),
  }),
});

/** A step of the optimizer, as engines take it. */
export const adamOf = (params: z.output<typeof optimStepSchema>['adam_params']): AdamOptions => ({
  learningRate: params.learning_rate,
  beta1: params.beta1,
  beta2: params.beta2,
  epsilon: params.eps,
  weightDecay: params.weight_decay,
  clipNorm: params.grad_clip_norm,
});

const ttl = z.int().positive().nullish();
export const ttlSchema = z.object({ ttl_seconds: ttl });
export const saveSchema = z.object({
  model_id: id,
  seq_id: seqId,
  path: name,
  overwrite: z.boolean().default(false),
  ttl_seconds: ttl,
});

export const saveForSamplerSchema = z
  .object({
    model_id: id,
    seq_id: seqId,
    path: name.nullish(),
    sampling_session_seq_id: sequence.nullish(),
    kind: z.enum(['snapshot', 'inflight']).default('snapshot'),
    ttl_seconds: ttl,
  })
  .refine(
    ({ path, sampling_session_seq_id, seq_id }) =>
      typeof path === 'string' || (typeof sampling_session_seq_id === 'number' && typeof seq_id === 'number'),
    'either path, or both sampling_session_seq_id and seq_id',
  );

export const loadSchema = z
  .object({
    model_id: id.nullish(),
    seq_id: seqId,
    session_id: id.nullish(),
    model_seq_id: sequence.nullish(),
    path: z.string().max(1000),
    optimizer: z.boolean().default(false),
  })
  .refine(
    ({ model_id, session_id, model_seq_id }) =>
      (typeof model_id === 'string') !== (typeof session_id === 'string' && typeof model_seq_id === 'number'),
    'either model_id, or both session_id and model_seq_id',
  );

const samplingSource = {
  base_model: z.string().nullish(),
  model_path: z.string().max(1000).nullish(),
};
export const samplingSessionSchema = z
  .object({ session_id: id, sampling_session_seq_id: sequence, ...samplingSource })
  .refine(
    ({ base_model, model_path }) => (typeof base_model === 'string') !== (typeof model_path === 'string'),
    'exactly one of base_model and model_path',
  );

const sampleSchema = z.object({
  num_samples: z.int().min(1).max(4096).default(1),
  prompt: modelInput,
  sampling_params: z.object({
    max_tokens: z.int().min(1).nullish(),
    seed: z.int().nullish(),
    stop: z.union([z.string(), tokenList, z.array(z.string()).max(64)]).nullish(),
    temperature: z.number().min(0).default(1),
    top_k: z.int().min(-1).default(-1),
    top_p: z.number().gt(0).max(1).default(1),
  }),
  sampling_session_id: id.nullish(),
  seq_id: longSequence.nullish(),
  ...samplingSource,
  prompt_logprobs: z.boolean().nullish(),
  topk_prompt_logprobs: z.int().min(0).nullish(),
  topk_sample_logprobs: z.int().min(0).nullish(),
  prompt_logprobs_last_n: z.int().min(1).nullish(),
  target_prompt_logprobs: z.unknown().optional(),
  prompt_alt_tokens_k: z.int().min(0).nullish(),
});
export type SampleBody = z.output<typeof sampleSchema>;

/** They need more of the distribution than the engine tells. */
const unserved = [
  'topk_prompt_logprobs',
  'topk_sample_logprobs',
  'target_prompt_logprobs',
  'prompt_alt_tokens_k',
] as const;

export function readSample(body: unknown): SampleBody {
  const request = read(sampleSchema, body);
  const sources = [request.sampling_session_id, request.base_model, request.model_path];
  if (sources.filter((source) => typeof source === 'string').length !== 1)
    throw invalid(
      'One source is needed',
      undefined,
      'sampling_session_id with seq_id, base_model, or model_path',
    );
  if (typeof request.sampling_session_id === 'string' && typeof request.seq_id !== 'string')
    throw invalid('seq_id is missing', undefined, 'a number with every sampling_session_id');
  for (const name of unserved)
    if (request[name])
      throw invalid(
        `${name} is not served here`,
        JSON.stringify(request[name]).slice(0, 100),
        'log-probabilities of the sampled tokens, and with prompt_logprobs of the prompt',
      );
  const { prompt, prompt_logprobs: hasPrompt, prompt_logprobs_last_n: last } = request;
  if (typeof last === 'number' && (!hasPrompt || last >= prompt.length))
    throw invalid(
      'prompt_logprobs_last_n is not usable',
      hasPrompt ? `${last} of ${prompt.length} tokens` : 'no prompt_logprobs',
      'prompt_logprobs, and a number below the length of the prompt',
    );
  return request;
}

export const weightsInfoSchema = z.object({ tinker_path: z.string() });
export const futureSchema = z.object({ request_id: z.string().max(100) });
export const pageSchema = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(20),
  offset: z.coerce.number().int().min(0).default(0),
});

/** @throws TurnwiseError `request-invalid`, naming the place */
export function read<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw parseProblem(parsed.error, body);
}
