import { expect, test } from 'vitest';
import { Graph } from '../graph.ts';
import { checkOperator } from '../testing/check-operator.ts';
import { at, range, tabulate, total } from '../testing/values.ts';
import { attention } from './attention.ts';

test.each([
  [1, 1, 1, 3, 2],
  [2, 2, 2, 2, 3],
  [2, 4, 2, 2, 1],
  [1, 3, 1, 2, 2],
])('attention: %s rows, %s heads over %s, %s tokens of width %s', async (B, H, KV, T, width) => {
  const mask = (from: number, to: number): number => (to > from ? -1e9 : 0.25 * to);
  await checkOperator({
    inputs: [{ shape: [B, H, T, width] }, { shape: [B, KV, T, width] }, { shape: [B, KV, T, width] }],
    build: ([q, k, v]) => {
      const bias = Float32Array.from({ length: T * T }, (_, i) => mask(Math.floor(i / T), i % T));
      return attention(q!, k!, v!, q!.graph.constant(bias, [T, T]));
    },
    reference: ([q, k, v]) =>
      tabulate([B, H, T, width], (b, h, t, d) => {
        const group = Math.floor(h / (H / KV));
        const scores = range(T).map((s) => {
          const product = total(range(width).map((w) => at(q!, b, h, t, w) * at(k!, b, group, s, w)));
          return Math.exp(product / Math.sqrt(width) + mask(t, s));
        });
        return total(range(T).map((s) => (scores[s]! / total(scores)) * at(v!, b, group, s, d)));
      }),
  });
});

test('heads that cannot be shared evenly', () => {
  const graph = new Graph();
  const query = graph.input('query', ['B', 3, 'T', 4]);
  const key = graph.input('key', ['B', 2, 'T', 4]);
  expect(() =>
    attention(query, key, key, graph.input('mask', ['T', 'T'])),
  ).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'attention' do not fit. Seen: [B, 3, T, 4] and [B, 2, T, 4] and [B, 2, T, 4]. Allowed: [B, H, T, width] and twice [B, KV, T, width], H a multiple of KV.]`,
  );
});
