import { expect, test } from 'vitest';
import type { Episode } from '../src/core/episode.ts';
import { madeGroup, playedEpisode } from '../src/core/testing/made-episodes.ts';
import { roleGroups } from '../src/core/trajectory.ts';
import { findCreditMethod } from '../src/credit/methods.ts';
import { createEmbeddedEngine } from '../src/engine/embedded/embedded-engine.ts';
import type { Engine } from '../src/engine/engine.ts';
import { crossEntropy } from '../src/objective/cross-entropy.ts';
import { trainConfigSchema } from '../src/train/config.ts';
import type { Learner } from '../src/train/learner.ts';
import { rloo } from '../src/train/recipes/rloo.ts';
import { updatePolicy } from '../src/train/update.ts';
import { updateWarnings } from '../src/train/warnings.ts';

const shape = {
  vocabulary: 12,
  width: 16,
  layers: 1,
  heads: 2,
  keyValueHeads: 2,
  headWidth: 8,
  hidden: 32,
  activation: 'swiglu',
  tiedHead: false,
  ropeTheta: 10_000,
  contextLength: 32,
  normEpsilon: 1e-5,
} as const;

/** Episodes of one turn, sampled by the engine as it is. */
async function episodes(engine: Engine): Promise<Episode[]> {
  const requests = Array.from({ length: 8 }, (_, index) => ({
    conversation: `c${index}`,
    promptIds: [1, 2, 3 + (index % 4)],
    maxTokens: 6,
    stopIds: [],
    temperature: 1,
    topP: 1,
    topK: 0,
    seed: `s${index}`,
  }));
  const results = await engine.sample(requests);
  return results.map(({ ids, logprobs }, index) => {
    const call = { context: requests[index]!.promptIds, logprobs };
    return playedEpisode(index, [{ written: ids, reward: index % 2, call }]);
  });
}

async function learn(engine: Engine, members: readonly Episode[]) {
  const config = trainConfigSchema.parse({ optimizer: { minibatches: 1 } });
  const credit = findCreditMethod('rloo').create({}).credit;
  const learner = { config, engine, recipe: rloo, credit } as unknown as Learner;
  const groups = roleGroups([madeGroup(...members)]);
  const update = await updatePolicy(
    learner,
    groups,
    { step: 0, planned: 1 },
    { creditState: {}, replay: [] },
  );
  return { warnings: updateWarnings(1, update, groups), metrics: update.metrics };
}

test('a run warns when the weights that learn are not those that sampled, and only then', async () => {
  const engine = await createEmbeddedEngine({ shape, seed: 'alarm', threads: 1, tokenBudget: 1024 });
  try {
    const same = await learn(engine, await episodes(engine));
    expect(same.warnings).toEqual([]);
    expect(Math.abs(same.metrics['policy/kl_sample_train']!)).toBeLessThan(1e-8);

    await engine.publish();
    const sampled = await episodes(engine);
    // The trained weights move on behind the sampler's back.
    const ids_T = Int32Array.of(1, 2, 3, 4);
    const rows = [{ ids_T, channels: { weight: Float32Array.of(0, 1, 1, 1) } }];
    await engine.forwardBackward({ rows }, crossEntropy(), { temperature: 1 });
    const adam = { learningRate: 0.02, beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0, clipNorm: 1 };
    await engine.optimStep(adam);
    const moved = await learn(engine, sampled);
    expect(moved.warnings.map((event) => 'code' in event && event.code)).toEqual(['sampler-differs']);
    expect(moved.metrics['policy/kl_sample_train']).toBeGreaterThan(1e-5);
  } finally {
    await engine.close();
  }
});
