import { describe, expect, it } from 'vitest';
import { add, multiply, negate } from '../../../graph/operators/elementwise.ts';
import { sum } from '../../../graph/operators/reduce.ts';
import { log, sqrt } from '../../../graph/operators/unary.ts';
import type { Objective } from '../../../objective/contract/objective.ts';
import type { TokenBatch, TokenTargets } from '../../engine.ts';
import { batchOf } from '../../token-batch.ts';
import { adam, engineOf, likelihood, randomBatch, randomRows, stir, tiny } from '../testing/tiny-engine.ts';

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
      expect(paddedTokens).toBe(tokenBudget === 1 ? 32 : tokenBudget === 30 ? 28 + 18 : 56 + 2);
    }
    expect(norms[1]![0]).toBeCloseTo(norms[0]![0]!, 5);
    expect(norms[2]![1]).toBeCloseTo(norms[0]![1]!, 5);
    expect(norms[1]![1]).toBeCloseTo(norms[0]![1]!, 5);
  });

  it('agrees with scoring on the loss, at the sampling temperature, and ignores rows of weight zero', async () => {
    const engine = await engineOf();
    await stir(engine, 2);
    const rows = randomRows([9, 5]);
    const silent = { ids_T: rows[1]!.ids_T, channels: { weight: new Float32Array(5) } };
    const { loss } = await engine.forwardBackward(batchOf([rows[0]!, silent]), likelihood, {
      temperature: 0.6,
    });
    const { logprobs } = await engine.score({ rows: [rows[0]!] }, { temperature: 0.6 });
    expect(loss).toBeCloseTo(-logprobs[0]!.reduce((total, value) => total + value, 0) / 50, 5);
    const both = (await engine.optimStep(adam)).gradientNorm;
    const again = await engineOf();
    await stir(again, 2);
    await again.forwardBackward(batchOf([rows[0]!]), likelihood, { temperature: 0.6 });
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
    const { loss } = await engine.forwardBackward(batchOf([row]), objective, { temperature: 1 });
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
    const batch = batchOf([
      { ids_T, channels: { weight: Float32Array.of(0, 1, 0, 1), returns: Float32Array.of(9, 2, 9, -1) } },
    ]);
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
      { rows: [{ ids_T: Int32Array.of(1, 2, 3, 9) }] },
      { temperature: 1, values: true },
    );
    expect(other.values![0]![3]).toBeCloseTo(scores.values![0]![3]!, 5);
  });

  it('scores entropies that match the distribution', async () => {
    const engine = await engineOf();
    await stir(engine);
    const rows = Array.from({ length: 11 }, (_, id) => ({ ids_T: Int32Array.of(4, id) }));
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
    const rows = randomRows([5, 4]);
    const bad = { ids_T: rows[1]!.ids_T, channels: { weight: new Float32Array(4).fill(-1) } };
    await expect(
      engine.forwardBackward(batchOf([rows[0]!, bad]), objective, { temperature: 1 }),
    ).rejects.toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: The loss of objective ["log of weight",1,false,false,false] is not finite. Seen: NaN in the micro-batch of rows 0, 1 of the batch. Check the advantages and log-probabilities of these rows; lower the learning rate or the clipping norm.]`,
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
    const batchWith = (ids: number[], weight: number[]): TokenBatch =>
      batchOf([{ ids_T: Int32Array.from(ids), channels: { weight: Float32Array.from(weight) } }]);
    const learn = (batch: TokenBatch) =>
      engine.forwardBackward(batch, likelihood, { temperature: 1 }).then(
        () => 'accepted',
        (error: Error) => error.message,
      );
    const refuse = (ids: number[], weight: number[]) => learn(batchWith(ids, weight));
    expect(await refuse([], [])).toMatchInlineSnapshot(
      `"Row 0 of the batch has an unusable length. Seen: 0 tokens. Allowed: 1 to 300 tokens."`,
    );
    expect(await refuse([1, 12], [0, 1])).toMatchInlineSnapshot(
      `"Row 0 of the batch has a token id outside the vocabulary. Seen: 12. Allowed: 0 to 10."`,
    );
    expect(() => batchWith([1, 2], [0])).toThrow(
      'Row 0 of the batch has no usable weight. Seen: 1 values. Allowed: 2 values, one for each token.',
    );
    const { rows, targets } = batchWith([1, 2], [0, 1]);
    const other = (changed: Partial<TokenTargets>) => learn({ rows, targets: { ...targets, ...changed } });
    expect(await other({ channels: {} })).toBe(
      'The batch has no usable channel weight. Seen: nothing. Allowed: 1 values, one for each target, or several for each.',
    );
    expect(await other({ position_N: Int32Array.of(0) })).toBe(
      'Target 0 of the batch names no token that could be predicted. Seen: token 0 of row 0, id 1. Allowed: tokens 1 to 1.',
    );
    expect(await other({ row_N: Int32Array.of(3) })).toBe(
      'Target 0 of the batch names no token that could be predicted. Seen: token 1 of row 3. Allowed: rows 0 to 0.',
    );
    expect(await other({ allowed_N: [Int32Array.of(4, 5)] })).toBe(
      'Target 0 of the batch names no token that could be predicted. Seen: token 1 of row 0, id 2. Allowed: tokens 1 to 1 that are among the ids 4, 5.',
    );
    expect(await other({ turn_N: new Int32Array(2) })).toBe(
      'The targets of the batch have not each a row, a position and a turn. Seen: 1 rows, 1 positions and 2 turns. Allowed: arrays of one length.',
    );
    expect(await refuse([1, 2], [0, Number.NaN])).toMatchInlineSnapshot(
      `"Row 0 of the batch has a value that is not finite in channel weight. Seen: NaN at token 1. Allowed: finite numbers."`,
    );
  });
});
