/** The likeliest tokens of an engine, and a policy that learns them. */

import { expect, test } from 'vitest';
import { Rng } from '../../../core/rng.ts';
import { forwardKl } from '../../../objective/imitation/forward-kl.ts';
import { forwardBackwardStep } from '../../objective-step.ts';
import { batchOf, scoredRows, type TokenRow } from '../../token-batch.ts';
import { adam, engineOf, randomRows, stir, tiny } from '../testing/tiny-engine.ts';

const { vocabulary } = tiny;

test('likeliest first, with the log-probabilities that scoring each of them gives', async () => {
  const engine = await engineOf();
  await stir(engine);
  const ids_T = Int32Array.of(3, 1, 4, 1, 5);
  const { top, logprobs } = await engine.score(scoredRows([{ ids_T }, { ids_T: ids_T.slice(0, 3) }]), {
    temperature: 0.7,
    top: 4,
  });
  expect(top!.map(({ ids }) => ids.length)).toEqual([20, 12]);
  expect([...top![0]!.ids.subarray(0, 4)]).toEqual([0, 0, 0, 0]);
  for (let token = 1; token < ids_T.length; token++) {
    const all = await engine.score(
      scoredRows(
        Array.from({ length: vocabulary }, (_, id) => ({
          ids_T: Int32Array.of(...ids_T.subarray(0, token), id),
        })),
      ),
      { temperature: 0.7 },
    );
    const sorted = all.logprobs
      .map((row, id) => ({ id, logprob: row[token]! }))
      .sort((a, b) => b.logprob - a.logprob)
      .slice(0, 4);
    expect([...top![0]!.ids.subarray(4 * token, 4 * token + 4)]).toEqual(sorted.map(({ id }) => id));
    for (const [place, { logprob }] of sorted.entries())
      expect(top![0]!.logprobs[4 * token + place]!).toBeCloseTo(logprob, 5);
    expect(logprobs[0]![token]!).toBeCloseTo(all.logprobs[ids_T[token]!]![token]!, 5);
  }
});

test('where rows share a beginning, and where an adapter is trained, they are the same', async () => {
  const rows = [Int32Array.of(1, 2, 3, 4, 5, 6), Int32Array.of(1, 2, 3, 4, 9, 8), Int32Array.of(7, 7, 7)];
  const asked = scoredRows(rows.map((ids_T) => ({ ids_T })));
  const of = async (options: Parameters<typeof engineOf>[0]) =>
    (await (await engineOf(options)).score(asked, { temperature: 1, top: 3 })).top!;
  const plain = await of({ sharedPrefixes: 'never' });
  for (const other of [await of({ sharedPrefixes: 'always' }), await of({ lora: { rank: 2 } })])
    for (const [row, { ids, logprobs }] of other.entries()) {
      expect([...ids]).toEqual([...plain[row]!.ids]);
      for (const [place, logprob] of logprobs.entries())
        expect(logprob).toBeCloseTo(plain[row]!.logprobs[place]!, 4);
    }
});

test('all tokens are told where more are asked for than there are', async () => {
  const engine = await engineOf();
  const { top } = await engine.score(scoredRows([{ ids_T: Int32Array.of(1, 2) }]), {
    temperature: 1,
    top: 99,
  });
  expect(top![0]!.ids.length).toBe(2 * vocabulary);
  const mass = top![0]!.logprobs.subarray(vocabulary).reduce((sum, logprob) => sum + Math.exp(logprob), 0);
  expect(mass).toBeCloseTo(1, 5);
});

test.each([
  ['all weights', {}, 50],
  // Its base has random weights, of which an adapter moves little.
  ['an adapter', { lora: { rank: 8, targets: 'all' } }, 1.2],
] as const)('a policy with %s learns the distribution of a teacher', async (_, options, factor) => {
  const teacher = await engineOf();
  await stir(teacher);
  const student = await engineOf({ seed: 8, ...options });
  const rows = randomRows([12, 9, 14, 10]);
  const { top } = await teacher.score(scoredRows(rows), { temperature: 1, top: vocabulary });
  const tokens = rows.reduce((sum, { ids_T }) => sum + ids_T.length - 1, 0);
  const taught = rows.map(
    (row, index): TokenRow => ({
      ids_T: row.ids_T,
      channels: {
        weight: new Float32Array(row.ids_T.length).fill(1 / tokens),
        teacherIds: Float32Array.from(top![index]!.ids),
        teacherLogprobs: top![index]!.logprobs,
      },
    }),
  );
  const losses: number[] = [];
  for (let step = 0; step < 150; step++) {
    const { loss } = await forwardBackwardStep(student, batchOf(taught), forwardKl({ top: vocabulary }), {
      temperature: 1,
      step,
      rng: Rng.of('none'),
    });
    losses.push(loss);
    await student.optimStep({ ...adam, learningRate: 0.03 });
  }
  expect(losses[0]).toBeGreaterThan(0.1);
  expect(losses.at(-1)!).toBeLessThan(losses[0]! / factor);
  expect(losses.at(-1)!).toBeGreaterThan(-1e-5);
});

test('a channel of several numbers a token must have as many for each', () => {
  const rows: TokenRow[] = [
    {
      ids_T: Int32Array.of(1, 2, 3),
      channels: { weight: Float32Array.of(0, 1, 1), pair: new Float32Array(6) },
    },
  ];
  expect(batchOf(rows).targets.channels.pair).toHaveLength(4);
  const odd = [{ ...rows[0]!, channels: { ...rows[0]!.channels, pair: new Float32Array(5) } }];
  expect(() => batchOf(odd)).toThrow('Row 0 of the batch has no usable pair');
});
