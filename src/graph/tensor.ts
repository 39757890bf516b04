/** Symbolic tensors: what an author of a computation holds. They carry a shape and a type, never values. */

import type { Graph } from './graph.ts';

/**
 * The size of one axis: a number, or an expression over names that is fixed only when the graph runs: `'B'`, `'T-1'`,
 * `'B*T'`, `'4*B*(T-1)'`.
 */
export type Dim = number | string;

export type DType = 'float32' | 'int64' | 'bool';

/** A value in a graph. Create them with a `Graph` and the functions in `operators/`. */
export interface Tensor {
  readonly graph: Graph;
  /** Position in the graph; inputs of a tensor have smaller ids. */
  readonly id: number;
  readonly shape: readonly Dim[];
  readonly dtype: DType;
}
