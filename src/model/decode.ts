/** The sampling pass: new tokens of many conversations against caches of keys and values that stay outside the graph. */

import { product, shapeMismatch } from '../graph/dimension.ts';
import { Graph, type Operator } from '../graph/graph.ts';
import { add, multiply } from '../graph/operators/elementwise.ts';
import { gelu, rmsNorm, rotary, silu } from '../graph/operators/fused.ts';
import { gatherRows } from '../graph/operators/gather.ts';
import { matmul } from '../graph/operators/matrix.ts';
import { reshape, transpose } from '../graph/operators/shape.ts';
import type { Tensor } from '../graph/tensor.ts';
import { type DecoderShape, parameterShapes, rotaryTables } from './decoder.ts';
import type { Weights } from './safetensors.ts';

/**
 * The graph of one decoding call: B rows, each with at most S new tokens (padding behind them), and C slots of cache.
 *
 * Inputs: `ids` and `positions` int64 [B, S]; `last` int64 [B], the place of each row's last new token in [B * S];
 * `lastPositions` int64 [B, 1]; `mask` [B, 1, 1, C], 0 where a slot holds a token and very negative elsewhere;
 * `causal` [heads / keyValueHeads * S, S], causal masks below each other; `lastMask` [B, 1, 1, S], which hides padding;
 * `keys.<layer>` and `values.<layer>` [B, keyValueHeads, C, headWidth].
 *
 * Weights are parameters, to be given the values of `decodeWeights`.
 *
 * Outputs: `logits` [B, vocabulary] after each row's last new token, and the new `newKeys.<layer>` and
 * `newValues.<layer>` [B, keyValueHeads, S, headWidth]. Nothing of the cache is an output: outputs are copied.
 */
export function decodeGraph(shape: DecoderShape): Readonly<Record<string, Tensor>> {
  const graph = new Graph();
  const { width, heads, keyValueHeads, headWidth, layers } = shape;
  const shapes = new Map(parameterShapes(shape).map((parameter) => [parameter.name, parameter.shape]));
  const weight = (name: string): Tensor => graph.parameter(name, shapes.get(name)!);
  const project = (x: Tensor, name: string): Tensor => matmul(x, weight(name), { transposeB: true });
  const norm = (x: Tensor, name: string): Tensor => rmsNorm(x, weight(name), shape.normEpsilon);

  const group = heads / keyValueHeads;
  const table = rotaryTables(shape);
  const cos = graph.constant(table.cos, [shape.contextLength, headWidth / 2]);
  const sin = graph.constant(table.sin, [shape.contextLength, headWidth / 2]);
  const positions = graph.input('positions', ['B', 'S'], 'int64');
  const mask = graph.input('mask', ['B', 1, 1, 'C']);
  const byHead = (x: Tensor, count: number): Tensor =>
    transpose(reshape(x, ['B', x.shape[1]!, count, headWidth]), [0, 2, 1, 3]);
  const atLast = (x: Tensor): Tensor =>
    reshape(gatherRows(reshape(x, ['B*S', width]), graph.input('last', ['B'], 'int64')), ['B', 1, width]);

  const outputs: Record<string, Tensor> = {};
  const embedding = weight('model.embed_tokens.weight');
  let residual = gatherRows(embedding, graph.input('ids', ['B', 'S'], 'int64'));
  for (let layer = 0; layer < layers; layer++) {
    const prefix = `model.layers.${layer}`;
    const attentionInput = norm(residual, `${prefix}.input_layernorm.weight`);
    const key = rotary(
      project(attentionInput, `${prefix}.self_attn.k_proj.weight`),
      positions,
      cos,
      sin,
      keyValueHeads,
    );
    const newKeys = byHead(key, keyValueHeads);
    const newValues = byHead(project(attentionInput, `${prefix}.self_attn.v_proj.weight`), keyValueHeads);
    outputs[`newKeys.${layer}`] = newKeys;
    outputs[`newValues.${layer}`] = newValues;

    // After the last layer only the last token of each row is read, so only its query and what follows are computed.
    const isLast = layer === layers - 1;
    const queryInput = isLast ? atLast(attentionInput) : attentionInput;
    if (isLast) residual = atLast(residual);
    const queryPositions = isLast ? graph.input('lastPositions', ['B', 1], 'int64') : positions;
    const query = rotary(
      project(queryInput, `${prefix}.self_attn.q_proj.weight`),
      queryPositions,
      cos,
      sin,
      heads,
    );
    const tokens = query.shape[1]!;
    const stacked = product([group, tokens]);
    const mixed = graph.apply(
      cachedAttentionOperator,
      [
        reshape(byHead(query, heads), ['B', keyValueHeads, stacked, headWidth]),
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
    const attended = reshape(byToken, ['B', tokens, heads * headWidth]);
    residual = add(residual, project(attended, `${prefix}.self_attn.o_proj.weight`));

    const mlpInput = norm(residual, `${prefix}.post_attention_layernorm.weight`);
    const up = project(mlpInput, `${prefix}.mlp.up_proj.weight`);
    const activated =
      shape.activation === 'gelu'
        ? gelu(up)
        : multiply(silu(project(mlpInput, `${prefix}.mlp.gate_proj.weight`)), up);
    residual = add(residual, project(activated, `${prefix}.mlp.down_proj.weight`));
  }
  const hidden = norm(reshape(residual, ['B', width]), 'model.norm.weight');
  outputs.logits = matmul(hidden, shape.tiedHead ? embedding : weight('lm_head.weight'), {
    transposeB: true,
  });
  return outputs;
}

/**
 * The weights as `decodeGraph` wants them: the factor 1 / sqrt(headWidth) of attention scores is put into the query
 * projections, since onnxruntime has a faster product for single rows without a factor.
 */
export function decodeWeights(shape: DecoderShape, weights: Weights): Record<string, Float32Array> {
  const scale = 1 / Math.sqrt(shape.headWidth);
  return Object.fromEntries(
    [...weights].map(([name, { data }]) => [
      name,
      name.endsWith('q_proj.weight') ? data.map((value) => value * scale) : data,
    ]),
  );
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
