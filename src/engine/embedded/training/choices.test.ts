/** Targets that were chosen among some ids: renormalised over them, in scores of the loss and in gradients. */

import { describe, expect, it } from 'vitest';
import { multiply, negate } from '../../../graph/operators/elementwise.ts';
import { sum } from '../../../graph/operators/reduce.ts';
import type { Objective } from '../../../objective/contract/objective.ts';
import { findObjective } from '../../../objective/objectives.ts';
import { batchOf } from '../../token-batch.ts';
import type { EmbeddedEngine } from '../embedded-engine.ts';
import { adam, engineOf, stir } from '../testing/tiny-engine.ts';

const allowed = Int32Array.of(2, 5, 7);
const ids_T = Int32Array.of(1, 4, 5, 2, 9);
const weight = Float32Array.of(0, 0, 1, 0.5, 0.25);
/** The third and fourth tokens were chosen among three ids, the last among all. */
const batch = batchOf([{ ids_T, channels: { weight }, allowed_T: [null, null, allowed, allowed, null] }]);

/** Log-probabilities of other last tokens behind the same prefix. */
async function logprobsAt(
  engine: EmbeddedEngine,
  position: number,
  ids: readonly number[],
): Promise<number[]> {
  const rows = ids.map((id) => ({ ids_T: Int32Array.of(...ids_T.subarray(0, position), id) }));
  return (await engine.score({ rows }, { temperature: 0.8 })).logprobs.map((row) => row[position]!);
}

/** Its loss is Σ weight · H. */
const entropy: Objective = {
  key: 'entropy',
  channels: [],
  needs: { entropies: true },
  build: ({ weight: share, entropies }) => ({ loss: sum(multiply(share, entropies())), metrics: {} }),
};

describe.each([{}, { lora: { rank: 2 } }, { sharedPrefixes: 'always' as const }])('with %o', (options) => {
  it('log-probabilities and entropies are those of the restricted distribution', async () => {
    const engine = await engineOf(options);
    await stir(engine, 3);
    const restricted = async (position: number): Promise<number[]> => {
      const all = await logprobsAt(engine, position, [...allowed]);
      const total = Math.log(all.reduce((mass, logprob) => mass + Math.exp(logprob), 0));
      return all.map((logprob) => logprob - total);
    };
    const [third, fourth] = [await restricted(2), await restricted(3)];
    const [last] = await logprobsAt(engine, 4, [9]);
    const { loss } = await engine.forwardBackward(batch, findObjective('cross-entropy').create(), {
      temperature: 0.8,
    });
    expect(loss).toBeCloseTo(-(third[1]! + 0.5 * fourth[0]! + 0.25 * last!), 5);
    const entropyOf = (logprobs: readonly number[]): number =>
      -logprobs.reduce((total, logprob) => total + Math.exp(logprob) * logprob, 0);
    const whole = await engine.score({ rows: [{ ids_T }] }, { temperature: 0.8, entropies: true });
    const mixed = await engine.forwardBackward(batch, entropy, { temperature: 0.8 });
    expect(mixed.loss).toBeCloseTo(
      entropyOf(third) + 0.5 * entropyOf(fourth) + 0.25 * whole.entropies![0]![4]!,
      5,
    );
  });

  it('the gradient is the derivative of that loss, by finite differences along it', async () => {
    const objective: Objective = {
      key: 'likelihood of choices',
      channels: [],
      needs: {},
      build: ({ weight: share, logprobs }) => ({ loss: negate(sum(multiply(share, logprobs))), metrics: {} }),
    };
    const lossOf = async (engine: EmbeddedEngine): Promise<number> =>
      (await engine.forwardBackward(batch, objective, { temperature: 0.8 })).loss;
    // With epsilon far above every gradient, Adam moves by rate / epsilon times the gradient.
    const moved = async (rate: number) => {
      const engine = await engineOf(options);
      await stir(engine, 3);
      await lossOf(engine);
      const plain = { ...adam, beta1: 0, beta2: 0, epsilon: 1e4, clipNorm: 0, learningRate: rate };
      const { gradientNorm } = await engine.optimStep(plain);
      return { gradientNorm, loss: await lossOf(engine) };
    };
    const [forth, back] = [await moved(1), await moved(-1)];
    expect(forth.gradientNorm).toBeGreaterThan(0.1);
    expect((back.loss - forth.loss) / (2e-4 * forth.gradientNorm ** 2)).toBeCloseTo(1, 1);
  });
});

it('a forced token has log-probability 0 and gives no gradient', async () => {
  const engine = await engineOf();
  await stir(engine, 2);
  const only = Int32Array.of(5);
  const forced = batchOf([
    {
      ids_T,
      channels: { weight: Float32Array.of(0, 0, 1, 0, 0) },
      allowed_T: [null, null, only, null, null],
    },
  ]);
  const { loss } = await engine.forwardBackward(forced, findObjective('cross-entropy').create(), {
    temperature: 0.8,
  });
  expect(loss).toBeCloseTo(0, 12);
  expect((await engine.optimStep({ ...adam, learningRate: 0 })).gradientNorm).toBe(0);
});

it('several numbers a target are a matrix for the objective', async () => {
  const engine = await engineOf();
  const { rows, targets } = batchOf([
    { ids_T: Int32Array.of(1, 2, 3), channels: { weight: Float32Array.of(0, 1, 1) } },
  ]);
  const channels = { ...targets.channels, pairs: Float32Array.of(1, 2, 3, 4) };
  const objective: Objective = {
    key: 'pairs',
    channels: ['pairs'],
    needs: {},
    build: ({ channel, logprobs }) => ({
      loss: sum(multiply(logprobs, sum(channel('pairs', 2), [-1]))),
      metrics: {},
    }),
  };
  const { loss } = await engine.forwardBackward({ rows, targets: { ...targets, channels } }, objective, {
    temperature: 1,
  });
  const { logprobs } = await engine.score({ rows }, { temperature: 1 });
  expect(loss).toBeCloseTo(3 * logprobs[0]![1]! + 7 * logprobs[0]![2]!, 4);
});
