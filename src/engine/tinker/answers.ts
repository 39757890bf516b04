/** What a Tinker server answers in JSON, checked, and as our shapes. More fields than these are passed over. */

import { z } from 'zod';
import { garbled } from '../../wire/tinker/garbled.ts';
import type { ForwardBackwardOutput, SampleOutput } from '../../wire/tinker/shapes.ts';

/** Parses an answer, or says which part is not as it should be. */
export function readAnswer<Schema extends z.ZodType>(
  schema: Schema,
  answer: unknown,
  subject: string,
): z.output<Schema> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw garbled(
    `${subject} has an unusable ${issue!.path.join('.') || 'form'} (${issue!.message})`,
    JSON.stringify(answer) ?? 'nothing',
  );
}

export const clientConfigSchema = z.object({
  fwdbwd_max_chunk_len: z.int().min(1).default(1024),
  fwdbwd_max_chunk_bytes_count: z.int().min(1).default(5_000_000),
  sample_max_concurrent_requests: z.int().min(1).default(2000),
});
export const capabilitiesSchema = z.object({
  supported_models: z.array(
    z.object({ model_name: z.string().nullish(), max_context_length: z.int().nullish() }),
  ),
});
export const sessionSchema = z.object({
  session_id: z.string(),
  warning_message: z.string().nullish(),
  error_message: z.string().nullish(),
});
export const futureSchema = z.object({ request_id: z.string() });
export const modelSchema = z.object({ model_id: z.string() });
export const samplingSessionSchema = z.object({ sampling_session_id: z.string() });
export const savedSchema = z.object({ path: z.string() });
export const metricsSchema = z.object({
  metrics: z.record(z.string(), z.number().nullable()).nullish(),
});
export const anySchema = z.looseObject({});

// Not-a-number has no spelling in JSON: it arrives as null.
const number = z.union([z.number(), z.null().transform(() => Number.NaN)]);
const tensor = z
  .object({ data: z.array(number) })
  .transform(({ data }): Float32Array => Float32Array.from(data));

export const forwardBackwardSchema = z
  .object({
    loss_fn_outputs: z.array(z.record(z.string(), tensor)),
    metrics: z.record(z.string(), z.number().nullable()).nullish(),
  })
  .transform(
    ({ loss_fn_outputs, metrics }): ForwardBackwardOutput => ({
      outputs: loss_fn_outputs,
      metrics: finiteEntries(metrics),
    }),
  );

export const sampleSchema = z
  .object({
    sequences: z.array(
      z.object({
        stop_reason: z.enum(['stop', 'length']),
        tokens: z.array(z.int()),
        logprobs: z.array(number).nullish(),
      }),
    ),
    prompt_logprobs: z.array(z.number().nullable()).nullish(),
  })
  .transform(
    ({ sequences, prompt_logprobs }): SampleOutput => ({
      sequences: sequences.map(({ stop_reason, tokens, logprobs }) => ({
        tokens,
        logprobs: logprobs ?? [],
        finish: stop_reason,
      })),
      ...(prompt_logprobs && { promptLogprobs: prompt_logprobs }),
    }),
  );

export function finiteEntries(
  metrics: Readonly<Record<string, number | null>> | null | undefined,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(metrics ?? {}).filter((entry): entry is [string, number] => entry[1] !== null),
  );
}
