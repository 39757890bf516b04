/** The sampling pass: new tokens of many conversations against caches of keys and values that stay outside the graph. */

import { product, shapeMismatch } from '../../graph/dimension.ts';
import { Graph, type Operator } from '../../graph/graph.ts';
import { add, minimum, multiply } from '../../graph/operators/elementwise.ts';
import { gatherRows } from '../../graph/operators/gather.ts';
import { reshape, transpose } from '../../graph/operators/shape.ts';
import type { Tensor } from '../../graph/tensor.ts';
import type { Weight, Weights } from '../checkpoint/safetensors.ts';
import { type DecoderShape, extraHeadName } from './decoder.ts';
import { type DecoderLayers, decoderLayers } from './layers.ts';
import type { LoraShape } from './lora.ts';

/**
 * The graph of one decoding call: B rows, each with at most S new tokens (padding behind them), and C slots of cache.
 *
 * Inputs: `ids` and `positions` int64 [B, S]; `last` int64 [B], the place of each row's last new token in [B * S];
 * `lastPositions` int64 [B, 1]; `mask` [B, 1, 1, C], 0 where a slot holds a token and very negative elsewhere;
 * `causal` [heads / keyValueHeads * S, S], causal masks below each other; `lastMask` [B, 1, 1, S], which hides padding;
 * `keys.<layer>` and `values.<layer>` [B, keyValueHeads, C, headWidth].
 *
 * Weights, and those of `adapter`, are parameters, to be given the values of `decodeWeights`.
 *
 * Outputs: `logits` [B, vocabulary] after each row's last new token, and the new `newKeys.<layer>` and
 * `newValues.<layer>` [B, keyValueHeads, S, headWidth]. Nothing of the cache is an output: outputs are copied.
 */
export function decodeGraph(shape: DecoderShape, adapter?: LoraShape): Readonly<Record<string, Tensor>> {
  const graph = new Graph();
  const { width, heads, keyValueHeads, headWidth } = shape;
  const group = heads / keyValueHeads;
  const positions = graph.input('positions', ['B', 'S'], 'int64');
  const mask = graph.input('mask', ['B', 1, 1, 'C']);
  const byHead = (x: Tensor, count: number): Tensor =>
    transpose(reshape(x, ['B', x.shape[1]!, count, headWidth]), [0, 2, 1, 3]);
  const atLast = (x: Tensor): Tensor =>
    reshape(gatherRows(reshape(x, ['B*S', width]), graph.input('last', ['B'], 'int64')), ['B', 1, width]);

  const outputs: Record<string, Tensor> = {};
  const layers = decoderLayers(graph, shape, positions, adapter);
  const ids = graph.input('ids', ['B', 'S'], 'int64');
  const hidden = layers.stack(ids, ({ query, key, value }, x, residual, layer) => {
    const newKeys = byHead(key(x), keyValueHeads);
    const newValues = byHead(value(x), keyValueHeads);
    outputs[`newKeys.${layer}`] = newKeys;
    outputs[`newValues.${layer}`] = newValues;

    // After the last layer only the last token of each row is read, so only its query and what follows are computed.
    const isLast = layer === shape.layers - 1;
    const q = isLast ? query(atLast(x), graph.input('lastPositions', ['B', 1], 'int64')) : query(x);
    const tokens = q.shape[1]!;
    const stacked = product([group, tokens]);
    const mixed = graph.apply(
      cachedAttentionOperator,
      [
        reshape(byHead(q, heads), ['B', keyValueHeads, stacked, headWidth]),
        graph.input(`keys.${layer}`, ['B', keyValueHeads, 'C', headWidth]),
        graph.input(`values.${layer}`, ['B', keyValueHeads, 'C', headWidth]),
        mask,
        newKeys,
        newValues,
        isLast ? graph.input('lastMask', ['B', 1, 1, 'S']) : graph.input('causal', [stacked, 'S']),
      ],
      {},
    );
    const byToken = transpose(reshape(mixed, ['B', heads, tokens, headWidth]), [0, 2, 1, 3]);
    return {
      mixed: reshape(byToken, ['B', tokens, heads * headWidth]),
      residual: isLast ? atLast(residual) : residual,
    };
  });
  outputs.logits = guidedLogits(layers, shape, reshape(hidden, ['B', width]));
  return outputs;
}

