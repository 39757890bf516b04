/** Our client against our server: the same numbers as the engine without a wire between. */

import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { adam, randomBatch, randomRows, request } from '../../engine/embedded/testing/tiny-engine.ts';
import type { Engine, TokenBatch } from '../../engine/engine.ts';
import { batchOf } from '../../engine/token-batch.ts';
import { readSafetensors } from '../../model/checkpoint/safetensors.ts';
import { combine } from '../../objective/contract/combine.ts';
import type { Objective } from '../../objective/contract/objective.ts';
import { valueLoss } from '../../objective/critic/value.ts';
import { crossEntropy } from '../../objective/imitation/cross-entropy.ts';
import { namedLoss, objectiveOf } from '../../objective/named-losses.ts';
import { policyGradient } from '../../objective/policy-gradient/policy-gradient.ts';
import { ppoClip } from '../../objective/policy-gradient/ppo-clip.ts';
import { sampleAll } from '../../policy/sampler.ts';
import { parsePath } from './checkpoints.ts';
import { baseEngine, tinyClient, tinyServer } from './testing/tiny-server.ts';

/** Weights that differ, some zero; advantages and old log-probabilities near those of the model. */
function policyBatch(): TokenBatch {
  return batchOf(
    randomRows([9, 4, 12]).map(({ ids_T }, row) => ({
      ids_T,
      channels: {
        weight:
          ids_T.length === 4 ? new Float32Array(4) : Float32Array.from(ids_T, (_, t) => ((t + row) % 3) / 40),
        advantages: Float32Array.from(ids_T, (id, t) => Math.sin(id + t)),
        oldLogprobs: Float32Array.from(ids_T, (_, t) => -2.4 + Math.cos(3 * t) / 5),
        referenceLogprobs: Float32Array.from(ids_T, (_, t) => -2.4 - Math.cos(t) / 5),
      },
    })),
  );
}

const objectives: readonly [string, Objective][] = [
  ['cross-entropy, by name', crossEntropy()],
  ['ppo, by name', objectiveOf(namedLoss('ppo'))],
  ['cispo, by name', objectiveOf(namedLoss('cispo'))],
  ['dro, by the chain rule', objectiveOf(namedLoss('dro'))],
  ['policy gradient, by the chain rule', policyGradient()],
  ['dual clip and KL to a reference, by the chain rule', ppoClip({ klCoefficient: 0.3 })],
  ['a sum of two, by the chain rule', combine([ppoClip(), crossEntropy()])],
];

async function gradientNorm(engine: Engine, objective: Objective): Promise<number> {
  await engine.forwardBackward(policyBatch(), objective, { temperature: 1 });
  return (await engine.optimStep({ ...adam, clipNorm: 0 })).gradientNorm;
}

describe('the same update as the embedded engine', () => {
  test.each(objectives)('%s', async (name, objective) => {
    const direct = await baseEngine();
    const { url } = await tinyServer();
    const remote = await tinyClient(url, { protobuf: /ppo|dual/.test(name), lossScale: 'sum' });
    const batch = policyBatch();
    const expected = await direct.forwardBackward(batch, objective, { temperature: 1 });
    const got = await remote.forwardBackward(batch, objective, { temperature: 1 });
    expect(got.loss).toBeCloseTo(expected.loss, 5);
    for (const [name, value] of Object.entries(expected.metrics))
      expect(got.metrics[name]).toBeCloseTo(value, 5);
    // Plain gradient descent would show the gradient itself; Adam's first step shows its sign, so the norm is compared too.
    const steps = await Promise.all(
      [direct, remote].map((engine) => engine.optimStep({ ...adam, clipNorm: 0 })),
    );
    expect(Math.abs(steps[1]!.gradientNorm / steps[0]!.gradientNorm - 1)).toBeLessThan(1e-5);
    const [after, mine] = await Promise.all(
      [direct, remote].map((engine) => engine.score(batch, { temperature: 1 })),
    );
    for (const [row, logprobs] of after!.logprobs.entries())
      for (const [t, logprob] of logprobs.entries())
        expect(Math.abs(mine!.logprobs[row]![t]! - logprob)).toBeLessThan(2e-4);
  });
});

