import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Rng } from '../../core/rng.ts';
import { add, multiply, negate } from '../../graph/operators/elementwise.ts';
import { sum } from '../../graph/operators/reduce.ts';
import { log, sqrt } from '../../graph/operators/unary.ts';
import type { DecoderShape } from '../../model/decoder.ts';
import type { Objective } from '../../objective/objective.ts';
import type { AdamOptions, SampleRequest, TokenBatch, TokenRow } from '../engine.ts';
import { createEmbeddedEngine, type EmbeddedEngine, type EmbeddedEngineOptions } from './embedded-engine.ts';

const tiny: DecoderShape = {
  vocabulary: 11,
  width: 16,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  headWidth: 4,
  hidden: 24,
  activation: 'swiglu',
  tiedHead: false,
  ropeTheta: 10000,
  contextLength: 300,
  normEpsilon: 1e-5,
};

const adam: AdamOptions = {
  learningRate: 0.02,
  beta1: 0.9,
  beta2: 0.98,
  epsilon: 1e-8,
  weightDecay: 0,
  clipNorm: 1,
};

/** Minus the weighted log-probabilities, shifted and scaled by a channel. */
const likelihood: Objective = {
  key: 'likelihood',
  channels: [],
  needs: {},
  build: ({ logprobs, weight }) => ({
    loss: negate(sum(multiply(logprobs, weight))),
    metrics: { weight: sum(weight) },
  }),
};

const open: EmbeddedEngine[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const engine of open.splice(0)) await engine.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function engineOf(options: Partial<EmbeddedEngineOptions> = {}): Promise<EmbeddedEngine> {
  const engine = await createEmbeddedEngine({
    shape: tiny,
    seed: 7,
    threads: 1,
    tokenBudget: 64,
    inProcess: true,
    ...options,
  });
  open.push(engine);
  return engine;
}

async function folderOf(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'turnwise-engine-'));
  folders.push(folder);
  return folder;
}

const request = (
  conversation: string,
  promptIds: number[],
  more: Partial<SampleRequest> = {},
): SampleRequest => ({
  conversation,
  promptIds,
  maxTokens: 4,
  stopIds: [],
  temperature: 1,
  topP: 1,
  topK: 0,
  seed: `${conversation}/${promptIds.length}`,
  ...more,
});

function randomRow(rng: Rng, length: number): TokenRow {
  return {
    ids_T: Int32Array.from({ length }, () => rng.int(tiny.vocabulary)),
    channels: { weight: new Float32Array(length).fill(1 / 50) },
  };
}

function randomBatch(lengths: readonly number[]): TokenBatch {
  const rng = Rng.of('batch');
  return { rows: lengths.map((length) => randomRow(rng, length)) };
}

/** Moves the weights away from their first values, which are too small for attention to matter. */
async function stir(engine: EmbeddedEngine, steps = 5): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await engine.forwardBackward(randomBatch([12, 7, 9]), likelihood, { temperature: 1 });
    await engine.optimStep({ ...adam, learningRate: 0.1 });
  }
  await engine.publish();
}

/** Asserts that what was sampled after `prompt` has the log-probabilities that scoring finds. */
async function expectScored(
  engine: EmbeddedEngine,
  prompt: readonly number[],
  { ids, logprobs }: { readonly ids: readonly number[]; readonly logprobs: readonly number[] },
  temperature = 1,
): Promise<void> {
  const ids_T = Int32Array.from([...prompt, ...ids]);
  const scores = await engine.score({ rows: [{ ids_T, channels: {} }] }, { temperature });
  const difference = Math.max(
    ...logprobs.map((logprob, index) => Math.abs(logprob - scores.logprobs[0]![prompt.length + index]!)),
  );
  expect(difference).toBeLessThan(1e-4);
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
      const results = await engine.sample(
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
      const results = await engine.sample(
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
    const [first] = await engine.sample([request('a', prompt, { maxTokens: 1 })]);
    expect((await engine.statistics()).forwardTokens).toBe(40);
    await engine.sample([request('a', [...prompt, ...first!.ids, 3, 4], { maxTokens: 1 })]);
    expect((await engine.statistics()).forwardTokens).toBe(43);
    await engine.release(['a']);
    await engine.sample([request('a', [1, 2], { maxTokens: 1 })]);
    expect((await engine.statistics()).forwardTokens).toBe(45);
  });

  it('and memory does not grow with the number of conversations', async () => {
    const engine = await engineOf({ slots: 4 });
    const sizes = [];
    for (let round = 0; round < 30; round++) {
      await engine.sample([0, 1, 2].map((k) => request(`${round}/${k}`, [k, 2, 3])));
      if (round % 2 === 0) await engine.release([`${round}/0`, `${round}/1`, 'unknown']);
      sizes.push((await engine.statistics()).cacheBytes);
    }
    expect(sizes[29]).toBe(sizes[5]);
    expect((await engine.statistics()).conversations).toBeLessThanOrEqual(4);
  });
});

