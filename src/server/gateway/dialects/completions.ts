/** What OpenAI's two kinds of completions have in common: parameters, and how a body begins and ends. */

import { z } from 'zod';
import type { AnsweredChoice } from '../call-recorder.ts';
import type { Opening } from './coming.ts';
import { sampling } from './parameters.ts';

const MAX_CHOICES = 64;

export const completionsBase = {
  ...sampling,
  n: z.int().min(1).max(MAX_CHOICES).nullish(),
  stop: z.union([z.string().min(1), z.array(z.string().min(1)).max(16)]).nullish(),
  max_tokens: z.int().min(1).nullish(),
  seed: z.int().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  return_token_ids: z.boolean().nullish(),
};
export const harmless: readonly string[] = [
  'user',
  'metadata',
  'store',
  'service_tier',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
];

type GivenBase = z.output<z.ZodObject<typeof completionsBase>>;

export function readBase(given: GivenBase) {
  const topK = given.top_k ?? undefined;
  return {
    model: given.model,
    choices: given.n ?? 1,
    stop: given.stop === null || given.stop === undefined ? [] : [given.stop].flat(),
    temperature: given.temperature ?? undefined,
    topP: given.top_p ?? undefined,
    topK: topK === -1 ? 0 : topK,
    seed: given.seed ?? undefined,
  };
}

/** What bodies and chunks begin with. */
export function completionHead(
  { ref, version, created, told }: Pick<Opening, 'ref' | 'version' | 'created' | 'told'>,
  model: string,
  prefix: 'chatcmpl' | 'cmpl',
  object: string,
): object {
  return {
    id: `${prefix}-${ref}`,
    object,
    created,
    model,
    system_fingerprint: `version-${version}`,
    turnwise: told,
  };
}

export function finishReason({ call, message: { toolCalls } }: AnsweredChoice): string {
  if (call.finish === 'length') return 'length';
  return toolCalls ? 'tool_calls' : 'stop';
}

export function usageOf(choices: readonly AnsweredChoice[]): object {
  const prompt = choices[0]!.answer.tokens.prompt;
  const completion = choices.reduce((sum, { answer }) => sum + answer.tokens.completion, 0);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}
