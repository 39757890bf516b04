/** A Llama-shaped decoder, described once: its parameters, their first values, and its training pass on a graph. */

import type { Rng } from '../core/rng.ts';
import type { Graph } from '../graph/graph.ts';
import { attention } from '../graph/operators/attention.ts';
import { add, multiply } from '../graph/operators/elementwise.ts';
import { gelu, rmsNorm, rotary, silu } from '../graph/operators/fused.ts';
import { gatherRows } from '../graph/operators/gather.ts';
import { matmul } from '../graph/operators/matrix.ts';
import { reshape, transpose } from '../graph/operators/shape.ts';
import type { Tensor } from '../graph/tensor.ts';

/** Everything that fixes the architecture; plain JSON. */
export interface DecoderShape {
  readonly vocabulary: number;
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  /** Fewer than `heads` shares keys and values among groups of heads (arXiv:2305.13245). */
  readonly keyValueHeads: number;
  readonly headWidth: number;
  /** Width inside the feed-forward block. */
  readonly hidden: number;
  readonly activation: 'swiglu' | 'gelu';
  /** The output layer is the embedding table. */
  readonly tiedHead: boolean;
  readonly ropeTheta: number;
  /** Longest sequence, in tokens. */
  readonly contextLength: number;
  readonly normEpsilon: number;
  /** A scalar per position beside the logits. */
  readonly valueHead?: boolean;
  /** Further linear outputs per position, by name: critics of offline methods. */
  readonly extraHeads?: Readonly<Record<string, HeadKind>>;
}

/**
 * What an extra head gives for the prefix before each token: one number; one number for every possible next token; or
 * logits over bins between two returns, whose mean is the value.
 */
export type HeadKind =
  | 'scalar'
  | 'action'
  | { readonly bins: number; readonly low: number; readonly high: number };

/** How many numbers a head gives per position. */
export function headSize(kind: HeadKind, vocabulary: number): number {
  return kind === 'scalar' ? 1 : kind === 'action' ? vocabulary : kind.bins;
}

export interface ParameterShape {
  /** As Hugging Face names it for Llama. */
  readonly name: string;
  /** Matrices are [outputs, inputs]. */
  readonly shape: readonly number[];
  readonly kind: 'matrix' | 'norm' | 'bias' | 'embedding';
}

/** All parameters, in the order that files and optimizers keep them. */
export function parameterShapes(shape: DecoderShape): readonly ParameterShape[] {
  const { vocabulary, width, layers, heads, keyValueHeads, headWidth, hidden } = shape;
  const parameters: ParameterShape[] = [
    { name: 'model.embed_tokens.weight', shape: [vocabulary, width], kind: 'embedding' },
  ];
  const matrix = (name: string, outputs: number, inputs: number): void => {
    parameters.push({ name, shape: [outputs, inputs], kind: 'matrix' });
  };
  const norm = (name: string): void => {
    parameters.push({ name, shape: [width], kind: 'norm' });
  };
  for (let layer = 0; layer < layers; layer++) {
    const prefix = `model.layers.${layer}`;
    norm(`${prefix}.input_layernorm.weight`);
    matrix(`${prefix}.self_attn.q_proj.weight`, heads * headWidth, width);
    matrix(`${prefix}.self_attn.k_proj.weight`, keyValueHeads * headWidth, width);
    matrix(`${prefix}.self_attn.v_proj.weight`, keyValueHeads * headWidth, width);
    matrix(`${prefix}.self_attn.o_proj.weight`, width, heads * headWidth);
    norm(`${prefix}.post_attention_layernorm.weight`);
    if (shape.activation === 'swiglu') matrix(`${prefix}.mlp.gate_proj.weight`, hidden, width);
    matrix(`${prefix}.mlp.up_proj.weight`, hidden, width);
    matrix(`${prefix}.mlp.down_proj.weight`, width, hidden);
  }
  norm('model.norm.weight');
  if (!shape.tiedHead) matrix('lm_head.weight', vocabulary, width);
  if (shape.valueHead) {
    matrix('value_head.weight', 1, width);
    parameters.push({ name: 'value_head.bias', shape: [1], kind: 'bias' });
  }
  for (const [name, kind] of Object.entries(shape.extraHeads ?? {})) {
    const outputs = headSize(kind, vocabulary);
    matrix(`extra_heads.${name}.weight`, outputs, width);
    parameters.push({ name: `extra_heads.${name}.bias`, shape: [outputs], kind: 'bias' });
  }
  return parameters;
}

/**
 * First values: normal with standard deviation 0.7 / sqrt(inputs), 0.02 for the embedding, the output layer and extra
 * heads, so that twin critics begin apart; what writes into the residual stream is scaled by 1 / sqrt(2 * layers);
 * norms are 1, biases and the value head 0.
 */
export function initialWeights(shape: DecoderShape, rng: Rng): Map<string, Float32Array> {
  return new Map(
    parameterShapes(shape).map((parameter) => {
      const { name, kind } = parameter;
      const size = parameter.shape.reduce((total, side) => total * side, 1);
      if (kind === 'norm') return [name, new Float32Array(size).fill(1)];
      if (name.startsWith('value_head') || kind === 'bias') return [name, new Float32Array(size)];
      const stream = rng.fork(name);
      const deviation = standardDeviation(parameter, shape.layers);
      return [name, Float32Array.from({ length: size }, () => deviation * stream.normal())];
    }),
  );
}

