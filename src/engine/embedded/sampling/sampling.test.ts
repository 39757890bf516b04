import { describe, expect, it } from 'vitest';
import { Rng } from '../../../core/rng.ts';
import type { SampleRequest, SampleResult } from '../../../policy/sampler.ts';
import { sampleAll } from '../../../policy/sampler.ts';
import type { EmbeddedEngine } from '../embedded-engine.ts';
import { adam, engineOf, likelihood, randomBatch, request, stir, tiny } from '../testing/tiny-engine.ts';

/** Asserts that what was sampled after `prompt` has the log-probabilities, and the entropy, that scoring finds. */
async function expectScored(
  engine: EmbeddedEngine,
  prompt: readonly number[],
  { ids, logprobs, entropy }: SampleResult,
  temperature = 1,
): Promise<void> {
  const ids_T = Int32Array.from([...prompt, ...ids]);
  const scores = await engine.score({ rows: [{ ids_T }] }, { temperature, entropies: true });
  const difference = Math.max(
    ...logprobs.map((logprob, index) => Math.abs(logprob - scores.logprobs[0]![prompt.length + index]!)),
  );
  expect(difference).toBeLessThan(1e-4);
  const entropies = scores.entropies![0]!.subarray(prompt.length);
  expect(Math.abs(entropy! - entropies.reduce((sum, one) => sum + one, 0))).toBeLessThan(1e-4 * ids.length);
}