test('the gradient by the chain rule is the direct one, weight by weight, to 1e-5', async () => {
  // With epsilon far above every gradient, Adam's first step is -0.1 times the gradient.
  const plain = { ...adam, beta1: 0, beta2: 0, epsilon: 1e4, learningRate: 1e3, clipNorm: 0 };
  const direct = await baseEngine();
  const { url, server } = await tinyServer();
  const remote = await tinyClient(url);
  for (const engine of [direct, remote]) {
    await engine.forwardBackward(policyBatch(), ppoClip({ klCoefficient: 0.3 }), { temperature: 1 });
    await engine.optimStep(plain);
  }
  const folder = await mkdtemp(join(tmpdir(), 'turnwise-gradient-'));
  await direct.save(folder);
  await remote.save(folder);
  const { path } = JSON.parse(await readFile(join(folder, 'tinker.json'), 'utf8')) as { path: string };
  const theirs = server.checkpoints.folder(parsePath(path, 'weights'));
  const [mine, expected] = await Promise.all(
    [theirs, folder].map(async (from) => (await readSafetensors(join(from, 'model.safetensors'))).tensors),
  );
  const start = await baseEngine();
  await start.save(folder);
  const { tensors: initial } = await readSafetensors(join(folder, 'model.safetensors'));
  let largest = 0;
  for (const [name, { data }] of expected!) {
    for (const [index, value] of data.entries()) {
      largest = Math.max(largest, 10 * Math.abs(value - initial.get(name)!.data[index]!));
      expect(10 * Math.abs(mine!.get(name)!.data[index]! - value)).toBeLessThan(1e-5);
    }
  }
  expect(largest).toBeGreaterThan(0.05);
});

test('finds out that our server adds up, and gives the place of the probe back', async () => {
  const { url, server } = await tinyServer();
  const engine = await tinyClient(url);
  expect(engine.lossScale).toBe('sum');
  expect([...server.models.values()].map(({ isUnloaded }) => isUnloaded)).toEqual([true, false]);
});

test('samples greedily like the engine itself, with its log-probabilities, and in one call for equal prompts', async () => {
  const direct = await baseEngine();
  const { url } = await tinyServer();
  const remote = await tinyClient(url);
  const greedy = [[1, 2, 3], [4], [1, 2, 3]].map((prompt, index) =>
    request(`c${index}`, prompt, { temperature: 0, maxTokens: 6, stopIds: [9] }),
  );
  const [expected, got] = [await sampleAll(direct, greedy), await sampleAll(remote, greedy)];
  expect(got.map(({ ids, finish }) => ({ ids, finish }))).toEqual(
    expected.map(({ ids, finish }) => ({ ids, finish })),
  );
  for (const [index, { logprobs }] of expected.entries())
    for (const [t, logprob] of logprobs.entries()) expect(got[index]!.logprobs[t]).toBeCloseTo(logprob, 5);
  const random = [0, 1, 2, 3].map((index) =>
    request(`r${index}`, [5, 6], { maxTokens: 8, seed: `seed ${index}` }),
  );
  const first = await sampleAll(remote, random);
  expect(new Set(first.map(({ ids }) => ids.join())).size).toBeGreaterThan(1);
  expect(await sampleAll(remote, random)).toEqual(first);
});

test('log-probabilities are those at temperature 1, whatever the temperature', async () => {
  const { url } = await tinyServer();
  const remote = await tinyClient(url);
  const [hot] = await sampleAll(remote, [request('a', [1, 2], { temperature: 3, maxTokens: 5 })]);
  const row = { ids_T: Int32Array.of(1, 2, ...hot!.ids), channels: {} };
  const { logprobs } = await remote.score({ rows: [row] }, { temperature: 1 });
  for (const [t, logprob] of hot!.logprobs.entries()) expect(logprobs[0]![2 + t]).toBeCloseTo(logprob, 5);
});

test('samples come from what was published, not from what is trained', async () => {
  const { url } = await tinyServer();
  const remote = await tinyClient(url);
  const ask = () => sampleAll(remote, [request('a', [1, 2, 3], { temperature: 0 })]);
  const before = await ask();
  for (let step = 0; step < 3; step++) await gradientNorm(remote, crossEntropy());
  expect(await ask()).toEqual(before);
  expect(await remote.publish()).toBe(1);
  expect((await ask())[0]!.logprobs).not.toEqual(before[0]!.logprobs);
});

