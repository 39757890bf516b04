/** What a real server answered, with the checkpoint that it had: ours gives the same numbers, and our client reads its answers. */

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmbeddedEngine } from '../../engine/embedded/embedded-engine.ts';
import { openCheckpoint } from '../../model/checkpoint/checkpoint.ts';
import { checkpointSource, type ServedSource } from '../../run/model/served-model.ts';
import { type Exchange, exchanges, recordingsFolder } from '../../wire/tinker/testing/exchanges.ts';
import type { ModelSource } from './model-source.ts';
import { tinyServer, work } from './testing/tiny-server.ts';

const inProcess = { threads: 1, tokenBudget: 512, inProcess: true };

/** The recorded server's base model, with new models starting from a recorded adapter. */
async function startingFrom(adapter: string): Promise<ServedSource> {
  const model = await openCheckpoint(join(recordingsFolder, 'tiny-qwen3'), { name: 'tiny-qwen3' });
  const base = await createEmbeddedEngine({ model, seed: 1, lora: { rank: 1 }, ...inProcess });
  const folder = join(recordingsFolder, 'adapters', adapter);
  return {
    name: 'tiny-qwen3',
    vocabulary: model.shape.vocabulary,
    contextLength: model.shape.contextLength,
    isLora: true,
    stopIds: [],
    create: ({ seed }) => base.attach({ seed, adapter: folder }),
    close: () => base.close(),
  };
}

const resultAfter = (lines: readonly Exchange[], index: number): Answer =>
  lines.slice(index).find(({ path, status }) => path.endsWith('retrieve_future') && status === 200)!.response!
    .body as Answer;

interface Answer {
  readonly loss_fn_outputs: readonly Record<'logprobs' | 'elementwise_loss', { readonly data: number[] }>[];
  readonly sequences: readonly {
    readonly tokens: number[];
    readonly logprobs: number[];
    readonly stop_reason: string;
  }[];
  readonly prompt_logprobs: number[] | null;
}

describe('against recorded exchanges', () => {
  let source: ServedSource;
  beforeAll(async () => {
    source = await checkpointSource(join(recordingsFolder, 'tiny-qwen3'), {
      name: 'tiny-qwen3',
      ...inProcess,
    });
  });
  afterAll(() => source?.close());

  const session = async (url: string): Promise<string> =>
    (await work(url, 'create_session', { tags: [], type: 'create_session' })).session_id as string;

  test('the base model: greedy tokens, every log-probability, and those of prompts', async () => {
    const { url } = await tinyServer({ source });
    const lines = exchanges('03-sample');
    let compared = 0;
    let largest = 0;
    for (const [index, { path, status, request }] of lines.entries()) {
      const body = request?.body as {
        sampling_params: { temperature?: number; stop?: unknown[] };
        prompt_logprobs?: boolean;
      };
      if (!path.endsWith('asample') || status !== 200 || lines[index + 1]!.status !== 200) continue;
      const {
        sampling_session_id: _session,
        seq_id: _seq,
        model_path: _path,
        ...rest
      } = body as Record<string, unknown>;
      const theirs = resultAfter(lines, index + 1);
      const isGreedy =
        body.sampling_params.temperature === 0 && typeof body.sampling_params.stop?.[0] !== 'string';
      if (isGreedy) {
        const ours = (await work(url, 'asample', { ...rest, base_model: 'tiny-qwen3' })) as unknown as Answer;
        expect(ours.sequences.map(({ tokens, stop_reason }) => [tokens, stop_reason])).toEqual(
          theirs.sequences.map(({ tokens, stop_reason }) => [tokens, stop_reason]),
        );
      }
      // What was sampled elsewhere is scored as a prompt: log-probabilities do not depend on who sampled.
      const { tokens: prompt } = (rest.prompt as { chunks: { tokens: number[] }[] }).chunks.reduce(
        (all, { tokens }) => ({ tokens: [...all.tokens, ...tokens] }),
        { tokens: [] as number[] },
      );
      for (const { tokens, logprobs } of theirs.sequences) {
        const scored = (await work(url, 'asample', {
          num_samples: 1,
          prompt: { chunks: [{ tokens: [...prompt, ...tokens] }] },
          sampling_params: { max_tokens: 1, seed: 1 },
          base_model: 'tiny-qwen3',
          prompt_logprobs: true,
        })) as unknown as Answer;
        for (const [t, logprob] of logprobs.entries())
          largest = Math.max(largest, Math.abs(scored.prompt_logprobs![prompt.length + t]! - logprob));
        if (theirs.prompt_logprobs)
          for (const [t, logprob] of theirs.prompt_logprobs.entries())
            largest = Math.max(largest, Math.abs(scored.prompt_logprobs![t + 1]! - logprob));
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(20);
    expect(largest).toBeLessThan(2e-5);
  });

  test.each([
    ['init', 'forward_backward, cross_entropy, first batch (numerical truth A)'],
    [
      'after-ce',
      'forward_backward, importance_sampling, first batch: 4 base-model samples, policy already moved one step (numerical truth B)',
    ],
  ])('a pass from the adapter %s: log-probabilities and losses', async (adapter, note) => {
    const own: ModelSource & { close(): Promise<void> } = await startingFrom(adapter);
    const { url } = await tinyServer({ source: own });
    const session_id = await session(url);
    const created = await work(url, 'create_model', {
      session_id,
      model_seq_id: 0,
      base_model: 'tiny-qwen3',
      lora_config: { rank: 8 },
      type: 'create_model',
    });
    const lines = exchanges('04-losses');
    const index = lines.findIndex((line) => line.note === note);
    const body = lines[index]!.request!.body as Record<string, unknown>;
    const ours = (await work(url, 'forward_backward', {
      ...body,
      model_id: created.model_id,
      seq_id: 1,
    })) as unknown as Answer;
    const theirs = resultAfter(lines, index + 1);
    expect(ours.loss_fn_outputs).toHaveLength(theirs.loss_fn_outputs.length);
    for (const [row, output] of theirs.loss_fn_outputs.entries())
      for (const name of ['logprobs', 'elementwise_loss'] as const)
        for (const [t, value] of output[name].data.entries())
          expect(Math.abs(ours.loss_fn_outputs[row]![name].data[t]! - value)).toBeLessThan(2e-5);
    await own.close();
  });
});
