import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Rng } from '../../../core/rng.ts';
import { multiply } from '../../../graph/operators/elementwise.ts';
import { sum } from '../../../graph/operators/reduce.ts';
import { sqrt } from '../../../graph/operators/unary.ts';
import { copyWeights, type Weight } from '../../../model/checkpoint/safetensors.ts';
import { initialWeights, parameterShapes } from '../../../model/decoder/decoder.ts';
import type { Objective } from '../../../objective/contract/objective.ts';
import { adam, likelihood, randomBatch, tiny } from '../testing/tiny-engine.ts';
import { BaseModel } from '../weights/base-model.ts';
import { loadCheckpoint, saveCheckpoint } from '../weights/checkpoint.ts';
import { shareParameters } from '../weights/shared-parameters.ts';
import { type PackedBatch, packBatch } from './packed-batch.ts';
import { Trainer } from './trainer.ts';
import { buildTrainingProgram } from './training-graph.ts';
import { LocalTrainingLane } from './training-lane.ts';

const layout = { trees: false, gathered: false, restricted: false };
const program = buildTrainingProgram(tiny, likelihood, 1, layout);
const { key } = program;

function firstWeights(): Map<string, Weight> {
  const values = initialWeights(tiny, Rng.of(7, 'weights'));
  return new Map(parameterShapes(tiny).map(({ name, shape }) => [name, { shape, data: values.get(name)! }]));
}

/** Lanes over shared memory, all in this thread. */
async function trainerOf(lanes: number, tokenBudget = 64): Promise<Trainer> {
  const weights = firstWeights();
  const options = () => ({ base: new BaseModel(new Map(), 'none', 1) });
  const parameters = shareParameters(weights, lanes);
  const trainer =
    lanes === 1
      ? new Trainer([new LocalTrainingLane(tiny, weights, options())], weights, tokenBudget)
      : new Trainer(
          Array.from(
            { length: lanes },
            (_, lane) =>
              new LocalTrainingLane(tiny, copyWeights(weights), {
                ...options(),
                shared: { parameters, lane },
              }),
          ),
          parameters.weights,
          tokenBudget,
        );
  await trainer.addProgram(program);
  return trainer;
}

const packed = (lengths: readonly number[]): PackedBatch => packBatch(randomBatch(lengths), ['weight'], tiny);

async function trained(trainer: Trainer, lengths: readonly number[], steps: number): Promise<Trainer> {
  for (let step = 0; step < steps; step++) {
    await trainer.forwardBackward(packed(lengths), key);
    await trainer.optimStep(adam);
  }
  return trainer;
}

function expectClose(one: ReadonlyMap<string, Weight>, other: ReadonlyMap<string, Weight>): void {
  for (const [name, { data }] of one)
    for (const [index, value] of data.entries())
      expect(Math.abs(value - other.get(name)!.data[index]!), name).toBeLessThan(2e-4);
}

describe('Trainer', () => {
  it('takes the same step with any number of lanes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 9 }),
        fc.integer({ min: 2, max: 4 }),
        fc.constantFrom(16, 40, 400),
        async (lengths, lanes, tokenBudget) => {
          const [one, several] = [await trainerOf(1), await trainerOf(lanes, tokenBudget)];
          for (let pass = 0; pass < 2; pass++) {
            const [a, b] = [
              await one.forwardBackward(packed(lengths), key),
              await several.forwardBackward(packed(lengths), key),
            ];
            expect(b.loss).toBeCloseTo(a.loss, 4);
            expect(b.metrics.weight).toBeCloseTo(a.metrics.weight!, 4);
            expect(b.tokens).toBe(a.tokens);
          }
          const [a, b] = [await one.optimStep(adam), await several.optimStep(adam)];
          expect(b.applied).toBe(true);
          expect(b.gradientNorm).toBeCloseTo(a.gradientNorm, 4);
          const [plain, spread] = [
            await one.score(packed(lengths), { temperature: 1, entropies: true }, layout),
            await several.score(packed(lengths), { temperature: 1, entropies: true }, layout),
          ];
          for (const name of ['logprobs', 'entropies'])
            for (const [index, value] of plain[name]!.entries())
              expect(spread[name]![index]).toBeCloseTo(value, 2);
        },
      ),
      { numRuns: 12 },
    );
  });

  it('moves the weights of two lanes as it moves those of one', async () => {
    const lengths = [12, 7, 9, 9, 4];
    const [one, two] = [
      await trained(await trainerOf(1), lengths, 5),
      await trained(await trainerOf(2), lengths, 5),
    ];
    expectClose(two.weights, one.weights);
  });

  it('goes on from its state bit by bit, however it is kept', async () => {
    const lengths = [12, 7, 9];
    const two = await trained(await trainerOf(2), lengths, 3);
    await two.freeze(1);
    await trained(two, lengths, 1);
    const folder = await mkdtemp(join(tmpdir(), 'turnwise-lanes-'));
    await saveCheckpoint(folder, { weights: two.weights, ...(await two.state()), version: 3 });
    const loaded = await loadCheckpoint(folder, firstWeights());
    const again = await trainerOf(2);
    await again.restore(loaded.weights, loaded.adam, loaded.frozen);
    const frozen = { temperature: 1, frozen: true };
    for (const trainer of [two, again]) {
      await trainer.freeze(0.5);
      await trained(trainer, lengths, 2);
    }
    expect(again.weights).toEqual(two.weights);
    expect(await again.score(packed(lengths), frozen, layout)).toEqual(
      await two.score(packed(lengths), frozen, layout),
    );
    // Under another number of lanes too, up to rounding.
    const single = await trainerOf(1);
    await single.restore(loaded.weights, loaded.adam, loaded.frozen);
    expectClose((await trained(single, lengths, 2)).weights, two.weights);
  });

  it('forgets the whole pass when one lane fails', async () => {
    const trainer = await trainerOf(2);
    const lengths = [9, 9];
    const bad = packed(lengths);
    bad.channels.weight![12] = Number.NaN;
    await trainer.forwardBackward(packed(lengths), key);
    await expect(trainer.forwardBackward(bad, key)).rejects.toThrow(
      /loss of objective .* is not finite.*rows 1/s,
    );
    const untouched = await trained(await trainerOf(2), lengths, 1);
    await trainer.optimStep(adam);
    expect(trainer.weights).toEqual(untouched.weights);
  });

  it('takes no step along a gradient that is not finite', async () => {
    const trainer = await trainerOf(2);
    const steep: Objective = {
      key: 'steep',
      channels: [],
      needs: {},
      build: ({ logprobs, weight }) => ({
        loss: sqrt(multiply(sum(multiply(logprobs, weight)), 0)),
        metrics: {},
      }),
    };
    const other = buildTrainingProgram(tiny, steep, 1, layout);
    await trainer.addProgram(other);
    await trainer.forwardBackward(packed([9, 9]), other.key);
    expect(await trainer.optimStep(adam)).toEqual({ gradientNorm: Number.NaN, applied: false });
    expect(trainer.weights).toEqual((await trainerOf(2)).weights);
    // And the bad gradient is gone.
    await trained(trainer, [9, 9], 1);
    expect(trainer.weights).toEqual((await trained(await trainerOf(2), [9, 9], 1)).weights);
  });
});
