import { describe, expect, test } from 'vitest';
import type { Episode } from '../src/core/episode.ts';
import { samplesOf } from '../src/core/sample.ts';
import { madeGroup, playedEpisode } from '../src/core/testing/made-episodes.ts';
import { roleGroups } from '../src/core/trajectory.ts';
import { createEmbeddedEngine } from '../src/engine/embedded/embedded-engine.ts';
import type { Engine } from '../src/engine/engine.ts';
import { batchOf } from '../src/engine/token-batch.ts';
import { crossEntropy } from '../src/objective/imitation/cross-entropy.ts';
import { sampleAll } from '../src/policy/sampler.ts';
import type { TrainSettings } from '../src/train/config/config.ts';
import { learnerOn, learnOnce } from '../src/train/learner-on.test-helper.ts';
import { updateWarnings } from '../src/train/loop/warnings.ts';
import { findRecipe, recipes } from '../src/train/recipes/recipes.ts';

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
    keep: 0,
    append: Int32Array.of(1, 2, 3 + (index % 4)),
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 6 },
    stopIds: [],
    seed: `s${index}`,
  }));
  const results = await sampleAll(engine, requests);
  return results.map(({ ids, logprobs }, index) => {
    const call = { context: [...requests[index]!.append], logprobs };
    return playedEpisode(index, [{ written: ids, reward: index % 2, call }]);
  });
}

/** The losses and terms of the recipe, with the credit of RLOO or GAE, which need nothing of the environment. */
async function learn(
  engine: Engine,
  members: readonly Episode[],
  name: string,
  settings: TrainSettings = {},
) {
  const recipe = findRecipe(name);
  const own = { credit: { method: recipe.critic ? 'gae' : 'rloo' }, optimizer: { minibatches: 1 } };
  const learner = learnerOn(engine, name, { ...own, ...settings }, { stored: members });
  const groups = roleGroups([madeGroup(...members)]);
  const update = await learnOnce(learner, groups);
  return { warnings: updateWarnings(1, update, groups), metrics: update.metrics };
}

/** The trained weights move on behind the sampler's back. */
async function move(engine: Engine): Promise<void> {
  const ids_T = Int32Array.of(1, 2, 3, 4);
  const rows = [{ ids_T, channels: { weight: Float32Array.of(0, 1, 1, 1) } }];
  await engine.forwardBackward(batchOf(rows), crossEntropy(), { temperature: 1 });
  await engine.optimStep({
    learningRate: 0.02,
    beta1: 0.9,
    beta2: 0.98,
    epsilon: 1e-8,
    weightDecay: 0,
    clipNorm: 1,
  });
}

/** The mean of e^-x - 1 + x over sampled tokens, x = log of the sampler - log of the trainer. */
async function gapOf(engine: Engine, members: readonly Episode[]): Promise<number> {
  const samples = samplesOf(madeGroup(...members), 'learner');
  const rows = samples.map(({ ids_T }) => ({ ids_T }));
  const { logprobs } = await engine.score({ rows }, { temperature: 1 });
  const gaps = samples.flatMap(({ mask_T, logprobs_T }, row) =>
    [...mask_T].flatMap((bit, token) => {
      const x = logprobs_T[token]! - logprobs[row]![token]!;
      return bit ? [Math.exp(-x) - 1 + x] : [];
    }),
  );
  return gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
}

const onPolicy = recipes.filter(({ learn }) => learn === undefined).map(({ name }) => name);
const others = ['dpo', 'kto', 'rebel', 'spear-sil', 'sft-rl'];

const cases: readonly (readonly [string, TrainSettings])[] = [
  ...[...onPolicy, ...others].map((name) => [name, {}] as const),
  ['ppo', { objective: { valueWarmup: 0 } }],
  ['filtered-bc', { data: '', replay: { updates: 1 } }],
];

describe.each(cases)('%s %j', (name, settings) => {
  test('a run warns when the weights that learn are not those that sampled, and only then', async () => {
    const valueHead = findRecipe(name).critic;
    const engine = await createEmbeddedEngine({
      shape: { ...shape, valueHead },
      seed: 'alarm',
      threads: 1,
      tokenBudget: 1024,
    });
    try {
      await engine.freeze();
      const same = await learn(engine, await episodes(engine), name, settings);
      expect(same.warnings).toEqual([]);
      expect(Math.abs(same.metrics['policy/kl_sample_train']!)).toBeLessThan(1e-7);

      await engine.publish();
      const sampled = await episodes(engine);
      await move(engine);
      const gap = await gapOf(engine, learnedOf(name, sampled));
      const moved = await learn(engine, sampled, name, settings);
      expect(moved.warnings.map((event) => 'code' in event && event.code)).toEqual(['sampler-differs']);
      expect(moved.metrics['policy/kl_sample_train']).toBeGreaterThan(1e-5);
      expect(moved.metrics['policy/kl_sample_train']! / gap).toBeCloseTo(1, 3);
    } finally {
      await engine.close();
    }
  });
});

/** Of these episodes, those that the recipe learns from: every second one succeeded. */
function learnedOf(name: string, members: readonly Episode[]): readonly Episode[] {
  if (name === 'filtered-bc') return members.filter(({ outcome }) => outcome.agent === 1);
  if (name !== 'dpo') return members;
  const sorted = [...members].sort((a, b) => b.outcome.agent! - a.outcome.agent!);
  return [sorted[0]!, sorted.at(-1)!];
}

test('without episodes to learn from nothing is measured', async () => {
  const engine = await createEmbeddedEngine({ shape, seed: 'alarm', threads: 1, tokenBudget: 1024 });
  try {
    const equal = (await episodes(engine)).map((episode) => ({ ...episode, outcome: { agent: 1 } }));
    const { metrics } = await learn(engine, equal, 'rloo');
    expect('policy/kl_sample_train' in metrics).toBe(false);
  } finally {
    await engine.close();
  }
});