describe('sampling', () => {
  it('stops at stop ids, at the token limit and at the end of the context', async () => {
    const engine = await engineOf({ shape: { ...tiny, contextLength: 12 } });
    const [long, stopped, full] = await engine.sample([
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
      results.push(await engine.sample(requests));
    }
    expect(results[1]).toEqual(results[0]);
    expect(results[2]!.map(({ ids }) => ids)).not.toEqual(results[0]!.map(({ ids }) => ids));
  });

  it('does not depend on what was sampled and released before', async () => {
    const engine = await engineOf();
    const ask = () =>
      engine.sample([request('x', [1, 2], { maxTokens: 30 }), request('y', [3], { maxTokens: 9 })]);
    const first = await ask();
    await engine.release(['x', 'y']);
    await engine.sample([request('long', Array(200).fill(5), { maxTokens: 9 })]);
    await engine.release(['long']);
    expect(await ask()).toEqual(first);
  });

  it('serves separate calls at once, and several requests of one conversation in turn', async () => {
    const engine = await engineOf({ slots: 2 });
    const calls = Array.from({ length: 9 }, (_, k) =>
      engine.sample([request(`${k % 4}`, [k % 4, k % 11], { seed: `${k}`, maxTokens: 1 + (k % 5) })]),
    );
    const results = (await Promise.all(calls)).map(([result]) => result!);
    expect(results.map(({ ids }) => ids.length)).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4]);
    for (const [k, result] of results.entries()) await expectScored(engine, [k % 4, k % 11], result);
  });

  it('uses the published weights: requests before publish the old, requests after it the new', async () => {
    const engine = await engineOf();
    const before = await engine.sample([request('a', [1, 2, 3], { seed: 'p' })]);
    await engine.forwardBackward(randomBatch([9]), likelihood, { temperature: 1 });
    await engine.optimStep({ ...adam, learningRate: 0.5 });
    expect(await engine.sample([request('b', [1, 2, 3], { seed: 'p' })])).toEqual(before);
    const [old, version, fresh] = await Promise.all([
      engine.sample([request('c', [1, 2, 3], { seed: 'p' })]),
      engine.publish(),
      engine.sample([request('a', [1, 2, 3], { seed: 'p' })]),
    ]);
    expect(version).toBe(1);
    expect(engine.version).toBe(1);
    expect(old).toEqual(before);
    expect(fresh).not.toEqual(before);
    await expectScored(engine, [1, 2, 3], fresh[0]!);
  });

  it('refuses requests it cannot serve', async () => {
    const engine = await engineOf();
    const refuse = (more: Partial<SampleRequest>) =>
      engine.sample([request('a', [1], more)]).then(
        () => 'accepted',
        (error: Error) => error.message,
      );
    expect(await refuse({ promptIds: [] })).toMatchInlineSnapshot(
      `"The sampling request of conversation a has a prompt of unusable length. Seen: 0 tokens. Allowed: 1 to 299 tokens."`,
    );
    expect(await refuse({ promptIds: [11] })).toMatchInlineSnapshot(
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
      `"The sampling request of conversation a asks for no tokens. Seen: 0. Allowed: maxTokens of at least 1."`,
    );
  });
});

