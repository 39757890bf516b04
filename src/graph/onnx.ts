/** Writes the part of a graph that its outputs need as an ONNX model. */

import { TurnwiseError } from '../core/errors.ts';
import { factors } from './dimension.ts';
import type { ConstantValues, Emission, Node, OnnxAttribute } from './graph.ts';
import { appendInitializers, encodeModel, type OnnxModel, type OnnxTensor } from './protobuf.ts';
import type { Dim, DType, Tensor } from './tensor.ts';

export interface OnnxOptions {
  /** Parameters that are not to be inputs of the model: `withInitializers` gives them their values. */
  readonly initializers?: ReadonlySet<string>;
}

/**
 * The bytes of an ONNX model that computes `outputs` by name. Its inputs are the graph's inputs and parameters that the
 * outputs need, less those named as initializers.
 */
export function toOnnx(outputs: Readonly<Record<string, Tensor>>, options: OnnxOptions = {}): Uint8Array {
  const roots = Object.entries(outputs);
  const writer = new Writer(reachable(roots.map(([, tensor]) => tensor)), options.initializers ?? new Set());
  return encodeModel(writer.model(roots));
}

/** A model of `toOnnx` with values for what was named as its initializers. */
export function withInitializers(
  model: Uint8Array,
  weights: ReadonlyMap<string, { readonly shape: readonly number[]; readonly data: Float32Array }>,
): Uint8Array {
  const tensors = [...weights].map(([name, { shape, data }]) => ({
    name,
    dtype: 'float32' as const,
    shape,
    values: data,
  }));
  for (const tensor of tensors) checkSize(tensor);
  return appendInitializers(model, tensors);
}

function checkSize({ name, shape, values }: OnnxTensor): void {
  if (shape.reduce((total, size) => total * size, 1) === values.length) return;
  throw new TurnwiseError('shape-mismatch', {
    what: `The initializer '${name}' has another number of values than its shape`,
    seen: `${values.length} values for [${shape.join(', ')}]`,
  });
}

/** The nodes that these tensors are computed from, in the order of the graph. */
export function reachable(tensors: readonly Tensor[]): Node[] {
  const seen = new Map<number, Node>();
  const waiting = tensors.map((tensor) => tensors[0]!.graph.node(tensor));
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (seen.has(node.id)) continue;
    seen.set(node.id, node);
    waiting.push(...node.inputs);
  }
  return [...seen.values()].sort((a, b) => a.id - b.id);
}

type OnnxNode = OnnxModel['nodes'][number];

class Writer implements Emission {
  readonly #reachable: readonly Node[];
  readonly #given: ReadonlySet<string>;
  readonly #nodes: OnnxNode[] = [];
  readonly #initializers = new Map<string, OnnxTensor>();
  readonly #names = new Map<number, string>();
  readonly #kept = new Map<number, string>();
  readonly #sizes = new Map<string, string>();
  #count = 0;

  constructor(nodes: readonly Node[], given: ReadonlySet<string>) {
    this.#reachable = nodes;
    this.#given = given;
  }

