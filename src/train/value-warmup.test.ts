import { expect, test } from 'vitest';
import { madeGroup, playedEpisode } from '../core/testing/made-episodes.ts';
import { type RoleGroup, roleGroups } from '../core/trajectory.ts';
import { createEmbeddedEngine } from '../engine/embedded/embedded-engine.ts';
import type { Engine } from '../engine/engine.ts';
import { headOf } from '../objective/critic/critic-loss.ts';
import { sampleAll } from '../policy/sampler.ts';
import { learnerOn, learnOnce } from './learner-on.test-helper.ts';
import { recipes } from './recipes/recipes.ts';

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
  valueHead: true,
} as const;

async function played(engine: Engine): Promise<RoleGroup[]> {
  const requests = Array.from({ length: 8 }, (_, index) => ({
    conversation: `c${index}`,
    keep: 0,
    append: Int32Array.of(1, 2, 3 + (index % 4)),
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 6 },
    stopIds: [],
    seed: `s${index}`,
  }));
  const results = await sampleAll(engine, requests);
  const members = results.map(({ ids, logprobs }, index) =>
    playedEpisode(index, [
      { written: ids, reward: index % 2, call: { context: [...requests[index]!.append], logprobs } },
    ]),
  );
  return roleGroups([madeGroup(...members)]);
}

const warmedUp = recipes.filter(({ settings }) => (settings.objective?.valueWarmup ?? 0) > 0);

test('these recipes warm their value head up', () => {
  expect(warmedUp.map(({ name }) => name)).toEqual(['ppo', 'turn-gae', 'turn-ppo', 'bi-level-gae', 'gtr']);
});

const bins = { count: 21, low: -1, high: 2 };

test.each([
  ...warmedUp.map(({ name }) => [name, 'squared'] as const),
  ['ppo', 'hl-gauss'] as const,
  ['gtr', 'two-hot'] as const,
])(
  '%s, %s: the warm-up moves values and not the policy, to the last bit; the step after it moves the policy',
  async (name, valueLoss) => {
    const fast = { learningRate: 0.02, warmupSteps: 0, weightDecay: 0.1 };
    const objective = {
      ...{ valueLoss, valueBins: bins },
      ...(name === 'gtr' && { options: { thoughtWeight: 1 } }),
    };
    const valueHead = headOf({ valueLoss, valueBins: bins });
    const engine = await createEmbeddedEngine({
      ...{ shape: { ...shape, valueHead }, seed: 'warm', threads: 1, tokenBudget: 1024 },
    });
    try {
      const learner = learnerOn(engine, name, { optimizer: fast, objective });
      const rows = [{ ids_T: Int32Array.of(1, 2, 3, 4, 5, 6), channels: {} }];
      const said = () => engine.score({ rows }, { temperature: 1, values: true });
      const learn = async (step: number) => learnOnce(learner, await played(engine), { step, planned: 10 });
      const before = await said();
      for (let step = 0; step < 3; step++) {
        const { metrics } = await learn(step);
        expect(metrics['optim/gradient_norm']).toBeGreaterThan(0);
        expect(Math.abs(metrics['policy/kl_sample_train']!)).toBeLessThan(1e-7);
      }
      const warm = await said();
      expect(warm.logprobs).toEqual(before.logprobs);
      expect(warm.values).not.toEqual(before.values);
      await learn(3);
      expect((await said()).logprobs).not.toEqual(before.logprobs);
    } finally {
      await engine.close();
    }
  },
);