function standardDeviation({ name, shape, kind }: ParameterShape, layers: number): number {
  if (kind === 'embedding' || name === 'lm_head.weight' || name.startsWith('extra_heads')) return 0.02;
  const writesResidual = name.endsWith('o_proj.weight') || name.endsWith('down_proj.weight');
  return (0.7 / Math.sqrt(shape[1]!)) * (writesResidual ? 1 / Math.sqrt(2 * layers) : 1);
}

export interface DecoderInputs {
  /** int64 [B, T]; rows end in padding, which no real token sees. */
  readonly ids: Tensor;
  /** int64 [B, T], or [1] for the position of every row's first token; 0 when not given. */
  readonly positions?: Tensor;
  /** [T, T]: 0 on and below the diagonal, a large negative number above. */
  readonly causalMask: Tensor;
}

export interface DecoderOutputs {
  /** [B, T, width], after the last norm. */
  readonly hidden: Tensor;
  /** [B, T, vocabulary]. */
  logits(): Tensor;
  /** [B, T]; needs `valueHead`. */
  values(): Tensor;
  /** Of one of `extraHeads`: [B, T] where it is scalar, else [B, T, outputs]. */
  head(name: string): Tensor;
}

/** The training pass over whole sequences. Weights are parameters of the graph, under their names. */
export function forward(graph: Graph, shape: DecoderShape, inputs: DecoderInputs): DecoderOutputs {
  const shapes = new Map(parameterShapes(shape).map((parameter) => [parameter.name, parameter.shape]));
  const weight = (name: string): Tensor => graph.parameter(name, shapes.get(name)!);
  const project = (x: Tensor, name: string): Tensor => matmul(x, weight(name), { transposeB: true });
  const norm = (x: Tensor, name: string): Tensor => rmsNorm(x, weight(name), shape.normEpsilon);
  const attend = selfAttention(graph, shape, inputs);

  const embedding = weight('model.embed_tokens.weight');
  let residual = gatherRows(embedding, inputs.ids);
  for (let layer = 0; layer < shape.layers; layer++) {
    const prefix = `model.layers.${layer}`;
    const attentionInput = norm(residual, `${prefix}.input_layernorm.weight`);
    const attended = attend(
      project(attentionInput, `${prefix}.self_attn.q_proj.weight`),
      project(attentionInput, `${prefix}.self_attn.k_proj.weight`),
      project(attentionInput, `${prefix}.self_attn.v_proj.weight`),
    );
    residual = add(residual, project(attended, `${prefix}.self_attn.o_proj.weight`));
    const mlpInput = norm(residual, `${prefix}.post_attention_layernorm.weight`);
    const up = project(mlpInput, `${prefix}.mlp.up_proj.weight`);
    const activated =
      shape.activation === 'gelu'
        ? gelu(up)
        : multiply(silu(project(mlpInput, `${prefix}.mlp.gate_proj.weight`)), up);
    residual = add(residual, project(activated, `${prefix}.mlp.down_proj.weight`));
  }
  const hidden = norm(residual, 'model.norm.weight');
  const [rows, tokens] = inputs.ids.shape;
  return {
    hidden,
    logits: () => matmul(hidden, shape.tiedHead ? embedding : weight('lm_head.weight'), { transposeB: true }),
    values: () =>
      add(reshape(project(hidden, 'value_head.weight'), [rows!, tokens!]), weight('value_head.bias')),
    head: (name) => {
      const output = add(project(hidden, `extra_heads.${name}.weight`), weight(`extra_heads.${name}.bias`));
      return shape.extraHeads![name] === 'scalar' ? reshape(output, [rows!, tokens!]) : output;
    },
  };
}

/** Causal self-attention with rotary positions over projected [B, T, heads * headWidth] queries, keys and values. */
function selfAttention(
  graph: Graph,
  shape: DecoderShape,
  { ids, positions, causalMask }: DecoderInputs,
): (query: Tensor, key: Tensor, value: Tensor) => Tensor {
  const { heads, keyValueHeads, headWidth } = shape;
  const [B, T] = ids.shape as readonly [string, string];
  const table = rotaryTables(shape);
  const cos = graph.constant(table.cos, [shape.contextLength, headWidth / 2]);
  const sin = graph.constant(table.sin, [shape.contextLength, headWidth / 2]);
  const places = positions ?? graph.constant(BigInt64Array.of(0n), [1]);
  const byHead = (x: Tensor, count: number): Tensor =>
    transpose(reshape(x, [B, T, count, headWidth]), [0, 2, 1, 3]);
  return (query, key, value) => {
    const q = byHead(rotary(query, places, cos, sin, heads), heads);
    const k = byHead(rotary(key, places, cos, sin, keyValueHeads), keyValueHeads);
    const mixed = attention(q, k, byHead(value, keyValueHeads), causalMask);
    return reshape(transpose(mixed, [0, 2, 1, 3]), [B, T, heads * headWidth]);
  };
}

/** cos and sin of position * theta^(-2i / headWidth), [contextLength, headWidth / 2]. */
export function rotaryTables(shape: DecoderShape): {
  readonly cos: Float32Array;
  readonly sin: Float32Array;
} {
  const half = shape.headWidth / 2;
  const angle = (index: number): number =>
    Math.floor(index / half) * shape.ropeTheta ** (-(index % half) / half);
  const length = shape.contextLength * half;
  return {
    cos: Float32Array.from({ length }, (_, index) => Math.cos(angle(index))),
    sin: Float32Array.from({ length }, (_, index) => Math.sin(angle(index))),
  };
}
