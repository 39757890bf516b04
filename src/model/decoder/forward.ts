/** The training pass of a decoder over whole sequences, or over trees of sequences that begin alike. */

import { product } from '../../graph/dimension.ts';
import type { Graph } from '../../graph/graph.ts';
import { causalAttention } from '../../graph/operators/attention.ts';
import { add } from '../../graph/operators/elementwise.ts';
import { gatherRows } from '../../graph/operators/gather.ts';
import { matmul } from '../../graph/operators/matrix.ts';
import { softmax } from '../../graph/operators/reduce.ts';
import { reshape, transpose } from '../../graph/operators/shape.ts';
import { treeAttention } from '../../graph/operators/tree-attention.ts';
import type { Tensor } from '../../graph/tensor.ts';
import { binCentres, type DecoderShape, extraHeadName } from './decoder.ts';
import { decoderLayers } from './layers.ts';
import type { LoraShape } from './lora.ts';

/** What is read: rows, each token after all before it, or trees, each token after those on the way to it. */
export type DecoderInputs = {
  /** int64 [B, T], T even where rows are read; they end in padding, which no real token sees. */
  readonly ids: Tensor;
  /** int64 [P]: the places, of all B * T, whose outputs are computed; all when not given. */
  readonly source?: Tensor;
} & (
  | {
      /** [T / 2, T]: what the later half of the tokens sees; see the function of this name. */
      readonly causalMask: Tensor;
    }
  | {
      /** [B, T, T]: what each token sees; see the function of this name. */
      readonly treeMask: Tensor;
      /** int64 [B * T, 1]: how many tokens are before each. */
      readonly positions: Tensor;
    }
);

/** For every place [B, T], or those of `source`, [P]. */
export interface DecoderOutputs {
  /** [..., width], after the last norm. */
  readonly hidden: Tensor;
  /** [..., vocabulary]. */
  logits(): Tensor;
  /** [...]; needs `valueHead`. Of a head with bins: the mean of its distribution. */
  values(): Tensor;
  /** [..., bins], before the softmax over bins; needs a `valueHead` with bins. */
  valueLogits(): Tensor;
  /** Of one of `extraHeads`: [...] where it is scalar, else [..., vocabulary]. */
  extra(name: string): Tensor;
}

const hidden = -1e9;

/** The values of `causalMask` for an even number of tokens. */
export function causalMask(tokens: number): {
  readonly data: Float32Array;
  readonly shape: readonly number[];
} {
  const half = tokens / 2;
  const data = new Float32Array(half * tokens);
  for (let row = 0; row < half; row++) data.fill(hidden, row * tokens + half + row + 1, (row + 1) * tokens);
  return { data, shape: [half, tokens] };
}

/**
 * The values of `treeMask` for lines of so many tokens: each sees itself and those before it on its way from the first.
 *
 * @param parents the token of its line that each follows; -1 for the first, and for padding
 */
export function treeMask(
  parents: Int32Array,
  [lines, length]: readonly [number, number],
): { readonly data: Float32Array; readonly shape: readonly number[] } {
  const data = new Float32Array(parents.length * length).fill(hidden);
  for (const index of parents.keys()) {
    const line = index - (index % length);
    for (let seen = index % length; seen >= 0; seen = parents[line + seen]!) data[index * length + seen] = 0;
  }
  return { data, shape: [lines, length, length] };
}

/** Weights are parameters of the graph, under their names; those of `adapter` too, under the names that `peft` has. */
export function forward(
  graph: Graph,
  shape: DecoderShape,
  inputs: DecoderInputs,
  adapter?: LoraShape,
): DecoderOutputs {
  const { heads, keyValueHeads, headWidth, valueHead } = shape;
  const [B, T] = inputs.ids.shape as readonly [string, string];
  const positions = 'positions' in inputs ? inputs.positions : graph.constant(BigInt64Array.of(0n), [1]);
  const layers = decoderLayers(graph, shape, positions, adapter);
  const byHead = (x: Tensor, count: number): Tensor =>
    transpose(reshape(x, [B, T, count, headWidth]), [0, 2, 1, 3]);
  const whole = layers.stack(inputs.ids, ({ query, key, value }, x, residual) => {
    const q = byHead(query(x), heads);
    const k = byHead(key(x), keyValueHeads);
    const v = byHead(value(x), keyValueHeads);
    const mixed =
      'treeMask' in inputs
        ? treeAttention(q, k, v, inputs.treeMask)
        : causalAttention(q, k, v, inputs.causalMask);
    return { mixed: reshape(transpose(mixed, [0, 2, 1, 3]), [B, T, heads * headWidth]), residual };
  });
  const { source } = inputs;
  const stream = source ? gatherRows(reshape(whole, [product([B, T]), shape.width]), source) : whole;
  const places = stream.shape.slice(0, -1);
  const head = (name: string): Tensor =>
    add(layers.project(stream, `${name}.weight`), layers.weight(`${name}.bias`));
  return {
    hidden: stream,
    logits: () => layers.logits(stream),
    valueLogits: () => head('value_head'),
    extra: (name) => {
      const output = head(extraHeadName(name));
      return shape.extraHeads?.[name] === 'scalar' ? reshape(output, places) : output;
    },
    values: () => {
      if (typeof valueHead !== 'object') return reshape(head('value_head'), places);
      const centres = graph.constant(binCentres(valueHead), [valueHead.count, 1]);
      return reshape(matmul(softmax(head('value_head')), centres), places);
    },
  };
}