describe('sampling agrees with scoring', () => {
  it('for prompts of different lengths, in chunks, with capacity growth, at any temperature', async () => {
    const engine = await engineOf();
    await stir(engine);
    const rng = Rng.of('prompts');
    const prompts = [1, 5, 63, 64, 65, 150].map((length) =>
      Array.from({ length }, () => rng.int(tiny.vocabulary)),
    );
    for (const temperature of [1, 0.7]) {
      const results = await sampleAll(
        engine,
        prompts.map((prompt, index) =>
          request(`${temperature}/${index}`, prompt, { temperature, maxTokens: 3 + 20 * index }),
        ),
      );
      for (const [index, result] of results.entries()) {
        expect(result.ids).toHaveLength(3 + 20 * index);
        await expectScored(engine, prompts[index]!, result, temperature);
      }
    }
  });

  it('over turns with cache reuse, eviction, and a rewritten history', async () => {
    const engine = await engineOf({ slots: 3 });
    await stir(engine);
    const rng = Rng.of('turns');
    const histories = new Map(['a', 'b', 'c', 'd', 'e'].map((name) => [name, [rng.int(11)]]));
    for (let turn = 0; turn < 12; turn++) {
      // A different part of the conversations each turn, more than there are slots at times.
      const names = [...histories.keys()].filter(() => rng.chance(0.7));
      for (const name of names) {
        const history = histories.get(name)!;
        if (rng.chance(0.15)) history.splice(Math.floor(history.length / 2));
        for (let k = rng.int(9); k >= 0; k--) history.push(rng.int(11));
      }
      const results = await sampleAll(
        engine,
        names.map((name) => request(name, [...histories.get(name)!], { maxTokens: 1 + rng.int(4) })),
      );
      for (const [index, name] of names.entries()) {
        await expectScored(engine, histories.get(name)!, results[index]!);
        histories.get(name)!.push(...results[index]!.ids);
      }
    }
    expect((await engine.statistics()).conversations).toBe(3);
  });

  it('computes only what is new of a conversation', async () => {
    const engine = await engineOf();
    const prompt = Array.from({ length: 40 }, (_, index) => index % 11);
    const [first] = await sampleAll(engine, [request('a', prompt, { maxTokens: 1 })]);
    expect((await engine.statistics()).forwardTokens).toBe(40);
    await sampleAll(engine, [request('a', [...prompt, ...first!.ids, 3, 4], { maxTokens: 1 })]);
    expect((await engine.statistics()).forwardTokens).toBe(43);
    engine.release(['a']);
    await sampleAll(engine, [request('a', [1, 2], { maxTokens: 1 })]);
    expect((await engine.statistics()).forwardTokens).toBe(45);
  });

  it('and reads what several prompts begin with once', async () => {
    const engine = await engineOf({ slots: 8 });
    await stir(engine);
    const opening = Array.from({ length: 70 }, (_, index) => (index * 5) % 11);
    const prompts = [...Array(6).keys()].map((k) => [...opening, k, ...Array(k).fill(3)]);
    const ask = (k: number) =>
      engine.sample(request(`prompt ${k}`, prompts[k]!, { seed: `s${k}`, maxTokens: 8 }));
    const results = await Promise.all(prompts.map((_, k) => ask(k)));
    const own = prompts.reduce((sum, { length }) => sum + length - opening.length, 0);
    expect((await engine.statistics()).forwardTokens).toBe(opening.length + own + 6 * 7);
    for (const [k, prompt] of prompts.entries()) await expectScored(engine, prompt, results[k]!);
  });

  it('and reads all of it again, kept by the request, once other weights are published or its row was given away', async () => {
    const engine = await engineOf({ slots: 1 });
    const prompt = Array.from({ length: 20 }, (_, index) => index % 11);
    const first = await engine.sample(request('a', prompt, { maxTokens: 3 }));
    expect(first.version).toBe(0);
    await engine.sample(request('b', [1, 2], { maxTokens: 1 }));
    await engine.publish();
    const turn = request('a', [5, 6], { keep: 23, maxTokens: 2 });
    const second = await engine.sample(turn);
    expect(second.version).toBe(1);
    await expectScored(engine, [...prompt, ...first.ids, 5, 6], second);
    await expect(engine.sample({ ...turn, keep: 99 })).rejects.toMatchObject({ code: 'sample-invalid' });
  });

  it('and ends what is still sampled in a conversation that is released', async () => {
    const engine = await engineOf();
    const long = engine.sample(request('long', [1], { maxTokens: 200 }));
    const other = engine.sample(request('other', [2], { maxTokens: 3 }));
    engine.release(['long']);
    await expect(long).rejects.toMatchObject({ code: 'cancelled' });
    await expectScored(engine, [2], await other);
    expect((await engine.statistics()).forwardTokens).toBeLessThan(20);
    const again = await engine.sample(request('long', [1, 2], { maxTokens: 3 }));
    await expectScored(engine, [1, 2], again);
  });

  it('and loses nothing of a row that is read while the only other conversation is released', async () => {
    const engine = await engineOf();
    await stir(engine);
    for (const round of [0, 1, 2, 3]) {
      await engine.sample(request(`idle/${round}`, [round, 2]));
      const prompt = Array.from({ length: 40 }, (_, index) => (7 * index + round) % tiny.vocabulary);
      const read = engine.sample(request(`read/${round}`, prompt, { maxTokens: 20 }));
      await new Promise(setImmediate);
      engine.release([`idle/${round}`]);
      await expectScored(engine, prompt, await read);
      engine.release([`read/${round}`]);
    }
  });

  it('and memory does not grow with the number of conversations', async () => {
    const engine = await engineOf({ slots: 4 });
    const sizes = [];
    for (let round = 0; round < 30; round++) {
      await sampleAll(
        engine,
        [0, 1, 2].map((k) => request(`${round}/${k}`, [k, 2, 3])),
      );
      if (round % 2 === 0) engine.release([`${round}/0`, `${round}/1`, 'unknown']);
      sizes.push((await engine.statistics()).cacheBytes);
    }
    expect(sizes[29]).toBe(sizes[5]);
    expect((await engine.statistics()).conversations).toBeLessThanOrEqual(4);
  });
});

