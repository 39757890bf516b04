/** The layers of a decoder on a graph, described once: training and sampling differ only in how a layer attends. */

import type { Graph } from '../../graph/graph.ts';
import { add, multiply } from '../../graph/operators/elementwise.ts';
import { gelu, rmsNorm, rotary, silu } from '../../graph/operators/fused.ts';
import { gatherRows } from '../../graph/operators/gather.ts';
import { matmul } from '../../graph/operators/matrix.ts';
import { reshape } from '../../graph/operators/shape.ts';
import type { Tensor } from '../../graph/tensor.ts';
import { type DecoderShape, parameterShapes } from './decoder.ts';
import { addLowRank, type LoraShape } from './lora.ts';
import { rotaryTables } from './rotary-tables.ts';

/** What one layer makes of its normed input [B, T, width]. */
export interface LayerProjections {
  /** [B, T, heads * headWidth], rotated to the places of the tokens, or to those given. */
  query(x: Tensor, positions?: Tensor): Tensor;
  /** [B, T, keyValueHeads * headWidth], rotated. */
  key(x: Tensor): Tensor;
  value(x: Tensor): Tensor;
}

/** What a layer's attention gives: [B, T, heads * headWidth], and the residual stream that goes on. */
export interface Attended {
  readonly mixed: Tensor;
  /** May hold fewer tokens than came in: those that are still needed. */
  readonly residual: Tensor;
}

export type Attend = (projections: LayerProjections, x: Tensor, residual: Tensor, layer: number) => Attended;

export interface DecoderLayers {
  /** A parameter of the decoder, by name. */
  weight(name: string): Tensor;
  /** x W^T, with the adapter's part where the matrix has one. */
  project(x: Tensor, name: string): Tensor;
  /** From ids to what the output layer reads, after the last norm. */
  stack(ids: Tensor, attend: Attend): Tensor;
  logits(hidden: Tensor): Tensor;
}

/**
 * `positions` is int64 [B, T], [B * T, 1] where lines may be longer than the context, or [1] for the place of every row's first
 * token. Weights become parameters of the graph.
 */
export function decoderLayers(
  graph: Graph,
  shape: DecoderShape,
  positions: Tensor,
  adapter: LoraShape | undefined,
): DecoderLayers {
  const { heads, keyValueHeads, headWidth } = shape;
  const shapes = new Map(parameterShapes(shape).map((parameter) => [parameter.name, parameter.shape]));
  const weight = (name: string): Tensor => graph.parameter(name, shapes.get(name)!);
  const project = (x: Tensor, name: string): Tensor => {
    const plain = matmul(x, weight(name), { transposeB: true });
    return adapter === undefined ? plain : addLowRank(adapter, plain, x, name, shapes.get(name)!);
  };
  const norm = (x: Tensor, name: string): Tensor => rmsNorm(x, weight(name), shape.normEpsilon);
  const table = rotaryTables(shape);
  const cos = graph.constant(table.cos, [shape.contextLength, headWidth / 2]);
  const sin = graph.constant(table.sin, [shape.contextLength, headWidth / 2]);

  const projectionsOf = (prefix: string): LayerProjections => {
    const biased = (x: Tensor, name: string): Tensor => {
      const y = project(x, `${prefix}.${name}_proj.weight`);
      return shape.queryKeyValueBias ? add(y, weight(`${prefix}.${name}_proj.bias`)) : y;
    };
    const rotated = (x: Tensor, name: string, count: number, places: Tensor): Tensor => {
      let y = biased(x, name);
      if (shape.queryKeyNorm) {
        const byHead = reshape(y, [...y.shape.slice(0, -1), count, headWidth]);
        y = reshape(norm(byHead, `${prefix}.${name}_norm.weight`), y.shape);
      }
      if (places.shape.length === 1) return rotary(y, places, cos, sin, count);
      // Places may be those of tokens one by one, [B * T, 1]: the runtime has no room for more tokens in a line than tables have rows.
      return reshape(
        rotary(reshape(y, [...places.shape, count * headWidth]), places, cos, sin, count),
        y.shape,
      );
    };
    return {
      query: (x, places = positions) => rotated(x, 'q', heads, places),
      key: (x) => rotated(x, 'k', keyValueHeads, positions),
      value: (x) => biased(x, 'v'),
    };
  };

  const feedForward = (x: Tensor, prefix: string): Tensor => {
    const up = project(x, `${prefix}.up_proj.weight`);
    const activated =
      shape.activation === 'gelu' ? gelu(up) : multiply(silu(project(x, `${prefix}.gate_proj.weight`)), up);
    return project(activated, `${prefix}.down_proj.weight`);
  };

  const embedding = weight('model.embed_tokens.weight');
  return {
    weight,
    project,
    stack: (ids, attend) => {
      let stream = gatherRows(embedding, ids);
      for (let layer = 0; layer < shape.layers; layer++) {
        const prefix = `model.layers.${layer}`;
        const x = norm(stream, `${prefix}.input_layernorm.weight`);
        const { mixed, residual } = attend(projectionsOf(`${prefix}.self_attn`), x, stream, layer);
        stream = add(residual, project(mixed, `${prefix}.self_attn.o_proj.weight`));
        const y = norm(stream, `${prefix}.post_attention_layernorm.weight`);
        stream = add(stream, feedForward(y, `${prefix}.mlp`));
      }
      return norm(stream, 'model.norm.weight');
    },
    logits: (hidden) =>
      matmul(hidden, shape.tiedHead ? embedding : weight('lm_head.weight'), { transposeB: true }),
  };
}
