/** The same update from servers that add up and servers that average. */

import { expect, test } from 'vitest';
import { Rng } from '../../core/rng.ts';
import { namedLoss } from '../../objective/named-losses.ts';
import type { Datum } from '../../wire/tinker/shapes.ts';
import type { TokenRow } from '../token-batch.ts';
import { averagedSurrogateDatum, logprobsOf, namedDatum, surrogateDatum } from './data.ts';

/** dLoss/dlog π of `importance_sampling` as each kind of server defines its loss, per datum and position. */
function gradients(
  data: readonly Datum[],
  logprobs: readonly Float32Array[],
  scale: 'sum' | 'mean',
): number[][] {
  return data.map(({ inputs }, index) => {
    const weights = Float32Array.from(inputs.weights ?? inputs.advantages!.map(() => 1));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const divisor = scale === 'sum' ? 1 : Math.max(total, 1e-9) * data.length;
    return Array.from(
      inputs.advantages!,
      (advantage, t) =>
        (-Math.exp(logprobs[index]![t + 1]! - inputs.logprobs![t]!) * advantage * weights[t]!) / divisor,
    );
  });
}

test('both surrogates have the gradient that was asked for, whatever lengths and masks', () => {
  const rng = Rng.of('scales');
  const lengths = [4, 9, 2, 7];
  const rows: TokenRow[] = lengths.map((length) => ({
    ids_T: Int32Array.from({ length }, () => rng.int(10)),
    channels: {},
  }));
  const vector = (length: number, value: () => number): Float32Array =>
    Float32Array.from({ length }, (_, t) => (t === 0 ? 0 : value()));
  const logprobs = lengths.map((length) => vector(length, () => -rng.next() * 5));
  const wanted = lengths.map((length) => vector(length, () => (rng.chance(0.4) ? 0 : rng.normal())));
  wanted[2]![1] = 0.5;
  const summed = rows.map((row, index) => surrogateDatum(row, logprobs[index]!, wanted[index]!));
  const averaged = rows.map((row, index) =>
    averagedSurrogateDatum(row, logprobs[index]!, wanted[index]!, rows.length),
  );
  const fromSum = gradients(summed, logprobs, 'sum');
  const fromMean = gradients(averaged, logprobs, 'mean');
  for (const [row, expected] of wanted.entries())
    for (const [t, value] of expected.subarray(1).entries()) {
      expect(fromSum[row]![t]).toBeCloseTo(value, 6);
      expect(fromMean[row]![t]).toBeCloseTo(value, 6);
    }
  // Prompt tokens carry weight 0, since this kind of server counts every token that has one.
  expect([...averaged[0]!.inputs.weights!]).toEqual(
    [...wanted[0]!.subarray(1)].map((value) => (value === 0 ? 0 : 1)),
  );
});

test('weights go into what a named loss is linear in; targets are the next tokens', () => {
  const row: TokenRow = {
    ids_T: Int32Array.of(7, 8, 9),
    channels: {
      weight: Float32Array.of(9, 0.5, 0),
      advantages: Float32Array.of(9, 4, 5),
      oldLogprobs: Float32Array.of(9, -1, -2),
    },
  };
  expect(namedDatum(namedLoss('cross_entropy'), row)).toEqual({
    tokens: Int32Array.of(7, 8),
    inputs: { target_tokens: Int32Array.of(8, 9), weights: Float32Array.of(0.5, 0) },
  });
  expect(namedDatum(namedLoss('ppo'), row).inputs).toEqual({
    target_tokens: Int32Array.of(8, 9),
    logprobs: Float32Array.of(-1, -2),
    advantages: Float32Array.of(2, 0),
  });
});

test('servers that lie about lengths, or give no number', () => {
  const rows: TokenRow[] = [{ ids_T: Int32Array.of(1, 2, 3), channels: {} }];
  const answer = (...logprobs: number[]) => ({
    outputs: [{ logprobs: Float32Array.from(logprobs) }],
    metrics: {},
  });
  expect(logprobsOf(rows, answer(-1, -2))).toEqual([Float32Array.of(0, -1, -2)]);
  expect(() => logprobsOf(rows, answer(-1))).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: A message of the Tinker API cannot be read: datum 0 has another number of log-probabilities than tokens. Seen: 1 for 2. Check that both sides speak the same version of the API.]`,
  );
  expect(() => logprobsOf(rows, answer(-1, Number.NaN))).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: A message of the Tinker API cannot be read: a log-probability of datum 0 is not finite. Seen: NaN at position 1. Check that both sides speak the same version of the API.]`,
  );
  expect(() => logprobsOf(rows, { outputs: [], metrics: {} })).toThrow(/none for 2/);
});
