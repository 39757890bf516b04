/** The graph: one append-only list of nodes. Operators describe their shape, their ONNX form and their derivative. */

import { TurnwiseError } from '../core/errors.ts';
import { canonical, formatShape } from './dimension.ts';
import type { Dim, DType, Tensor } from './tensor.ts';

export type Attributes = Readonly<Record<string, number | string | boolean | readonly Dim[] | undefined>>;

export interface TensorType {
  readonly shape: readonly Dim[];
  readonly dtype: DType;
}

export type ConstantValues = Float32Array | BigInt64Array;

/** A tensor as its graph sees it. */
export interface Node<A extends Attributes = Attributes> extends Tensor {
  readonly operator: Operator<A>;
  readonly inputs: readonly Node[];
  readonly attributes: A;
  /** For constants only. */
  readonly values?: ConstantValues;
}

/** One entry of the closed set of operators. */
export interface Operator<A extends Attributes = Attributes> {
  readonly name: string;
  /** The result's shape and type. Throws `shape-mismatch` where the inputs do not fit. */
  infer(inputs: readonly Tensor[], attributes: A): TensorType;
  /** Writes ONNX nodes and returns the name of the result. `inputs` are the names of the inputs' values. */
  emit(emission: Emission, inputs: readonly string[], node: Node<A>): string;
  /**
   * The vector-Jacobian product: for the gradient at the result, the gradient at each input (undefined: none flows).
   * An operator without it is a wall when `isConstant`, and an error to differentiate otherwise.
   */
  backward?(gradient: Tensor, node: Node<A>): readonly (Tensor | undefined)[];
  /** The derivative is zero everywhere it exists (comparisons, rounding, a stopped gradient). */
  readonly isConstant?: boolean;
}

/** An ONNX attribute: integers and strings as they are, floats wrapped so that 1.0 and 1 stay apart. */
export type OnnxAttribute = number | string | readonly number[] | { readonly float: number };

/** What an operator may ask of the ONNX writer. */
export interface Emission {
  /** Adds an ONNX node and returns the name of its first output. */
  node(
    type: string,
    inputs: readonly string[],
    attributes?: Readonly<Record<string, OnnxAttribute>>,
    domain?: 'com.microsoft',
  ): string;
  /** Adds an ONNX node with several outputs. */
  nodes(
    outputs: number,
    type: string,
    inputs: readonly string[],
    attributes?: Readonly<Record<string, OnnxAttribute>>,
    domain?: 'com.microsoft',
  ): readonly string[];
  /** An int64 vector. */
  integers(values: readonly number[]): string;
  /** A float32 scalar. */
  scalar(value: number): string;
  /** An int64 vector holding a shape, read from the inputs at run time where it is symbolic. */
  shape(dimensions: readonly Dim[]): string;
  /** Remembers a second result of a node under its id, for an operator that reads it. */
  keep(node: Tensor, name: string): void;
  kept(node: Tensor): string;
}

const inputOperator: Operator<{ name: string; shape: readonly Dim[]; dtype: DType }> = {
  name: 'input',
  infer: (_inputs, { shape, dtype }) => ({ shape, dtype }),
  emit: (_emission, _inputs, node) => node.attributes.name,
};

const parameterOperator: Operator<{ name: string; shape: readonly Dim[] }> = {
  name: 'parameter',
  infer: (_inputs, { shape }) => ({ shape, dtype: 'float32' }),
  emit: (_emission, _inputs, node) => node.attributes.name,
};

/** Constants are written by the ONNX writer itself, which owns the initializers. */
const constantOperator: Operator<{ shape: readonly Dim[]; dtype: DType; key?: string | undefined }> = {
  name: 'constant',
  infer: (_inputs, { shape, dtype }) => ({ shape, dtype }),
  emit: (_emission, _inputs, node) => `constant_${node.id}`,
};

export class Graph {
  readonly nodes: Node[] = [];
  readonly #known = new Map<string, Node>();
  readonly #names = new Map<string, Node>();

  /** A value fed at run time, no gradient. Asking again for the same name, shape and type gives the same tensor. */
  input(name: string, shape: readonly Dim[], dtype: DType = 'float32'): Tensor {
    return this.#named(inputOperator, { name, shape: shape.map(canonical), dtype });
  }

  /** A value fed at run time that the loss is differentiated by: a weight. */
  parameter(name: string, shape: readonly number[]): Tensor {
    return this.#named(parameterOperator, { name, shape: shape.map(canonical) });
  }

  /** A value written into the graph. A number is a scalar; a plain array is float32 of one axis unless `shape` says more. */
  constant(values: number | ConstantValues | readonly number[], shape?: readonly number[]): Tensor {
    const data =
      typeof values === 'number'
        ? Float32Array.of(values)
        : values instanceof Float32Array || values instanceof BigInt64Array
          ? values
          : Float32Array.from(values);
    const dimensions = shape ?? (typeof values === 'number' ? [] : [data.length]);
    if (dimensions.reduce((total, size) => total * size, 1) !== data.length) {
      throw new TurnwiseError('shape-mismatch', {
        what: 'A constant has another number of values than its shape',
        seen: `${data.length} values for ${formatShape(dimensions)}`,
      });
    }
    const dtype = data instanceof BigInt64Array ? 'int64' : 'float32';
    const key = data.length === 1 ? `${Object.is(data[0], -0) ? '-0' : data[0]}` : String(this.nodes.length);
    return this.#add(constantOperator, [], { shape: dimensions, dtype, key }, data);
  }

  /** Adds a node, or returns the node that already computes the same thing. */
  apply<A extends Attributes>(operator: Operator<A>, inputs: readonly Tensor[], attributes: A): Tensor {
    return this.#add(operator, inputs, attributes);
  }

  /** The node behind a tensor of this graph. */
  node(tensor: Tensor): Node {
    const node = this.nodes[tensor.id];
    if (node !== tensor) {
      throw new TurnwiseError('foreign-tensor', {
        what: 'A tensor was used in a graph that it does not belong to',
        next: 'Create all tensors of a computation from one Graph',
      });
    }
    return node as Node;
  }

  #named<A extends Attributes & { name: string }>(operator: Operator<A>, attributes: A): Tensor {
    const node = this.#add(operator, [], attributes);
    const known = this.#names.get(attributes.name) ?? node;
    if (known !== node) {
      throw new TurnwiseError('duplicate-input', {
        what: 'Two inputs of a graph have the same name but another shape, type or kind',
        seen: `'${attributes.name}' as ${known.operator.name} ${formatShape(known.shape)} ${known.dtype} and as ${operator.name} ${formatShape(node.shape)} ${node.dtype}`,
      });
    }
    this.#names.set(attributes.name, node);
    return node;
  }

  #add<A extends Attributes>(
    operator: Operator<A>,
    inputs: readonly Tensor[],
    attributes: A,
    values?: ConstantValues,
  ): Node {
    const parents = inputs.map((input) => this.node(input));
    const key = `${operator.name}(${parents.map((parent) => parent.id).join()})${JSON.stringify(attributes)}`;
    const known = this.#known.get(key);
    if (known) return known;
    const { shape, dtype } = operator.infer(parents, attributes);
    const node: Node = {
      graph: this,
      id: this.nodes.length,
      shape,
      dtype,
      operator,
      inputs: parents,
      attributes,
      ...(values && { values }),
    };
    this.nodes.push(node);
    this.#known.set(key, node);
    return node;
  }
}
