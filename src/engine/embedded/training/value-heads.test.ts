/** Value heads: a scalar, and a distribution over bins whose mean is the value. */

import { expect, test } from 'vitest';
import { multiply, negate } from '../../../graph/operators/elementwise.ts';
import { gatherLogSoftmax } from '../../../graph/operators/gather.ts';
import { cast } from '../../../graph/operators/logic.ts';
import { sum } from '../../../graph/operators/reduce.ts';
import type { Objective } from '../../../objective/contract/objective.ts';
import { batchOf } from '../../token-batch.ts';
import { adam, engineOf, likelihood, randomRows, tiny } from '../testing/tiny-engine.ts';

const bins = { count: 4, low: -1, high: 1 };

/** Cross-entropy of the bin that the channel `bin` names. */
const binLoss: Objective = {
  key: 'bins',
  channels: ['bin'],
  needs: { values: true },
  build: ({ valueLogits, channel, weight }) => ({
    loss: negate(sum(multiply(weight, gatherLogSoftmax(valueLogits(), cast(channel('bin'), 'int64'))))),
    metrics: {},
  }),
};

const batch = batchOf(
  randomRows([8, 6]).map(({ ids_T, channels }) => ({
    ids_T,
    channels: { ...channels, bin: new Float32Array(ids_T.length).fill(3) },
  })),
);

test.each([{}, { lora: { rank: 2 } }])(
  'a head with bins starts in the middle and learns, %o',
  async (more) => {
    const engine = await engineOf({ ...more, shape: { ...tiny, valueHead: bins } });
    const values = async () => (await engine.score(batch, { temperature: 1, values: true })).values![0]!;
    expect(engine.capabilities.valueHead).toBe(true);
    // All bins alike: the value is the middle of the support.
    for (const value of (await values()).subarray(1)) expect(value).toBeCloseTo(0, 6);
    for (let step = 0; step < 60; step++) {
      await engine.forwardBackward(batch, binLoss, { temperature: 1 });
      await engine.optimStep({ ...adam, learningRate: 0.05 });
    }
    // Nearly all of the distribution is in the last bin, whose centre is 0.75.
    for (const value of (await values()).subarray(1)) expect(Math.abs(value - 0.75)).toBeLessThan(0.05);
  },
);

test('objectives that need another head say so', async () => {
  const scalar = await engineOf({ shape: { ...tiny, valueHead: true } });
  await expect(
    scalar.forwardBackward(batch, binLoss, { temperature: 1 }),
  ).rejects.toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The objective needs a distribution over values, and the model has no value head with bins. Create the engine with a value head of { count, low, high }, or use a loss on scalar values.]`,
  );
  await expect(scalar.forwardBackward(batch, likelihood, { temperature: 1 })).resolves.toBeDefined();
});
