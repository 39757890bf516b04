import { expect, test } from 'vitest';
import { Graph } from '../graph.ts';
import { checkOperator } from '../testing/check-operator.ts';
import { at, range, tabulate, total } from '../testing/values.ts';
import { causalAttention } from './attention.ts';

test.each([
  [1, 1, 1, 4, 2],
  [2, 2, 2, 2, 3],
  [2, 4, 2, 2, 1],
  [1, 3, 1, 4, 2],
  [1, 2, 1, 6, 1],
])('causal attention: %s rows, %s heads over %s, %s tokens of width %s', async (B, H, KV, T, width) => {
  const mask = (from: number, to: number): number => (to > from ? -1e9 : 0);
  await checkOperator({
    inputs: [{ shape: [B, H, T, width] }, { shape: [B, KV, T, width] }, { shape: [B, KV, T, width] }],
    build: ([q, k, v]) => {
      const U = T / 2;
      const bias = Float32Array.from({ length: U * T }, (_, i) => mask(U + Math.floor(i / T), i % T));
      return causalAttention(q!, k!, v!, q!.graph.constant(bias, [U, T]));
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
  const query = graph.input('query', ['B', 3, '2*U', 4]);
  const key = graph.input('key', ['B', 2, '2*U', 4]);
  expect(() =>
    causalAttention(query, key, key, graph.input('mask', ['U', '2*U'])),
  ).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The shapes given to 'causalAttention' do not fit. Seen: [B, 3, 2*U, 4] and [B, 2, 2*U, 4] and [B, 2, 2*U, 4]. Allowed: [B, H, 2U, width] and twice [B, KV, 2U, width], H a multiple of KV.]`,
  );
});

test('an odd number of tokens', () => {
  const graph = new Graph();
  const x = graph.input('x', ['B', 2, 5, 4]);
  expect(() => causalAttention(x, x, x, graph.input('mask', [2, 5]))).toThrowError('[B, H, 2U, width]');
});
