/** A Llama-shaped decoder: everything that fixes its architecture, its parameters, and their first values. */

import type { Rng } from '../../core/rng.ts';

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
  /** Slower rotation of the slow components, as in Llama 3.1. */
  readonly ropeScaling?: RopeScaling;
  /** The projections to queries, keys and values have biases, as in Qwen2. */
  readonly queryKeyValueBias?: boolean;
  /** Queries and keys are normed head by head before they are rotated, as in Qwen3. */
  readonly queryKeyNorm?: boolean;
  /** Longest sequence, in tokens. */
  readonly contextLength: number;
  readonly normEpsilon: number;
  /** A value per position beside the logits: a scalar, or a distribution over bins. */
  readonly valueHead?: boolean | ValueBins;
  /** Further linear outputs per position, by name: the critics of offline methods. */
  readonly extraHeads?: Readonly<Record<string, HeadKind>>;
  /** Action heads that change what is sampled; scores stay those of the policy without them. */
  readonly guidance?: Guidance;
}

/** Values that improve a policy as it acts: logits + strength · min over the action heads (ILQL, arXiv:2206.11871). */
export interface Guidance {
  readonly heads: readonly string[];
  readonly strength: number;
}

/** What an extra head gives for the prefix before each token: one number, or one for every possible next token. */
export type HeadKind = 'scalar' | 'action';

/** Components that turn fewer than `lowFrequencyFactor` times within the original context are slowed by `factor`. */
export interface RopeScaling {
  readonly factor: number;
  readonly lowFrequencyFactor: number;
  readonly highFrequencyFactor: number;
  readonly originalContextLength: number;
}

/** A categorical value: `count` bins of equal width between `low` and `high` (arXiv:2403.03950). */
export interface ValueBins {
  readonly count: number;
  readonly low: number;
  readonly high: number;
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
  const vector = (name: string, kind: 'norm' | 'bias', size: number): void => {
    parameters.push({ name, shape: [size], kind });
  };
  for (let layer = 0; layer < layers; layer++) {
    const prefix = `model.layers.${layer}`;
    vector(`${prefix}.input_layernorm.weight`, 'norm', width);
    for (const [name, size] of [
      ['q_proj', heads * headWidth],
      ['k_proj', keyValueHeads * headWidth],
      ['v_proj', keyValueHeads * headWidth],
    ] as const) {
      matrix(`${prefix}.self_attn.${name}.weight`, size, width);
      if (shape.queryKeyValueBias) vector(`${prefix}.self_attn.${name}.bias`, 'bias', size);
    }
    if (shape.queryKeyNorm) {
      vector(`${prefix}.self_attn.q_norm.weight`, 'norm', headWidth);
      vector(`${prefix}.self_attn.k_norm.weight`, 'norm', headWidth);
    }
    matrix(`${prefix}.self_attn.o_proj.weight`, width, heads * headWidth);
    vector(`${prefix}.post_attention_layernorm.weight`, 'norm', width);
    if (shape.activation === 'swiglu') matrix(`${prefix}.mlp.gate_proj.weight`, hidden, width);
    matrix(`${prefix}.mlp.up_proj.weight`, hidden, width);
    matrix(`${prefix}.mlp.down_proj.weight`, width, hidden);
  }
  vector('model.norm.weight', 'norm', width);
  if (!shape.tiedHead) matrix('lm_head.weight', vocabulary, width);
  parameters.push(...headShapes(shape));
  return parameters;
}

/** The parameters of the value head and of extra heads, which no checkpoint of a language model has. */
export function headShapes(shape: DecoderShape): readonly ParameterShape[] {
  const { valueHead, extraHeads = {}, vocabulary, width } = shape;
  const head = (prefix: string, outputs: number): ParameterShape[] => [
    { name: `${prefix}.weight`, shape: [outputs, width], kind: 'matrix' },
    { name: `${prefix}.bias`, shape: [outputs], kind: 'bias' },
  ];
  return [
    ...(valueHead ? head('value_head', valueHead === true ? 1 : valueHead.count) : []),
    ...Object.entries(extraHeads).flatMap(([name, kind]) =>
      head(extraHeadName(name), kind === 'scalar' ? 1 : vocabulary),
    ),
  ];
}

/** The module of an extra head: among those of the value head, since it is kept, trained and saved like that. */
export function extraHeadName(name: string): string {
  return `value_head.${name}`;
}

/** The middle of each bin. */
export function binCentres({ count, low, high }: ValueBins): Float32Array {
  return Float32Array.from({ length: count }, (_, bin) => low + ((bin + 0.5) * (high - low)) / count);
}

/**
 * First values: normal with standard deviation 0.7 / sqrt(inputs), 0.02 for the embedding, the output layer and extra
 * heads, so that twin critics begin apart (0.001 where they change what is sampled); what writes into the residual stream is scaled by 1 / sqrt(2 * layers);
 * norms are 1, biases and the value head 0.
 */
export function initialWeights(
  shape: DecoderShape,
  rng: Rng,
  parameters: readonly ParameterShape[] = parameterShapes(shape),
): Map<string, Float32Array> {
  return new Map(
    parameters.map((parameter) => {
      const { name, kind } = parameter;
      const size = parameter.shape.reduce((total, side) => total * side, 1);
      if (kind === 'norm') return [name, new Float32Array(size).fill(1)];
      if (kind === 'bias' || name === 'value_head.weight') return [name, new Float32Array(size)];
      const stream = rng.fork(name);
      const deviation = standardDeviation(parameter, shape);
      return [name, Float32Array.from({ length: size }, () => deviation * stream.normal())];
    }),
  );
}

function standardDeviation(
  { name, shape, kind }: ParameterShape,
  { layers, guidance }: DecoderShape,
): number {
  if (guidance?.heads.some((head) => name === `${extraHeadName(head)}.weight`)) return 1e-3;
  if (kind === 'embedding' || name === 'lm_head.weight' || name.startsWith('value_head')) return 0.02;
  const writesResidual = name.endsWith('o_proj.weight') || name.endsWith('down_proj.weight');
  return (0.7 / Math.sqrt(shape[1]!)) * (writesResidual ? 1 / Math.sqrt(2 * layers) : 1);
}
