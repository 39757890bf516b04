/** What share of the engine's work is useful: prompts computed once, decode slots that are filled, tokens that are not padding. */

import { Rng } from '../../src/core/rng.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../src/engine/embedded/embedded-engine.ts';
import type { SampleRequest } from '../../src/engine/engine.ts';
import { batchOf, type TokenRow } from '../../src/engine/token-batch.ts';
import { ppoClip } from '../../src/objective/policy-gradient/ppo-clip.ts';
import { sampleAll } from '../../src/policy/sampler.ts';
import { demo } from './shapes.ts';

const shape = { ...demo, contextLength: 640 };

export interface SharesBench {
  /** Ten turns of 24 observed and 16 sampled tokens in 64 conversations: prompt tokens computed more than once. */
  readonly promptTokensPrefilledAgain: number;
  /** 96 completions of 8 to 512 tokens: slots of decoding calls that computed a token that was needed. */
  readonly usefulDecodeSlots: number;
  /** 96 rows of 8 to 512 tokens: padding among the tokens of a training pass. */
  readonly paddingInTraining: number;
  /** From nothing to the end of the first step: sessions, graphs, 64 samples, one update of the demo model. */
  readonly firstStepMs: number;
}

export async function benchShares(threads: number): Promise<SharesBench> {
  const start = performance.now();
  const first = await createEmbeddedEngine({ shape: demo, seed: 'bench', threads, tokenBudget: 2048 });
  await sampleAll(
    first,
    requests('first', 64, () => 4, [...Array(12).keys()]),
  );
  await update(first, 64, () => 24);
  await first.publish();
  const firstStepMs = performance.now() - start;
  await first.close();

  const engine = await createEmbeddedEngine({ shape, seed: 'bench', threads, tokenBudget: 2048 });
  const promptTokensPrefilledAgain = await prefilledAgain(engine);
  const before = await engine.statistics();
  const rng = Rng.of('lengths');
  const lengths = Array.from({ length: 96 }, () => 8 + rng.int(505));
  const mixed = requests('mixed', 96, (index) => lengths[index]!, [1]);
  await sampleAll(engine, mixed);
  engine.release(mixed.map(({ conversation }) => conversation));
  const after = await engine.statistics();
  const usefulDecodeSlots =
    (after.forwardTokens - before.forwardTokens) / (after.paddedTokens - before.paddedTokens);
  const { tokens, paddedTokens } = await update(engine, 96, (index) => lengths[index]!);
  await engine.close();
  return {
    promptTokensPrefilledAgain,
    usefulDecodeSlots,
    paddingInTraining: 1 - tokens / paddedTokens,
    firstStepMs,
  };
}

async function prefilledAgain(engine: EmbeddedEngine): Promise<number> {
  const rng = Rng.of('observations');
  const [turns, observed, sampled, conversations] = [10, 24, 16, 64];
  const histories = Array.from({ length: conversations }, (): number[] => []);
  const before = (await engine.statistics()).forwardTokens;
  for (let turn = 0; turn < turns; turn++) {
    for (const history of histories)
      history.push(...Array.from({ length: observed }, () => rng.int(shape.vocabulary)));
    const batch = histories.map((history, index) => request(`turns/${index}`, history, sampled, `${turn}`));
    const results = await sampleAll(engine, batch);
    for (const [index, { ids }] of results.entries()) histories[index]!.push(...ids);
  }
  engine.release(histories.map((_, index) => `turns/${index}`));
  const fed = (await engine.statistics()).forwardTokens - before;
  // The last token sampled of all is never fed.
  const needed = conversations * (turns * (observed + sampled) - 1);
  return (fed - needed) / (conversations * turns * observed);
}

function requests(
  name: string,
  count: number,
  maxTokens: (index: number) => number,
  promptIds: readonly number[],
): SampleRequest[] {
  return Array.from({ length: count }, (_, index) =>
    request(`${name}/${index}`, promptIds, maxTokens(index), 'once'),
  );
}

function request(
  conversation: string,
  promptIds: readonly number[],
  maxTokens: number,
  seed: string,
): SampleRequest {
  return {
    conversation,
    keep: 0,
    append: Int32Array.from(promptIds),
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens },
    stopIds: [],
    seed: `${conversation}/${seed}`,
  };
}

async function update(
  engine: EmbeddedEngine,
  count: number,
  lengthOf: (index: number) => number,
): Promise<{ tokens: number; paddedTokens: number }> {
  const rng = Rng.of('rows');
  const rows = Array.from({ length: count }, (_, index): TokenRow => {
    const length = lengthOf(index) + 1;
    const filled = (value: number): Float32Array => new Float32Array(length).fill(value);
    return {
      ids_T: Int32Array.from({ length }, () => rng.int(shape.vocabulary)),
      channels: { weight: filled(1e-4), advantages: filled(1), oldLogprobs: filled(-4) },
    };
  });
  const result = await engine.forwardBackward(batchOf(rows), ppoClip(), { temperature: 1 });
  await engine.optimStep({
    learningRate: 1e-4,
    beta1: 0.9,
    beta2: 0.98,
    epsilon: 1e-8,
    weightDecay: 0,
    clipNorm: 1,
  });
  return result;
}