  model(roots: readonly (readonly [string, Tensor])[]): OnnxModel {
    const inputs: OnnxModel['inputs'][number][] = [];
    for (const node of this.#reachable) {
      const { name: kind } = node.operator;
      const { name } = node.attributes as { name: string };
      if (kind === 'constant')
        this.#names.set(node.id, this.#initializer(`constant_${node.id}`, node, node.values!));
      else {
        const names = node.inputs.map((input) => this.#names.get(input.id)!);
        this.#names.set(node.id, node.operator.emit(this, names, node));
        if (kind === 'input' || (kind === 'parameter' && !this.#given.has(name)))
          inputs.push({ name, dtype: node.dtype, shape: node.shape });
      }
    }
    const renamed = new Map<string, string>();
    for (const [name, tensor] of roots) {
      if (this.#initializers.has(name) || inputs.some((input) => input.name === name)) {
        throw new TurnwiseError('duplicate-input', {
          what: 'An output of a model has the name of one of its inputs',
          seen: `'${name}'`,
          next: 'Name the output differently',
        });
      }
      const own = this.#names.get(tensor.id)!;
      const isComputed = /^\d+$/.test(own) && !renamed.has(own);
      if (isComputed) renamed.set(own, name);
      else this.#nodes.push({ type: 'Identity', inputs: [own], outputs: [name], attributes: {}, domain: '' });
    }
    const rename = (name: string): string => renamed.get(name) ?? name;
    return {
      nodes: this.#nodes.map((node) => ({
        ...node,
        inputs: node.inputs.map(rename),
        outputs: node.outputs.map(rename),
      })),
      initializers: [...this.#initializers.values()],
      inputs,
      outputs: roots.map(([name, { dtype, shape }]) => ({ name, dtype, shape })),
    };
  }

  node(
    type: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
    domain: '' | 'com.microsoft' = '',
  ): string {
    return this.#append(1, type, inputs, attributes, domain)[0]!;
  }

  nodes(
    outputs: number,
    type: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
    domain: '' | 'com.microsoft' = '',
  ): readonly string[] {
    return this.#append(outputs, type, inputs, attributes, domain);
  }

  #append(
    count: number,
    type: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, OnnxAttribute>>,
    domain: '' | 'com.microsoft',
  ): readonly string[] {
    const outputs = Array.from({ length: count }, () => String(this.#count++));
    this.#nodes.push({ type, inputs, outputs, attributes, domain });
    return outputs;
  }

  integers(values: readonly number[]): string {
    const data = BigInt64Array.from(values, (value) => BigInt(value));
    return this.#initializer(`int64[${values.join()}]`, { dtype: 'int64', shape: [values.length] }, data);
  }

  scalar(value: number): string {
    return this.#initializer(`float32 ${value}`, { dtype: 'float32', shape: [] }, Float32Array.of(value));
  }

  shape(dimensions: readonly Dim[]): string {
    if (dimensions.every((dimension) => typeof dimension === 'number')) return this.integers(dimensions);
    const parts = dimensions.map((dimension) => this.#size(dimension));
    return parts.length === 1
      ? parts[0]!
      : this.#once(`concat ${parts.join()}`, 'Concat', parts, { axis: 0 });
  }

  keep(node: Tensor, name: string): void {
    this.#kept.set(node.id, name);
  }

  kept(node: Tensor): string {
    return this.#kept.get(node.id)!;
  }

  /** An int64 vector of one element: a size computed from the sizes of the inputs. */
  #size(dimension: Dim): string {
    const { coefficient, symbols } = factors(dimension);
    if (symbols.length === 0) return this.integers([coefficient]);
    const terms = symbols.map(({ name, offset }) => {
      const size = this.#inputSize(name);
      return offset === 0 ? size : this.#once(`${size}+${offset}`, 'Add', [size, this.integers([offset])]);
    });
    if (coefficient !== 1) terms.unshift(this.integers([coefficient]));
    return terms.reduce((total, term) => this.#once(`${total}*${term}`, 'Mul', [total, term]));
  }

  #inputSize(symbol: string): string {
    for (const { operator, attributes, shape } of this.#reachable) {
      if (operator.name !== 'input') continue;
      for (const [axis, size] of shape.entries()) {
        const { coefficient, symbols } = factors(size);
        if (coefficient !== 1 || symbols.length !== 1 || symbols[0]!.name !== symbol) continue;
        const input = attributes.name as string;
        const name = this.#once(`${input}#${axis}`, 'Shape', [input], {
          start: axis,
          end: axis + 1,
        });
        const { offset } = symbols[0]!;
        return offset === 0 ? name : this.#once(`${name}-${offset}`, 'Sub', [name, this.integers([offset])]);
      }
    }
    throw new TurnwiseError('shape-mismatch', {
      what: 'A symbolic size cannot be read from any input that the outputs need',
      seen: symbol,
      next: 'Give an input of the graph an axis of this size, or use a number',
    });
  }

  #once(
    key: string,
    type: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
  ): string {
    const known = this.#sizes.get(key) ?? this.node(type, inputs, attributes);
    this.#sizes.set(key, known);
    return known;
  }

  #initializer(name: string, type: { dtype: DType; shape: readonly Dim[] }, values: ConstantValues): string {
    const tensor = { name, dtype: type.dtype, shape: type.shape as readonly number[], values };
    checkSize(tensor);
    this.#initializers.set(name, tensor);
    return name;
  }
}
