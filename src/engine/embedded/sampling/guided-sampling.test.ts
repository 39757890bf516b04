/** Action heads that change what is sampled, and heads in checkpoints. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { DecoderShape } from '../../../model/decoder/decoder.ts';
import { sampleAll } from '../../../policy/sampler.ts';
import type { EmbeddedEngine } from '../embedded-engine.ts';
import { engineOf, tiny } from '../testing/tiny-engine.ts';

const heads = ['q1', 'q2'];
const guided: DecoderShape = {
  ...tiny,
  extraHeads: { q1: 'action', q2: 'action', v: 'scalar' },
  // New heads say next to nothing; this makes it loud.
  guidance: { heads, strength: 2000 },
};
const prompts = [[1, 2, 3], [4], [2, 2, 5, 1]];

/** log π and the least of both heads for every next token. */
async function scoresOf(engine: EmbeddedEngine, prompt: readonly number[]) {
  const rows = Array.from({ length: guided.vocabulary }, (_, token) => ({
    ids_T: Int32Array.of(...prompt, token),
    channels: {},
  }));
  const scored = await engine.score({ rows }, { temperature: 1, heads });
  const last = (values: Float32Array): number => values.at(-1)!;
  return {
    logprobs: scored.logprobs.map(last),
    least: rows.map((_, row) => Math.min(...heads.map((head) => last(scored.heads![head]![row]!)))),
  };
}

const best = (values: readonly number[]): number => values.indexOf(Math.max(...values));

async function greedy(engine: EmbeddedEngine): Promise<number[]> {
  const results = await sampleAll(
    engine,
    prompts.map((promptIds, index) => ({
      conversation: String(index),
      keep: 0,
      append: Int32Array.from(promptIds),
      sampling: { temperature: 0, topP: 1, topK: 0, maxTokens: 1 },
      stopIds: [],
      seed: '',
    })),
  );
  return results.map(({ ids }) => ids[0]!);
}

test.each([{}, { lora: { rank: 2 } }])(
  'sampling follows log π + strength · min Q, and scores stay those of π, %o',
  async (more) => {
    const engine = await engineOf({ ...more, shape: guided });
    const scores = await Promise.all(prompts.map((prompt) => scoresOf(engine, prompt)));
    const sampled = await greedy(engine);
    expect(sampled).toEqual(
      scores.map(({ logprobs, least }) =>
        best(logprobs.map((logprob, token) => logprob + 2000 * least[token]!)),
      ),
    );
    // Or the heads would not have mattered.
    expect(sampled).not.toEqual(scores.map(({ logprobs }) => best(logprobs)));
  },
);

test('heads come back from a checkpoint as they were, with or without a value head', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-heads-'));
  try {
    const engine = await engineOf({ shape: guided, seed: 1 });
    await engine.save(folder);
    const other = await engineOf({ shape: guided, seed: 2 });
    const before = await scoresOf(other, prompts[0]!);
    await other.load(folder);
    const after = await scoresOf(other, prompts[0]!);
    expect(after).toEqual(await scoresOf(engine, prompts[0]!));
    expect(after).not.toEqual(before);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