describe('training', () => {
  it('lowers the loss', async () => {
    const engine = await engineOf();
    const batch = randomBatch([8, 5, 8]);
    const losses = [];
    for (let step = 0; step < 40; step++) {
      losses.push((await engine.forwardBackward(batch, likelihood, { temperature: 1 })).loss);
      expect((await engine.optimStep(adam)).applied).toBe(true);
    }
    expect(losses.at(-1)!).toBeLessThan(losses[0]! / 4);
  });

  it('gives the same gradient for any division into micro-batches', async () => {
    const batch = randomBatch([9, 3, 14, 1, 6, 2]);
    const norms = [];
    for (const tokenBudget of [1, 30, 1000]) {
      const engine = await engineOf({ tokenBudget });
      const { loss, tokens, paddedTokens } = await engine.forwardBackward(batch, likelihood, {
        temperature: 0.5,
      });
      norms.push([loss, (await engine.optimStep(adam)).gradientNorm]);
      expect(tokens).toBe(29);
      expect(paddedTokens).toBe(tokenBudget === 1 ? 29 : tokenBudget === 30 ? 26 + 15 : 65);
    }
    expect(norms[1]![0]).toBeCloseTo(norms[0]![0]!, 5);
    expect(norms[2]![1]).toBeCloseTo(norms[0]![1]!, 5);
    expect(norms[1]![1]).toBeCloseTo(norms[0]![1]!, 5);
  });

  it('agrees with scoring on the loss, at the sampling temperature, and ignores rows of weight zero', async () => {
    const engine = await engineOf();
    await stir(engine, 2);
    const { rows } = randomBatch([9, 5]);
    const silent = { ids_T: rows[1]!.ids_T, channels: { weight: new Float32Array(5) } };
    const { loss } = await engine.forwardBackward({ rows: [rows[0]!, silent] }, likelihood, {
      temperature: 0.6,
    });
    const { logprobs } = await engine.score({ rows: [rows[0]!] }, { temperature: 0.6 });
    expect(loss).toBeCloseTo(-logprobs[0]!.reduce((total, value) => total + value, 0) / 50, 5);
    const both = (await engine.optimStep(adam)).gradientNorm;
    const again = await engineOf();
    await stir(again, 2);
    await again.forwardBackward({ rows: [rows[0]!] }, likelihood, { temperature: 0.6 });
    expect((await again.optimStep(adam)).gradientNorm).toBeCloseTo(both, 5);
  });

  it('feeds channels aligned with the tokens they belong to', async () => {
    const engine = await engineOf();
    const objective: Objective = {
      key: 'aligned',
      channels: ['advantages'],
      needs: {},
      build: ({ logprobs, weight, channel }) => ({
        loss: sum(multiply(multiply(logprobs, weight), channel('advantages'))),
        metrics: {},
      }),
    };
    const row = {
      ids_T: Int32Array.of(1, 2, 3, 4),
      channels: { weight: Float32Array.of(1, 1, 0, 1), advantages: Float32Array.of(100, 2, 30, 5) },
    };
    const { loss } = await engine.forwardBackward({ rows: [row] }, objective, { temperature: 1 });
    const { logprobs } = await engine.score({ rows: [row] }, { temperature: 1 });
    expect(loss).toBeCloseTo(2 * logprobs[0]![1]! + 5 * logprobs[0]![3]!, 4);
  });

  it('gives objectives entropies and values, and trains a value head', async () => {
    const engine = await engineOf({ shape: { ...tiny, valueHead: true } });
    const objective: Objective = {
      key: 'values',
      channels: ['returns'],
      needs: { values: true, entropies: true },
      build: ({ weight, channel, values, entropies }) => {
        const error = add(values(), negate(channel('returns')));
        return {
          loss: sum(multiply(weight, multiply(error, error))),
          metrics: { entropy: sum(multiply(weight, entropies())) },
        };
      },
    };
    const ids_T = Int32Array.of(1, 2, 3, 4);
    const batch = {
      rows: [
        { ids_T, channels: { weight: Float32Array.of(0, 1, 0, 1), returns: Float32Array.of(9, 2, 9, -1) } },
      ],
    };
    let metrics: Readonly<Record<string, number>> = {};
    for (let step = 0; step < 80; step++) {
      ({ metrics } = await engine.forwardBackward(batch, objective, { temperature: 1 }));
      await engine.optimStep(adam);
    }
    const scores = await engine.score(batch, { temperature: 1, values: true, entropies: true });
    expect(scores.values![0]![1]).toBeCloseTo(2, 1);
    expect(scores.values![0]![3]).toBeCloseTo(-1, 1);
    expect(scores.entropies![0]![1]! + scores.entropies![0]![3]!).toBeCloseTo(metrics.entropy!, 1);
    // The value of the prefix before a token cannot depend on that token.
    const other = await engine.score(
      { rows: [{ ids_T: Int32Array.of(1, 2, 3, 9), channels: {} }] },
      { temperature: 1, values: true },
    );
    expect(other.values![0]![3]).toBeCloseTo(scores.values![0]![3]!, 5);
  });

  it('scores entropies that match the distribution', async () => {
    const engine = await engineOf();
    await stir(engine);
    const rows = Array.from({ length: 11 }, (_, id) => ({ ids_T: Int32Array.of(4, id), channels: {} }));
    const { logprobs, entropies } = await engine.score({ rows }, { temperature: 2, entropies: true });
    const row = logprobs.map((values) => values[1]!);
    expect(row.reduce((total, logprob) => total + Math.exp(logprob), 0)).toBeCloseTo(1, 5);
    expect(entropies![3]![1]).toBeCloseTo(
      -row.reduce((total, logprob) => total + Math.exp(logprob) * logprob, 0),
      5,
    );
    expect(entropies![3]![0]).toBe(0);
  });

  it('keeps a frozen copy to score with', async () => {
    const engine = await engineOf();
    const batch = randomBatch([6]);
    await expect(
      engine.score(batch, { temperature: 1, frozen: true }),
    ).rejects.toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: There is no reference policy to score with. Call freeze() once before scoring with \`frozen\`.]`,
    );
    const before = await engine.score(batch, { temperature: 1 });
    await engine.freeze();
    await stir(engine);
    expect(await engine.score(batch, { temperature: 1, frozen: true })).toEqual(before);
    expect(await engine.score(batch, { temperature: 1 })).not.toEqual(before);
  });

  it('stops at a loss that is not finite, and leaves the gradient alone', async () => {
    const engine = await engineOf();
    const objective: Objective = {
      key: 'log of weight',
      channels: [],
      needs: {},
      build: ({ logprobs, weight }) => ({ loss: sum(multiply(logprobs, log(weight))), metrics: {} }),
    };
    const { rows } = randomBatch([5, 4]);
    const bad = { ids_T: rows[1]!.ids_T, channels: { weight: new Float32Array(4).fill(-1) } };
    await expect(
      engine.forwardBackward({ rows: [rows[0]!, bad] }, objective, { temperature: 1 }),
    ).rejects.toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: The loss of objective ["log of weight",1] is not finite. Seen: NaN in the micro-batch of rows 0, 1 of the batch. Check the advantages and log-probabilities of these rows; lower the learning rate or the clipping norm.]`,
    );
    expect((await engine.optimStep(adam)).gradientNorm).toBe(0);
  });

  it('does not apply a gradient that is not finite', async () => {
    const engine = await engineOf();
    const batch = randomBatch([6]);
    const before = await engine.score(batch, { temperature: 1 });
    // The square root is finite at 0, its derivative is not.
    const objective: Objective = {
      key: 'steep',
      channels: [],
      needs: {},
      build: ({ logprobs }) => ({ loss: sum(sqrt(multiply(logprobs, 0))), metrics: {} }),
    };
    expect((await engine.forwardBackward(batch, objective, { temperature: 1 })).loss).toBeCloseTo(0);
    expect(await engine.optimStep(adam)).toMatchObject({ applied: false });
    expect(await engine.score(batch, { temperature: 1 })).toEqual(before);
    await engine.forwardBackward(batch, likelihood, { temperature: 1 });
    expect((await engine.optimStep(adam)).applied).toBe(true);
  });

  it('refuses malformed batches', async () => {
    const engine = await engineOf();
    const refuse = (ids: number[], weight: number[]) =>
      engine
        .forwardBackward(
          { rows: [{ ids_T: Int32Array.from(ids), channels: { weight: Float32Array.from(weight) } }] },
          likelihood,
          { temperature: 1 },
        )
        .then(
          () => 'accepted',
          (error: Error) => error.message,
        );
    expect(await refuse([], [])).toMatchInlineSnapshot(
      `"Row 0 of the batch has an unusable length. Seen: 0 tokens. Allowed: 1 to 300 tokens."`,
    );
    expect(await refuse([1, 12], [0, 1])).toMatchInlineSnapshot(
      `"Row 0 of the batch has a token id outside the vocabulary. Seen: 12. Allowed: 0 to 10."`,
    );
    expect(await refuse([1, 2], [0])).toMatchInlineSnapshot(
      `"Row 0 of the batch has no usable channel weight. Seen: 1 values. Allowed: 2 values."`,
    );
    expect(await refuse([1, 2], [0, Number.NaN])).toMatchInlineSnapshot(
      `"Row 0 of the batch has a value that is not finite in channel weight. Seen: NaN at token 1. Allowed: finite numbers."`,
    );
  });
});

describe('checkpoints', () => {
  it('continue bit for bit', async () => {
    const folder = await folderOf();
    const batch = randomBatch([9, 5]);
    const train = async (engine: EmbeddedEngine) => {
      await engine.forwardBackward(batch, likelihood, { temperature: 1 });
      return [await engine.optimStep({ ...adam, weightDecay: 0.1 }), await engine.publish()];
    };
    const first = await engineOf();
    await train(first);
    await first.freeze();
    await train(first);
    await first.save(folder);
    expect((await readdir(folder)).sort()).toEqual([
      'frozen.safetensors',
      'model.safetensors',
      'optimizer.safetensors',
    ]);
    const second = await engineOf({ seed: 'another' });
    await second.load(folder);
    expect(second.version).toBe(2);
    for (const engine of [first, second]) await train(engine);
    const ask = [request('a', [1, 2, 3], { maxTokens: 20 })];
    expect(await second.sample(ask)).toEqual(await first.sample(ask));
    for (const frozen of [false, true])
      expect(await second.score(batch, { temperature: 1, frozen })).toEqual(
        await first.score(batch, { temperature: 1, frozen }),
      );
    expect(await train(second)).toEqual(await train(first));
  });

  it('of another model, cut off or missing are refused and change nothing', async () => {
    const folder = await folderOf();
    const other = await engineOf({ shape: { ...tiny, width: 32 } });
    await other.save(folder);
    const engine = await engineOf();
    const batch = randomBatch([6]);
    const before = await engine.score(batch, { temperature: 1 });
    const load = () =>
      engine.load(folder).then(
        () => 'loaded',
        (error: Error & { code: string }) => `${error.code}: ${error.message.replaceAll(folder, '<folder>')}`,
      );
    expect(await load()).toMatchInlineSnapshot(
      `"checkpoint-mismatch: model.safetensors belongs to another model: tensor model.embed_tokens.weight has another shape. Seen: [11, 32]. Allowed: [11, 16]. Use the model settings that the checkpoint was trained with."`,
    );
    await engine.save(folder);
    const file = join(folder, 'optimizer.safetensors');
    const bytes = await readFile(file);
    await writeFile(file, bytes.subarray(0, bytes.length - 100));
    expect(await load()).toMatchInlineSnapshot(
      `"checkpoint-corrupt: optimizer.safetensors: Tensor second.lm_head.weight ends beyond the end of the file. Seen: offset 34176. Allowed: at most 34076. Load an earlier checkpoint."`,
    );
    await rm(file);
    expect(await load()).toMatchInlineSnapshot(
      `"checkpoint-missing: Cannot read the weight file optimizer.safetensors. Seen: ENOENT: no such file or directory, open '<folder>/optimizer.safetensors'. Check the checkpoint folder, or load an earlier checkpoint."`,
    );
    expect(await engine.score(batch, { temperature: 1 })).toEqual(before);
  });
});
