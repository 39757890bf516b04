/** The largest numbers of the last axis, and where they stand. No gradient flows through them. */

import type { Operator } from '../graph.ts';
import type { Tensor } from '../tensor.ts';
import { sameType } from './elementwise.ts';

const topValuesOperator: Operator<{ count: number }> = {
  name: 'topValues',
  isConstant: true,
  infer: ([x], { count }) => ({
    shape: [...x!.shape.slice(0, -1), count],
    dtype: sameType('topValues', [x!], ['float32']),
  }),
  emit: (emission, [x], node) => {
    const { count } = node.attributes;
    const [values, ids] = emission.nodes(2, 'TopK', [x!, emission.integers([count])], { axis: -1 });
    emission.keep(node, ids!);
    return values!;
  },
};

/** Reads the second result of `topValues`. */
const topIdsOperator: Operator<Record<never, never>> = {
  name: 'topIds',
  isConstant: true,
  infer: ([values]) => ({ shape: values!.shape, dtype: 'int64' }),
  emit: (emission, _inputs, node) => emission.kept(node.inputs[0]!),
};

/**
 * The `count` largest of the last axis of [..., V], in falling order, and their places as int64: [..., count] each. Of equal
 * numbers the first comes first.
 */
export function top(x: Tensor, count: number): { readonly values: Tensor; readonly ids: Tensor } {
  const values = x.graph.apply(topValuesOperator, [x], { count });
  return { values, ids: x.graph.apply(topIdsOperator, [values], {}) };
}