describe('sampling', () => {
  it('stops at stop ids, at the token limit and at the end of the context', async () => {
    const engine = await engineOf({ shape: { ...tiny, contextLength: 12 } });
    const [long, stopped, full] = await sampleAll(engine, [
      request('a', [1], { maxTokens: 5 }),
      request('b', [1], { maxTokens: 9, stopIds: Array.from({ length: 11 }, (_, id) => id) }),
      request('c', Array(10).fill(2), { maxTokens: 5 }),
    ]);
    expect([long!.ids.length, long!.finish]).toEqual([5, 'length']);
    expect([stopped!.ids.length, stopped!.finish]).toEqual([1, 'stop']);
    expect([full!.ids.length, full!.finish]).toEqual([2, 'length']);
  });

  it('gives the same bits for the same calls, and other tokens for another seed', async () => {
    const results = [];
    for (const seed of ['s', 's', 't']) {
      const engine = await engineOf();
      await stir(engine, 1);
      const requests = [1, 2, 3].map((k) =>
        request(`${k}`, Array(k).fill(k), { seed: seed + k, maxTokens: 20 }),
      );
      results.push(await sampleAll(engine, requests));
    }
    expect(results[1]).toEqual(results[0]);
    expect(results[2]!.map(({ ids }) => ids)).not.toEqual(results[0]!.map(({ ids }) => ids));
  });

  it('does not depend on what was sampled and released before', async () => {
    const engine = await engineOf();
    const ask = () =>
      sampleAll(engine, [request('x', [1, 2], { maxTokens: 30 }), request('y', [3], { maxTokens: 9 })]);
    const first = await ask();
    engine.release(['x', 'y']);
    await sampleAll(engine, [request('long', Array(200).fill(5), { maxTokens: 9 })]);
    engine.release(['long']);
    expect(await ask()).toEqual(first);
  });

  it('gives a completion the same tokens in any company, and log-probabilities but for rounding', async () => {
    const engine = await engineOf({ slots: 32 });
    await stir(engine);
    const ask = (name: string, k: number) =>
      engine.sample(request(`${name}/${k}`, [k % 11, 3, k % 7], { seed: `s${k}`, maxTokens: 12 }));
    const all = [...Array(24).keys()];
    const together = await Promise.all(all.map((k) => ask('together', k)));
    for (const k of all) {
      const alone = await ask('alone', k);
      expect([...alone.ids]).toEqual([...together[k]!.ids]);
      for (const [t, logprob] of alone.logprobs.entries())
        expect(Math.abs(logprob - together[k]!.logprobs[t]!)).toBeLessThan(1e-5);
    }
  });

  it('serves separate calls at once, and several requests of one conversation in turn', async () => {
    const engine = await engineOf({ slots: 2 });
    const calls = Array.from({ length: 9 }, (_, k) =>
      sampleAll(engine, [request(`${k % 4}`, [k % 4, k % 11], { seed: `${k}`, maxTokens: 1 + (k % 5) })]),
    );
    const results = (await Promise.all(calls)).map(([result]) => result!);
    expect(results.map(({ ids }) => ids.length)).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4]);
    for (const [k, result] of results.entries()) await expectScored(engine, [k % 4, k % 11], result);
  });

  it('uses the published weights: requests before publish the old, requests after it the new', async () => {
    const engine = await engineOf();
    const before = await sampleAll(engine, [request('a', [1, 2, 3], { seed: 'p' })]);
    await engine.forwardBackward(randomBatch([9]), likelihood, { temperature: 1 });
    await engine.optimStep({ ...adam, learningRate: 0.5 });
    expect(await sampleAll(engine, [request('b', [1, 2, 3], { seed: 'p' })])).toEqual(before);
    const [old, version, fresh] = await Promise.all([
      sampleAll(engine, [request('c', [1, 2, 3], { seed: 'p' })]),
      engine.publish(),
      sampleAll(engine, [request('a', [1, 2, 3], { seed: 'p' })]),
    ]);
    expect(version).toBe(1);
    expect(engine.version).toBe(1);
    expect(old).toEqual(before);
    expect(fresh).not.toEqual(before);
    await expectScored(engine, [1, 2, 3], fresh[0]!);
  });

  it('refuses requests it cannot serve', async () => {
    const engine = await engineOf();
    const refuse = (more: Partial<SampleRequest & SampleRequest['sampling']>) =>
      sampleAll(engine, [request('a', [1], more)]).then(
        () => 'accepted',
        (error: Error) => error.message,
      );
    expect(await refuse({ append: new Int32Array() })).toMatchInlineSnapshot(
      `"The sampling request of conversation a has a prompt of unusable length. Seen: 0 tokens. Allowed: 1 to 299 tokens."`,
    );
    expect(await refuse({ append: Int32Array.of(11) })).toMatchInlineSnapshot(
      `"The sampling request of conversation a has a token id outside the vocabulary. Seen: 11. Allowed: 0 to 10."`,
    );
    expect(await refuse({ temperature: -1 })).toMatchInlineSnapshot(
      `"The sampling request of conversation a has an unusable temperature. Seen: -1. Allowed: 0 (greedy) or more."`,
    );
    expect(await refuse({ topP: 0 })).toMatchInlineSnapshot(
      `"The sampling request of conversation a has an unusable topP. Seen: 0. Allowed: above 0, at most 1."`,
    );
    expect(await refuse({ topK: 1.5 })).toMatchInlineSnapshot(
      `"The sampling request of conversation a has an unusable topK. Seen: 1.5. Allowed: a whole number; 0 keeps all."`,
    );
    expect(await refuse({ maxTokens: 0 })).toMatchInlineSnapshot(
      `"The sampling request of conversation a has an unusable maxTokens. Seen: 0. Allowed: a whole number, at least 1."`,
    );
  });
});
