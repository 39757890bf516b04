import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { EmbeddedEngine, EmbeddedEngineOptions } from '../src/engine/embedded/embedded-engine.ts';
import { adam, likelihood, randomBatch, request, tiny } from '../src/engine/embedded/testing/tiny-engine.ts';
import { combine } from '../src/objective/contract/combine.ts';
import { valueLoss } from '../src/objective/critic/value.ts';
import { sampleAll } from '../src/policy/sampler.ts';

/** Threads are started from what is built. */
const built = new URL('../dist/src/engine/embedded/embedded-engine.js', import.meta.url).href;
const { createEmbeddedEngine } = (await import(built)) as {
  createEmbeddedEngine(options: EmbeddedEngineOptions): Promise<EmbeddedEngine>;
};

const open: EmbeddedEngine[] = [];
afterEach(async () => {
  for (const engine of open.splice(0)) await engine.close();
});

async function engineOf(threads: number): Promise<EmbeddedEngine> {
  const engine = await createEmbeddedEngine({ shape: tiny, seed: 7, threads, tokenBudget: 64 });
  open.push(engine);
  return engine;
}

const batch = randomBatch([12, 7, 9, 5]);

async function train(engine: EmbeddedEngine, steps: number): Promise<number[]> {
  const norms: number[] = [];
  for (let step = 0; step < steps; step++) {
    await engine.forwardBackward(batch, likelihood, { temperature: 1 });
    norms.push((await engine.optimStep(adam)).gradientNorm);
  }
  return norms;
}

const frozen = { temperature: 1, frozen: true };

describe('training lanes in threads', () => {
  it('take the steps of one thread, and the same bits each time', async () => {
    const [one, two, again] = [await engineOf(1), await engineOf(2), await engineOf(2)];
    const norms = await train(one, 4);
    const spread = await train(two, 4);
    for (const [step, norm] of norms.entries()) expect(spread[step]).toBeCloseTo(norm, 3);
    expect(await train(again, 4)).toEqual(spread);
    const scores = await two.score(batch, { temperature: 1, entropies: true });
    expect(await again.score(batch, { temperature: 1, entropies: true })).toEqual(scores);
  });

  it('move the value head alone, whichever lane applies it, and begin anew all together', async () => {
    const engine = await createEmbeddedEngine({
      shape: { ...tiny, valueHead: true },
      seed: 7,
      threads: 2,
      tokenBudget: 64,
    });
    open.push(engine);
    const { rows, targets } = batch;
    const returns = new Float32Array(targets.row_N.length).fill(3);
    const valued = { rows, targets: { ...targets, channels: { ...targets.channels, returns } } };
    const values = valueLoss({ valueClip: 0, valueCoefficient: 1 });
    const all = combine([likelihood, values]);
    const said = () => engine.score(batch, { temperature: 1, values: true });
    const harsh = { ...adam, weightDecay: 0.1, decayAll: true };

    const before = await said();
    await engine.forwardBackward(valued, all, { temperature: 1 });
    expect((await engine.optimStep({ ...harsh, only: 'value-head' })).gradientNorm).toBeGreaterThan(0);
    const after = await said();
    expect(after.logprobs).toEqual(before.logprobs);
    expect(after.values).not.toEqual(before.values);

    await engine.forwardBackward(valued, all, { temperature: 1 });
    await engine.optimStep(adam);
    await engine.restartOptimizer();
    const moved = await said();
    await engine.optimStep(adam);
    expect(await said()).toEqual(moved);
  });

  it('sample from what they have learned, and go on from a checkpoint bit by bit', async () => {
    const engine = await engineOf(2);
    await train(engine, 2);
    await engine.freeze();
    await train(engine, 2);
    await engine.publish();
    const folder = await mkdtemp(join(tmpdir(), 'turnwise-lanes-'));
    await engine.save(folder);
    const resumed = await engineOf(2);
    await resumed.load(folder);
    expect(resumed.version).toBe(engine.version);
    const asked = [request('a', [1, 2, 3])];
    const [sampled] = await sampleAll(engine, asked);
    expect(await sampleAll(resumed, asked)).toEqual([sampled]);
    const ids_T = Int32Array.of(1, 2, 3, ...sampled!.ids);
    const { logprobs } = await engine.score({ rows: [{ ids_T }] }, { temperature: 1 });
    for (const [index, logprob] of [...sampled!.logprobs].entries())
      expect(logprobs[0]![3 + index]).toBeCloseTo(logprob, 4);
    expect(await resumed.score(batch, frozen)).toEqual(await engine.score(batch, frozen));
    expect(await train(resumed, 3)).toEqual(await train(engine, 3));
  });

  it('answer in the words of the engine when something is wrong, and go on', async () => {
    const engine = await engineOf(2);
    await expect(engine.score(batch, frozen)).rejects.toMatchObject({ code: 'engine-not-frozen' });
    const bad = randomBatch([9, 9]);
    bad.targets.channels.weight!.fill(3e38, 8);
    await expect(engine.forwardBackward(bad, likelihood, { temperature: 1 })).rejects.toMatchObject({
      code: 'non-finite-loss',
      fields: { rows: '1' },
    });
    expect(await train(engine, 2)).toEqual(await train(await engineOf(2), 2));
  });
});

describe('several adapters in one thread', () => {
  it('close at the same time, and the thread ends after the last', async () => {
    const lora = { rank: 2 };
    const options = { shape: tiny, seed: 7, threads: 1, tokenBudget: 64 };
    const first = await createEmbeddedEngine({ ...options, lora });
    const others = [await first.attach({ seed: 8, lora }), await first.attach({ seed: 9, lora })];
    await expect(first.attach({ seed: 1, adapter: 'no/where' })).rejects.toThrow();
    for (const engine of [first, ...others]) await train(engine, 1);
    // One that still computes is closed after the others.
    const busy = Array.from({ length: 20 }, () => others[0]!.score(batch, { temperature: 1 }));
    const closing = [first, ...others].map((engine) => engine.close());
    await Promise.all([...busy, ...closing]);
    await expect(first.sample(request('a', [1]))).rejects.toMatchObject({ code: 'engine-closed' });
  });
});
