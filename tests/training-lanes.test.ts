import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { EmbeddedEngine, EmbeddedEngineOptions } from '../src/engine/embedded/embedded-engine.ts';
import { adam, likelihood, randomBatch, request, tiny } from '../src/engine/embedded/testing/tiny-engine.ts';

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
    const [sampled] = await engine.sample(asked);
    expect(await resumed.sample(asked)).toEqual([sampled]);
    const ids_T = Int32Array.of(1, 2, 3, ...sampled!.ids);
    const { logprobs } = await engine.score({ rows: [{ ids_T, channels: {} }] }, { temperature: 1 });
    for (const [index, logprob] of [...sampled!.logprobs].entries())
      expect(logprobs[0]![3 + index]).toBeCloseTo(logprob, 4);
    expect(await resumed.score(batch, frozen)).toEqual(await engine.score(batch, frozen));
    expect(await train(resumed, 3)).toEqual(await train(engine, 3));
  });

  it('answer in the words of the engine when something is wrong, and go on', async () => {
    const engine = await engineOf(2);
    await expect(engine.score(batch, frozen)).rejects.toMatchObject({ code: 'engine-not-frozen' });
    const bad = randomBatch([9, 9]);
    bad.rows[1]!.channels.weight!.fill(3e38);
    await expect(engine.forwardBackward(bad, likelihood, { temperature: 1 })).rejects.toMatchObject({
      code: 'non-finite-loss',
      fields: { rows: '1' },
    });
    expect(await train(engine, 2)).toEqual(await train(await engineOf(2), 2));
  });
});
