/** Truncated importance sampling in a recipe, on episodes that older weights played: the gradient is that of worked weights. */

import { expect, test } from 'vitest';
import type { Episode } from '../src/core/episode.ts';
import { byPolicy, madeGroup, playedEpisode } from '../src/core/testing/made-episodes.ts';
import { roleGroups } from '../src/core/trajectory.ts';
import { delegateTo } from '../src/engine/delegate.ts';
import type { EmbeddedEngine } from '../src/engine/embedded/embedded-engine.ts';
import { adam, engineOf, likelihood } from '../src/engine/embedded/testing/tiny-engine.ts';
import type { OptimStepResult, TokenBatch } from '../src/engine/engine.ts';
import { batchOf } from '../src/engine/token-batch.ts';
import { sampleAll } from '../src/policy/sampler.ts';
import { olderBy } from '../src/train/batches/staleness.ts';
import { learnerOn, learnOnce } from '../src/train/learner-on.test-helper.ts';

const CAP = 1.25;
const PROMPT = [1, 2, 3];

/** Eight episodes of one turn, every other of which succeeds. */
async function played(engine: EmbeddedEngine): Promise<Episode[]> {
  const requests = Array.from({ length: 8 }, (_, index) => ({
    conversation: `c${index}`,
    keep: 0,
    append: Int32Array.from(PROMPT),
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 5 },
    stopIds: [],
    seed: `s${index}`,
  }));
  const results = await sampleAll(engine, requests);
  engine.release(requests.map(({ conversation }) => conversation));
  return results.map(({ ids, logprobs, version }, index) => {
    const call = { context: PROMPT, logprobs, by: byPolicy('learner', version) };
    return playedEpisode(index, [{ written: ids, reward: index % 2, call }]);
  });
}

/** Three updates towards some words, each published: the policy that played is three versions old. */
async function moveOn(engine: EmbeddedEngine): Promise<void> {
  for (let update = 0; update < 3; update++) {
    const ids_T = Int32Array.from([...PROMPT, 4, 5, 6, 4]);
    const weight = Float32Array.from(ids_T, (_, t) => (t < PROMPT.length ? 0 : 1));
    await engine.forwardBackward(batchOf([{ ids_T, channels: { weight } }]), likelihood, { temperature: 1 });
    await engine.optimStep(adam);
    await engine.publish();
  }
  await engine.restartOptimizer();
}

/** An engine whose policy is three versions ahead of the one that played. */
async function ahead() {
  const engine = await engineOf();
  const members = await played(engine);
  await moveOn(engine);
  return { engine, members };
}

/** The gradient of -Σ weight · log π, by the norm that the optimizer sees, and the log-probabilities after its step. */
async function step(engine: EmbeddedEngine, members: readonly Episode[], weightOf: WeightOf) {
  const rows = rowsOf(members);
  const { logprobs } = await engine.score({ rows }, { temperature: 1 });
  const trained = rows.map(({ ids_T }, row) => {
    const sampled = members[row]!.calls[0]!.logprobs;
    const weight = Float32Array.from(ids_T, (_, t) =>
      t < PROMPT.length ? 0 : weightOf(row, logprobs[row]![t]! - sampled[t - PROMPT.length]!),
    );
    return { ids_T, channels: { weight } };
  });
  await engine.forwardBackward(batchOf(trained), likelihood, { temperature: 1 });
  const { gradientNorm } = await engine.optimStep({ ...adam, clipNorm: 0, learningRate: 1e-3 });
  return { gradientNorm, after: (await engine.score({ rows }, { temperature: 1 })).logprobs };
}
type WeightOf = (row: number, logRatio: number) => number;

const rowsOf = (members: readonly Episode[]) =>
  members.map(({ calls: [call] }) => ({ ids_T: Int32Array.from([...PROMPT, ...call!.ids]) }));

/** RLOO of four that earned 1 and four that earned 0; each token has an equal share of the loss. */
const advantage = (row: number): number => (row % 2 === 1 ? 1 - 3 / 7 : -4 / 7);
const TOKENS = 8 * 5;

test('tis on stale episodes: each token weighs min(π_trainer / π_sampler, cap), and the gradient is that of these weights', async () => {
  const { engine, members } = await ahead();
  expect(olderBy(new Map([['learner', engine.version]]), [madeGroup(...members)])).toBe(3);
  const { logprobs } = await engine.score({ rows: rowsOf(members) }, { temperature: 1 });
  const batches: TokenBatch[] = [];
  const steps: OptimStepResult[] = [];
  const watched = delegateTo(engine, {
    forwardBackward: (batch, objective, options) => {
      batches.push(batch);
      return engine.forwardBackward(batch, objective, options);
    },
    optimStep: async (options) => {
      const result = await engine.optimStep(options);
      steps.push(result);
      return result;
    },
  });
  const learner = learnerOn(watched, 'tis', {
    credit: { method: 'rloo' },
    objective: { options: { largest: CAP } },
    optimizer: {
      ...{ minibatches: 1, warmupSteps: 0, schedule: 'constant', learningRate: 1e-3 },
      ...{ clipNorm: 0, weightDecay: 0, beta1: adam.beta1, beta2: adam.beta2 },
    },
  });
  await learnOnce(learner, roleGroups([madeGroup(...members)]));

  // 1. The weights, token by token.
  const [{ rows, targets }] = batches as [TokenBatch];
  const names = rowsOf(members).map(({ ids_T }) => ids_T.join());
  expect(new Set(names).size).toBe(members.length);
  const { row_N, position_N, channels } = targets;
  let [capped, below] = [0, 0];
  for (const [target, weight] of channels.weight!.entries()) {
    if (weight === 0) continue;
    const [row, t] = [names.indexOf(rows[row_N[target]!]!.ids_T.join()), position_N[target]!];
    const ratio = Math.exp(logprobs[row]![t]! - members[row]!.calls[0]!.logprobs[t - PROMPT.length]!);
    expect(channels.mismatchWeight![target]).toBeCloseTo(Math.min(ratio, CAP), 5);
    expect(weight).toBeCloseTo(1 / TOKENS, 6);
    expect(channels.advantages![target]).toBeCloseTo(advantage(row), 5);
    if (ratio > CAP) capped++;
    else if (ratio < 0.9) below++;
  }
  expect(Math.min(capped, below)).toBeGreaterThan(3);

  // 2. The gradient, beside that of worked weights on another engine in the same state.
  const other = await ahead();
  const worked = await step(
    other.engine,
    other.members,
    (row, x) => (advantage(row) * Math.min(Math.exp(x), CAP)) / TOKENS,
  );
  expect(steps[0]!.gradientNorm / worked.gradientNorm).toBeCloseTo(1, 4);
  const after = (await engine.score({ rows: rowsOf(members) }, { temperature: 1 })).logprobs;
  for (const [row, expected_T] of worked.after.entries()) {
    for (const [t, expected] of expected_T.entries()) expect(after[row]![t]).toBeCloseTo(expected, 4);
  }

  // 3. Without weights, or without a cap, it is another gradient.
  for (const weightOf of [() => 1, (x: number) => Math.exp(x)]) {
    const control = await ahead();
    const { gradientNorm } = await step(
      control.engine,
      control.members,
      (row, x) => (advantage(row) * weightOf(x)) / TOKENS,
    );
    expect(Math.abs(gradientNorm / steps[0]!.gradientNorm - 1)).toBeGreaterThan(0.02);
  }
});
