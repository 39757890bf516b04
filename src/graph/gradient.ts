/** Reverse-mode differentiation: the gradient is built as more nodes of the same graph. */

import { TurnwiseError } from '../core/errors.ts';
import { formatShape } from './dimension.ts';
import type { Node } from './graph.ts';
import { add } from './operators/elementwise.ts';
import { broadcastTo } from './operators/shape.ts';
import type { Tensor } from './tensor.ts';

/**
 * The gradients of a scalar `loss` with respect to float32 tensors it was computed from, each shaped like its tensor;
 * zeros where the loss does not depend on it. Nothing flows further back than `ends`: what their inputs would get from
 * them is left to the caller.
 */
export function gradients(loss: Tensor, wrt: readonly Tensor[], ends: readonly Tensor[] = []): Tensor[] {
  const { graph } = loss;
  if (loss.shape.length > 0 || loss.dtype !== 'float32') {
    throw new TurnwiseError('shape-mismatch', {
      what: 'Only a float32 scalar can be differentiated',
      seen: `${loss.dtype} ${formatShape(loss.shape)}`,
      next: 'Reduce the loss with sum() or mean()',
    });
  }
  const lossNode = graph.node(loss);
  const depends = dependents(graph.nodes.slice(0, lossNode.id + 1), wrt);
  const last = new Set(ends.map((tensor) => tensor.id));
  const found = new Map<number, Tensor>([[lossNode.id, graph.constant(1)]]);
  for (let id = lossNode.id; id >= 0; id--) {
    const node = graph.nodes[id]!;
    const gradient = found.get(id);
    if (!gradient || !depends[id] || node.inputs.length === 0 || node.operator.isConstant || last.has(id)) {
      continue;
    }
    if (!node.operator.backward) {
      throw new TurnwiseError('not-differentiable', {
        what: `The operator '${node.operator.name}' has no derivative here`,
        next: 'Wrap what needs no gradient in stopGradient()',
      });
    }
    for (const [index, contribution] of node.operator.backward(gradient, node).entries()) {
      const input = node.inputs[index]!;
      if (!contribution || !depends[input.id]) continue;
      const sofar = found.get(input.id);
      found.set(input.id, sofar ? add(sofar, contribution) : contribution);
    }
  }
  return wrt.map((tensor) => found.get(tensor.id) ?? broadcastTo(graph.constant(0), tensor.shape));
}

/** For every node up to the loss, whether it depends on one of `wrt` through something differentiable. */
function dependents(nodes: readonly Node[], wrt: readonly Tensor[]): boolean[] {
  const wanted = new Set(wrt.map((tensor) => tensor.id));
  const depends: boolean[] = [];
  for (const node of nodes) {
    const through = !node.operator.isConstant && node.inputs.some((input) => depends[input.id]);
    depends.push(wanted.has(node.id) || through);
  }
  return depends;
}
