/** Reading by index, and the scatter-additions that are its gradients. */

import { product, sameShape, shapeMismatch } from '../dimension.ts';
import type { Emission, Operator } from '../graph.ts';
import type { Dim, Tensor } from '../tensor.ts';
import { add, multiply, negate, sameType } from './elementwise.ts';
import { logSoftmax } from './reduce.ts';
import { broadcastTo, reshape } from './shape.ts';
import { exp } from './unary.ts';

type Plain = Operator<Record<never, never>>;

const gatherRowsOperator: Plain = {
  name: 'gatherRows',
  infer: ([table, ids]) => {
    sameType('gatherRows', [ids!], ['int64']);
    if (table!.shape.length !== 2)
      throw shapeMismatch('gatherRows', [table!.shape, ids!.shape], 'a table of two axes');
    return { shape: [...ids!.shape, table!.shape[1]!], dtype: table!.dtype };
  },
  emit: (emission, inputs) => emission.node('Gather', inputs, { axis: 0 }),
  backward: (gradient, { inputs: [table, ids] }) => [
    scatterRows(gradient, ids!, table!.shape[0]!),
    undefined,
  ],
};

/** Adds rows into a zero table at the places the ids name: the gradient of `gatherRows`. */
const scatterRowsOperator: Operator<{ rows: Dim }> = {
  name: 'scatterRows',
  infer: ([, updates], { rows }) => ({ shape: [rows, updates!.shape.at(-1)!], dtype: 'float32' }),
  emit: (emission, [ids, updates], node) => {
    const width = node.shape[1] as number;
    const zeros = emission.node('Expand', [emission.scalar(0), emission.shape(node.shape)]);
    const flat = emission.node('Reshape', [updates!, emission.integers([-1, width])]);
    const column = emission.node('Reshape', [ids!, emission.integers([-1, 1])]);
    // ScatterND would run its additions on several threads, in no fixed order; this one always adds in the same order.
    const indices = emission.node('Expand', [column, emission.integers([1, width])]);
    return emission.node('ScatterElements', [zeros, indices, flat], { axis: 0, reduction: 'add' });
  },
  backward: (gradient, { inputs: [ids] }) => [undefined, gatherRows(gradient, ids!)],
};

const gatherLastOperator: Plain = {
  name: 'gatherLast',
  infer: ([x, ids]) => {
    sameType('gatherLast', [ids!], ['int64']);
    if (!sameShape(x!.shape.slice(0, -1), ids!.shape)) {
      throw shapeMismatch(
        'gatherLast',
        [x!.shape, ids!.shape],
        'ids shaped like the first tensor without its last axis',
      );
    }
    return { shape: ids!.shape, dtype: x!.dtype };
  },
  emit: (emission, [x, ids]) => {
    const column = lastAxisAdded(emission, ids!);
    const taken = emission.node('GatherElements', [x!, column], { axis: -1 });
    return emission.node('Squeeze', [taken, emission.integers([-1])]);
  },
  backward: (gradient, { inputs: [x, ids] }) => [
    scatterLast(broadcastTo(x!.graph.constant(0), x!.shape), ids!, gradient),
    undefined,
  ],
};

/** `base` with one value added on each row of its last axis. */
const scatterLastOperator: Plain = {
  name: 'scatterLast',
  infer: ([base, ids, updates]) => {
    sameType('scatterLast', [ids!], ['int64']);
    if (!sameShape(base!.shape.slice(0, -1), ids!.shape) || !sameShape(ids!.shape, updates!.shape)) {
      throw shapeMismatch(
        'scatterLast',
        [base!.shape, ids!.shape, updates!.shape],
        'ids and updates shaped like the first tensor without its last axis',
      );
    }
    return { shape: base!.shape, dtype: sameType('scatterLast', [base!, updates!], ['float32']) };
  },
  emit: (emission, [base, ids, updates]) =>
    emission.node(
      'ScatterElements',
      [base!, lastAxisAdded(emission, ids!), lastAxisAdded(emission, updates!)],
      {
        axis: -1,
        reduction: 'add',
      },
    ),
  backward: (gradient, { inputs: [, ids] }) => [gradient, undefined, gatherLast(gradient, ids!)],
};

function lastAxisAdded(emission: Emission, name: string): string {
  return emission.node('Unsqueeze', [name, emission.integers([-1])]);
}

/** Reads its third input, the log-softmax, and sends the whole gradient to the first, the logits. */
const gatherLogSoftmaxOperator: Plain = {
  name: 'gatherLogSoftmax',
  infer: ([logits, ids]) => gatherLastOperator.infer([logits!, ids!], {}),
  emit: (emission, [, ids, logProbabilities], node) =>
    gatherLastOperator.emit(emission, [logProbabilities!, ids!], node),
  backward: (gradient, { inputs: [, ids, logProbabilities] }) => {
    const spread = multiply(exp(logProbabilities!), reshape(negate(gradient), [...gradient.shape, 1]));
    return [scatterLast(spread, ids!, gradient), undefined, undefined];
  },
};

/** Rows of a [V, D] table by int64 ids [...]: [..., D]. Repeated ids add their gradients. */
export function gatherRows(table: Tensor, ids: Tensor): Tensor {
  return table.graph.apply(gatherRowsOperator, [table, ids], {});
}

/** `updates` [..., D] added up in a zero table of so many rows, at the rows that int64 `ids` [...] name: [rows, D]. */
export function scatterRows(updates: Tensor, ids: Tensor, rows: Dim): Tensor {
  return updates.graph.apply(scatterRowsOperator, [ids, updates], { rows });
}

/**
 * Several values of some rows of a [R, V] table: by int64 `rows` [N] and `ids` [N, k], [N, k]. Its gradient adds N · k numbers,
 * however wide the rows are.
 */
export function gatherEach(table: Tensor, rows: Tensor, ids: Tensor): Tensor {
  const [height, width] = table.shape;
  if (table.shape.length !== 2 || typeof width !== 'number' || !sameShape(ids.shape.slice(0, 1), rows.shape))
    throw shapeMismatch(
      'gatherEach',
      [table.shape, rows.shape, ids.shape],
      'a table of two axes, N rows, and ids for each of them',
    );
  const places = add(reshape(multiply(rows, width), [...rows.shape, 1]), ids);
  const flat = reshape(table, [product([height!, width]), 1]);
  return reshape(gatherRows(flat, places), ids.shape);
}

/** One value from the last axis of [..., V] by int64 ids [...]: [...]. */
export function gatherLast(x: Tensor, ids: Tensor): Tensor {
  return x.graph.apply(gatherLastOperator, [x, ids], {});
}

/** `base` [..., V] plus `updates` [...] at int64 `ids` [...] of the last axis. */
export function scatterLast(base: Tensor, ids: Tensor, updates: Tensor): Tensor {
  return base.graph.apply(scatterLastOperator, [base, ids, updates], {});
}

/**
 * The log-probability of int64 `ids` [...] under `logits` [..., V]: [...]. The gradient, one-hot minus softmax, is made
 * from the log-softmax of the forward pass, which `logSoftmax(logits)` shares.
 */
export function gatherLogSoftmax(logits: Tensor, ids: Tensor): Tensor {
  return logits.graph.apply(gatherLogSoftmaxOperator, [logits, ids, logSoftmax(logits)], {});
}