/** The logits, improved by the least of what the guiding heads say of every next token. */
function guidedLogits(layers: DecoderLayers, { guidance }: DecoderShape, hidden: Tensor): Tensor {
  const logits = layers.logits(hidden);
  if (guidance === undefined) return logits;
  const readings = guidance.heads.map((head) => {
    const name = extraHeadName(head);
    return add(layers.project(hidden, `${name}.weight`), layers.weight(`${name}.bias`));
  });
  const least = readings.reduce((a, b) => minimum(a, b));
  return add(logits, multiply(least, guidance.strength));
}

/** The weights that sampling reads: all but those of values that do not guide it. */
export function sampledWeights({ guidance }: DecoderShape, weights: Weights): Weights {
  const guides = (guidance?.heads ?? []).map((head) => `${extraHeadName(head)}.`);
  return new Map(
    [...weights].filter(
      ([name]) => !name.startsWith('value_head.') || guides.some((prefix) => name.startsWith(prefix)),
    ),
  );
}

/**
 * The weights as `decodeGraph` wants them: the factor 1 / sqrt(headWidth) of attention scores is put into what makes
 * queries (the norm of queries, or else the projection, its bias and the second factor of its adapter), since onnxruntime
 * has a faster product for single rows without a factor. All else is shared, not copied.
 */
export function decodeWeights(shape: DecoderShape, weights: Weights): Map<string, Weight> {
  const scale = 1 / Math.sqrt(shape.headWidth);
  const scaled = shape.queryKeyNorm ? /\.q_norm\.weight$/ : /\.q_proj\.(weight|bias|lora_B\.weight)$/;
  return new Map(
    [...weights].map(([name, weight]) => [
      name,
      scaled.test(name) ? { ...weight, data: scaledBy(scale, weight.data) } : weight,
    ]),
  );
}

function scaledBy(factor: number, values: Float32Array): Float32Array {
  const result = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) result[i] = factor * values[i]!;
  return result;
}

/**
 * Attention of scaled queries [B, heads, R, width] over cached and new tokens under one softmax. The cache is read in place:
 * scores of both parts are joined, never keys or values.
 */
const cachedAttentionOperator: Operator<Record<never, never>> = {
  name: 'cachedAttention',
  infer: (inputs) => {
    const [query, keys, , , newKeys] = inputs;
    if (query!.shape.at(-1) !== keys!.shape.at(-1) || keys!.shape.at(-1) !== newKeys!.shape.at(-1)) {
      throw shapeMismatch(
        'cachedAttention',
        inputs.map((input) => input.shape),
        'queries and keys of one width',
      );
    }
    return { shape: query!.shape, dtype: 'float32' };
  },
  emit: (emission, [query, keys, values, mask, newKeys, newValues, newMask], node) => {
    const scores = (among: string, hiding: string): string => {
      const product = emission.node('FusedMatMul', [query!, among], { transB: 1 }, 'com.microsoft');
      return emission.node('Add', [product, hiding]);
    };
    const joined = emission.node('Concat', [scores(keys!, mask!), scores(newKeys!, newMask!)], { axis: -1 });
    const parts = emission.shape([node.inputs[1]!.shape[2]!, node.inputs[4]!.shape[2]!]);
    const [old, fresh] = emission.nodes(
      2,
      'Split',
      [emission.node('Softmax', [joined], { axis: -1 }), parts],
      {
        axis: -1,
      },
    );
    return emission.node('Add', [
      emission.node('MatMul', [old!, values!]),
      emission.node('MatMul', [fresh!, newValues!]),
    ]);
  },
};
