/** Low-rank adapters (arXiv:2106.09685): beside each chosen matrix W a product scale * B A, which alone is trained. */

import { TurnwiseError } from '../../core/errors.ts';
import type { Rng } from '../../core/rng.ts';
import { add } from '../../graph/operators/elementwise.ts';
import { matmul } from '../../graph/operators/matrix.ts';
import type { Tensor } from '../../graph/tensor.ts';
import type { Weight, Weights } from '../checkpoint/safetensors.ts';
import { type DecoderShape, type ParameterShape, parameterShapes } from './decoder.ts';

/** Matrices of a layer that can have an adapter, as the last part of their module's name. */
const attentionTargets = ['q_proj', 'k_proj', 'v_proj', 'o_proj'] as const;
const mlpTargets = ['gate_proj', 'up_proj', 'down_proj'] as const;

/** What fixes an adapter; plain JSON. The product is scaled by alpha / rank. There is no dropout. */
export interface LoraShape {
  readonly rank: number;
  readonly alpha: number;
  /** Module names such as `q_proj`, adapted in every layer. */
  readonly targets: readonly string[];
}

/** An adapter as a person asks for it. */
export interface LoraOptions {
  readonly rank: number;
  /** By default twice the rank. */
  readonly alpha?: number;
  /** The matrices of attention, of the feed-forward block, both (the default), or those named. */
  readonly targets?: 'attention' | 'mlp' | 'all' | readonly string[];
}

/** @throws TurnwiseError `config-invalid` for a rank, alpha or target that cannot be used. */
export function resolveLora(shape: DecoderShape, options: LoraOptions): LoraShape {
  const { rank, alpha = 2 * rank, targets = 'all' } = options;
  const mlp = mlpTargets.filter((name) => shape.activation === 'swiglu' || name !== 'gate_proj');
  const named = { attention: attentionTargets, mlp, all: [...attentionTargets, ...mlp] };
  const list = typeof targets === 'string' ? named[targets] : targets;
  const lora = { rank, alpha, targets: [...new Set(list)].sort() };
  checkLora(shape, lora);
  return lora;
}

/** @throws TurnwiseError `config-invalid` for a rank, alpha or target that cannot be used. */
export function checkLora(shape: DecoderShape, { rank, alpha, targets }: LoraShape): void {
  const invalid = (key: string, seen: unknown, allowed: string): TurnwiseError =>
    new TurnwiseError('config-invalid', {
      what: `A LoRA adapter cannot have this ${key}`,
      seen: JSON.stringify(seen),
      allowed,
      fields: { key },
    });
  if (!(Number.isInteger(rank) && rank >= 1)) throw invalid('rank', rank, 'a whole number, at least 1');
  if (!(alpha > 0 && Number.isFinite(alpha))) throw invalid('alpha', alpha, 'a number above 0');
  const possible = parameterShapes(shape)
    .filter(({ name, kind }) => kind === 'matrix' && name.startsWith('model.layers.0.'))
    .map(({ name }) => name.split('.').at(-2)!);
  const unknown = targets.find((name) => !possible.includes(name));
  if (unknown !== undefined || targets.length === 0)
    throw invalid('target', unknown ?? targets, possible.join(', '));
}

/** Names of the two factors of the adapter of `weight`, as `peft` saves them. A is [rank, inputs], B [outputs, rank]. */
export function factorNames(weight: string): { readonly a: string; readonly b: string } {
  const module = `base_model.model.${weight.replace(/\.weight$/, '')}`;
  return { a: `${module}.lora_A.weight`, b: `${module}.lora_B.weight` };
}

/** Whether the matrix of this name has an adapter. */
export function isTarget({ targets }: LoraShape, weight: string): boolean {
  return targets.includes(weight.split('.').at(-2)!);
}

/** The adapter's parameters, in the order of the matrices that they belong to. */
export function adapterShapes(shape: DecoderShape, lora: LoraShape): readonly ParameterShape[] {
  return parameterShapes(shape)
    .filter(({ name, kind }) => kind === 'matrix' && isTarget(lora, name))
    .flatMap(({ name, shape: [outputs, inputs] }) => {
      const { a, b } = factorNames(name);
      return [
        { name: a, shape: [lora.rank, inputs!], kind: 'matrix' },
        { name: b, shape: [outputs!, lora.rank], kind: 'matrix' },
      ] as const;
    });
}

/** First values: A uniform within 1 / sqrt(inputs), as `peft` has it, and B zero, so that the adapter changes nothing. */
export function initialAdapter(shape: DecoderShape, lora: LoraShape, rng: Rng): Map<string, Weight> {
  return new Map(
    adapterShapes(shape, lora).map(({ name, shape: sizes }) => {
      const [rows, columns] = sizes as readonly [number, number];
      const data = new Float32Array(rows * columns);
      if (name.endsWith('lora_A.weight')) {
        const stream = rng.fork(name);
        for (let i = 0; i < data.length; i++) data[i] = (2 * stream.next() - 1) / Math.sqrt(columns);
      }
      return [name, { shape: sizes, data }];
    }),
  );
}

/** `plain` = x W^T with scale * (x A^T) B^T added, where the matrix called `weight`, [outputs, inputs], has an adapter. */
export function addLowRank(
  lora: LoraShape,
  plain: Tensor,
  x: Tensor,
  weight: string,
  [outputs, inputs]: readonly number[],
): Tensor {
  if (!isTarget(lora, weight)) return plain;
  const names = factorNames(weight);
  const a = x.graph.parameter(names.a, [lora.rank, inputs!]);
  const b = x.graph.parameter(names.b, [outputs!, lora.rank]);
  const scale = lora.alpha / lora.rank;
  return add(plain, matmul(matmul(x, a, { transposeB: true }), b, { transposeB: true, scale }));
}

/** W + scale * B A, in double precision before rounding; matrices without an adapter as they are. */
export function mergedWeight(lora: LoraShape, adapter: Weights, name: string, base: Weight): Weight {
  if (base.shape.length !== 2 || !isTarget(lora, name)) return base;
  const [outputs, inputs] = base.shape as readonly [number, number];
  const names = factorNames(name);
  const a = adapter.get(names.a)!.data;
  const b = adapter.get(names.b)!.data;
  const { rank } = lora;
  const scale = lora.alpha / rank;
  const data = new Float32Array(base.data.length);
  const row = new Float64Array(inputs);
  for (let output = 0; output < outputs; output++) {
    row.fill(0);
    for (let k = 0; k < rank; k++) {
      const factor = b[output * rank + k]! * scale;
      for (let input = 0; input < inputs; input++) row[input]! += factor * a[k * inputs + input]!;
    }
    const start = output * inputs;
    for (let input = 0; input < inputs; input++)
      data[start + input] = base.data[start + input]! + row[input]!;
  }
  return { shape: base.shape, data };
}
