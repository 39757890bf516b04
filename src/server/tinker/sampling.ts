/** One sampling request on an engine: completions, their plain log-probabilities, and those of the prompt. */

import { randomUUID } from 'node:crypto';
import type { Engine, SampleRequest } from '../../engine/engine.ts';
import { sharedRows } from '../../engine/token-batch.ts';
import { sampleAll } from '../../policy/sampler.ts';
import type { SampledSequence, SampleOutput } from '../../wire/tinker/shapes.ts';
import type { ModelSource } from './model-source.ts';
import { invalid } from './refusals.ts';
import type { SampleBody } from './requests.ts';

/** Lends an engine that samples from the weights asked for; with `trained`, one whose training weights are those too. */
export type Lend = <T>(trained: boolean, work: (engine: Engine) => Promise<T>) => Promise<T>;

export async function sampleOn(lend: Lend, source: ModelSource, body: SampleBody): Promise<SampleOutput> {
  const { prompt, sampling_params: parameters } = body;
  const { stopIds, stopTexts } = stopsOf(parameters.stop, source);
  const room = source.contextLength - prompt.length;
  const name = randomUUID();
  const seed = parameters.seed ?? undefined;
  const requests = Array.from(
    { length: body.num_samples },
    (_, index): SampleRequest => ({
      conversation: `${name}/${index}`,
      keep: 0,
      append: Int32Array.from(prompt),
      sampling: {
        temperature: parameters.temperature,
        topP: parameters.top_p,
        topK: Math.max(0, parameters.top_k),
        maxTokens: parameters.max_tokens ?? Math.max(1, room),
      },
      stopIds,
      seed: seed === undefined ? `${name}/${index}` : String(seed + index),
    }),
  );
  const sampled = await lend(false, async (engine) => {
    const results = await sampleAll(engine, requests);
    engine.release(requests.map(({ conversation }) => conversation));
    return results;
  });
  const sequences = sampled
    .map(
      ({ ids, logprobs, finish }): SampledSequence => ({
        tokens: Array.from(ids),
        logprobs: Array.from(logprobs),
        finish,
      }),
    )
    .map((sequence) => (stopTexts.length > 0 ? cutAtText(sequence, stopTexts, source.decode!) : sequence));
  // The engine tells log-probabilities at the temperature that it sampled with, the API those at temperature 1.
  const isPlain = parameters.temperature === 0 || parameters.temperature === 1;
  const plain = isPlain ? sequences : await withPlainLogprobs(lend, prompt, sequences);
  if (!body.prompt_logprobs) return { sequences: plain };
  const [row] = await scores(lend, [prompt]);
  const unscored = prompt.length - (body.prompt_logprobs_last_n ?? prompt.length - 1);
  return {
    sequences: plain,
    promptLogprobs: Array.from(row!, (logprob, index) => (index < unscored ? null : logprob)),
  };
}

function stopsOf(
  stop: SampleBody['sampling_params']['stop'],
  source: ModelSource,
): { stopIds: readonly number[]; stopTexts: readonly string[] } {
  if (stop === null || stop === undefined) return { stopIds: source.stopIds, stopTexts: [] };
  const stops = typeof stop === 'string' ? [stop] : stop;
  const stopIds = stops.filter((item): item is number => typeof item === 'number');
  const stopTexts = stops.filter((item): item is string => typeof item === 'string' && item !== '');
  if (stopTexts.length > 0 && source.decode === undefined)
    throw invalid(
      'This server has no tokenizer, so it cannot stop at text',
      JSON.stringify(stopTexts),
      'token ids',
    );
  return { stopIds, stopTexts };
}

/** The token that completes a stop text is the last. Sampling does not depend on what follows, so cutting is stopping. */
function cutAtText(
  sequence: SampledSequence,
  texts: readonly string[],
  decode: (ids: readonly number[]) => string,
): SampledSequence {
  const { tokens, logprobs } = sequence;
  if (!texts.some((text) => decode(tokens).includes(text))) return sequence;
  let count = 1;
  while (!texts.some((text) => decode(tokens.slice(0, count)).includes(text))) count++;
  return { tokens: tokens.slice(0, count), logprobs: logprobs.slice(0, count), finish: 'stop' };
}

async function withPlainLogprobs(
  lend: Lend,
  prompt: readonly number[],
  sequences: readonly SampledSequence[],
): Promise<SampledSequence[]> {
  const rows = await scores(
    lend,
    sequences.map(({ tokens }) => [...prompt, ...tokens]),
  );
  return sequences.map((sequence, index) => ({
    ...sequence,
    logprobs: Array.from(rows[index]!.subarray(prompt.length)),
  }));
}

function scores(lend: Lend, rows: readonly (readonly number[])[]): Promise<readonly Float32Array[]> {
  return lend(true, async (engine) => {
    const asked = sharedRows(rows.map((ids) => Int32Array.from(ids)));
    return (await engine.score({ rows: asked }, { temperature: 1 })).logprobs;
  });
}