test('saves and loads, with optimizer and reference policy, into another session', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'turnwise-save-'));
  const { url } = await tinyServer({ limits: { mostModels: 8 } });
  const first = await tinyClient(url);
  const batch = policyBatch();
  await first.freeze();
  await gradientNorm(first, crossEntropy());
  await first.publish();
  await first.save(folder);
  const frozen = await first.score(batch, { temperature: 1, frozen: true });
  const next = async (engine: Engine): Promise<unknown> => {
    await gradientNorm(engine, crossEntropy());
    return engine.score(batch, { temperature: 1 });
  };
  const expected = await next(first);
  expect(await first.score(batch, { temperature: 1, frozen: true })).toEqual(frozen);
  await first.close();
  const second = await tinyClient(url);
  await expect(second.score(batch, { temperature: 1, frozen: true })).rejects.toThrow(/no reference policy/);
  await second.load(folder);
  expect(second.version).toBe(1);
  expect(await second.score(batch, { temperature: 1, frozen: true })).toEqual(frozen);
  expect(await next(second)).toEqual(expected);
  expect(await readFile(join(folder, 'tinker.json'), 'utf8')).not.toContain('tml-secret');
});

test('large batches travel in pieces', async () => {
  const { url, server } = await tinyServer({ app: { chunkLength: 3 } });
  const remote = await tinyClient(url);
  const direct = await baseEngine();
  const batch = randomBatch([5, 6, 7, 5, 6, 7, 9]);
  const before = server.futures.size;
  await remote.forwardBackward(batch, crossEntropy(), { temperature: 1 });
  expect(server.futures.size).toBe(before + 3);
  await direct.forwardBackward(batch, crossEntropy(), { temperature: 1 });
  const [a, b] = [await remote.optimStep(adam), await direct.optimStep(adam)];
  expect(Math.abs(a.gradientNorm / b.gradientNorm - 1)).toBeLessThan(1e-5);
});

test('an optimizer that begins anew takes no step without a gradient, and the weights stay', async () => {
  const { url } = await tinyServer();
  const remote = await tinyClient(url);
  const batch = policyBatch();
  const said = async () => (await remote.score(batch, { temperature: 1 })).logprobs;
  await remote.forwardBackward(batch, crossEntropy(), { temperature: 1 });
  await remote.optimStep(adam);
  const learned = await said();
  await remote.restartOptimizer();
  expect(await said()).toEqual(learned);
  await remote.optimStep(adam);
  expect(await said()).toEqual(learned);
});

test('what the API cannot do is refused before anything is sent', async () => {
  const { url } = await tinyServer();
  const remote = await tinyClient(url);
  const batch = policyBatch();
  const refused = async (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'accepted',
      (error: Error) => error.message,
    );
  expect({
    temperature: await refused(remote.forwardBackward(batch, crossEntropy(), { temperature: 0.7 })),
    entropies: await refused(
      remote.forwardBackward(batch, ppoClip({ entropyCoefficient: 0.1 }), { temperature: 1 }),
    ),
    values: await refused(remote.forwardBackward(batch, valueLoss(), { temperature: 1 })),
    channel: await refused(remote.forwardBackward(randomBatch([4]), ppoClip(), { temperature: 1 })),
    id: await refused(sampleAll(remote, [request('a', [99])])),
    group: await refused(remote.optimStep({ ...adam, only: 'value-head' })),
    model: await refused(tinyClient(url, { baseModel: 'other' })),
  }).toMatchInlineSnapshot(`
    {
      "channel": "The batch has no usable channel advantages. Seen: nothing. Allowed: 3 values, one for each target, or several for each.",
      "entropies": "The Tinker API has no entropies. Use an objective that depends on log-probabilities alone, or the embedded engine.",
      "group": "The Tinker API has no way to move some parameters alone. Seen: value-head. Move all parameters, or use the embedded engine.",
      "id": "The sampling request of conversation a has a token id outside the vocabulary. Seen: 99. Allowed: 0 to 10.",
      "model": "The Tinker server has no base model "other". Allowed: tiny. Name one of these with --base-model.",
      "temperature": "The Tinker API knows log-probabilities at temperature 1 only. Seen: temperature 0.7. Train with rollout.temperature 1, or with the embedded engine.",
      "values": "The Tinker API has no values. Use an objective that depends on log-probabilities alone, or the embedded engine.",
    }
  `);
});
