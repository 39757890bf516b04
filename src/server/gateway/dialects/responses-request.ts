/** Requests of OpenAI's `/responses`: their parameters, and those that change nothing or are refused. */

import { z } from 'zod';
import {
  functionName,
  jsonSchema,
  type ParameterRules,
  penalties,
  sampling,
  topLogprobs,
} from './parameters.ts';

const toolName = z.object({ type: z.literal('function'), name: functionName });
const toolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  toolName,
  z.object({
    type: z.literal('allowed_tools'),
    mode: z.enum(['auto', 'required']),
    tools: z.array(toolName).min(1),
  }),
]);
const tool = z.object({
  type: z.string(),
  name: functionName.optional(),
  description: z.string().nullish(),
  parameters: jsonSchema.nullish(),
  strict: z.boolean().nullish(),
});
const format = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({ type: z.literal('json_schema'), name: z.string(), schema: jsonSchema }),
]);
const text = z.object({ format: format.nullish(), verbosity: z.unknown().optional() });

const asked = {
  model: sampling.model,
  input: z.union([z.string(), z.array(z.looseObject({}))]).nullish(),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  tools: z.array(tool).max(128).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: text.nullish(),
};
const schema = z.object({
  ...sampling,
  ...asked,
  include: z.array(z.string()).nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string().min(1), z.array(z.string().min(1)).max(16)]).nullish(),
  store: z.boolean().nullish(),
  top_logprobs: topLogprobs,
  truncation: z.enum(['disabled', 'auto']).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
});
const absent = {
  background: 'an answer is sampled while its request waits; leave it out',
  conversation: 'send "previous_response_id", or the items themselves',
  prompt: 'there are no stored prompts; send "instructions" and "input"',
};
export const rules: ParameterRules<typeof schema> = {
  schema,
  harmless: [
    'user',
    'service_tier',
    'safety_identifier',
    'prompt_cache_key',
    'prompt_cache_retention',
    'stream_options',
    'max_tool_calls',
    'betas',
  ],
  noted: ['reasoning', 'verbosity', 'reasoning_effort'],
  neutral: penalties,
  absent,
};
const countSchema = z.object(asked);
export const countRules: ParameterRules<typeof countSchema> = {
  ...rules,
  schema: countSchema,
  harmless: [...rules.harmless, ...Object.keys(schema.shape)],
};
/** A request, as it was read. */
export type Given = z.output<typeof schema>;

/** What is asked, without how it is sampled. */
export type GivenPrompt = z.output<typeof countSchema>;
