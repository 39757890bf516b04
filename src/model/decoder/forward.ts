/** The training pass of a decoder over whole sequences. */

import type { Graph } from '../../graph/graph.ts';
import { causalAttention } from '../../graph/operators/attention.ts';
import { add } from '../../graph/operators/elementwise.ts';
import { matmul } from '../../graph/operators/matrix.ts';
import { softmax } from '../../graph/operators/reduce.ts';
import { reshape, transpose } from '../../graph/operators/shape.ts';
import type { Tensor } from '../../graph/tensor.ts';
import { binCentres, type DecoderShape, extraHeadName } from './decoder.ts';
import { decoderLayers } from './layers.ts';
import type { LoraShape } from './lora.ts';

export interface DecoderInputs {
  /** int64 [B, T], T even; rows end in padding, which no real token sees. */
  readonly ids: Tensor;
  /** int64 [B, T], or [1] for the position of every row's first token; 0 when not given. */
  readonly positions?: Tensor;
  /** [T / 2, T]: what the later half of the tokens sees; see the function of this name. */
  readonly causalMask: Tensor;
}

export interface DecoderOutputs {
  /** [B, T, width], after the last norm. */
  readonly hidden: Tensor;
  /** [B, T, vocabulary]. */
  logits(): Tensor;
  /** [B, T]; needs `valueHead`. Of a head with bins: the mean of its distribution. */
  values(): Tensor;
  /** [B, T, bins], before the softmax over bins; needs a `valueHead` with bins. */
  valueLogits(): Tensor;
  /** Of one of `extraHeads`: [B, T] where it is scalar, else [B, T, vocabulary]. */
  extra(name: string): Tensor;
}

const hidden = -1e9;

/** The values of `causalMask` for an even number of tokens. */
export function causalMask(tokens: number): {
  readonly data: Float32Array;
  readonly shape: readonly number[];
} {
  const half = tokens / 2;
  const data = Float32Array.from({ length: half * tokens }, (_, index) =>
    index % tokens > half + Math.floor(index / tokens) ? hidden : 0,
  );
  return { data, shape: [half, tokens] };
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
  const positions = inputs.positions ?? graph.constant(BigInt64Array.of(0n), [1]);
  const layers = decoderLayers(graph, shape, positions, adapter);
  const byHead = (x: Tensor, count: number): Tensor =>
    transpose(reshape(x, [B, T, count, headWidth]), [0, 2, 1, 3]);
  const stream = layers.stack(inputs.ids, ({ query, key, value }, x, residual) => {
    const q = byHead(query(x), heads);
    const k = byHead(key(x), keyValueHeads);
    const mixed = causalAttention(q, k, byHead(value(x), keyValueHeads), inputs.causalMask);
    return { mixed: reshape(transpose(mixed, [0, 2, 1, 3]), [B, T, heads * headWidth]), residual };
  });
  const head = (name: string): Tensor =>
    add(layers.project(stream, `${name}.weight`), layers.weight(`${name}.bias`));
  return {
    hidden: stream,
    logits: () => layers.logits(stream),
    valueLogits: () => head('value_head'),
    extra: (name) => {
      const output = head(extraHeadName(name));
      return shape.extraHeads?.[name] === 'scalar' ? reshape(output, [B, T]) : output;
    },
    values: () => {
      if (typeof valueHead !== 'object') return reshape(head('value_head'), [B, T]);
      const centres = graph.constant(binCentres(valueHead), [valueHead.count, 1]);
      return reshape(matmul(softmax(head('value_head')), centres), [B, T]);
    },
  };
}
