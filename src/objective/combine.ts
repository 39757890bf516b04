/** Several objectives as one: a policy and a value loss in one backward pass. */

import { add } from '../graph/operators/elementwise.ts';
import type { Tensor } from '../graph/tensor.ts';
import type { Objective } from './objective.ts';

/** The sum of the losses, with the metrics of all. Coefficients belong to the parts. */
export function combine(parts: readonly [Objective, ...Objective[]]): Objective {
  return {
    key: parts.map((part) => part.key).join(' + '),
    channels: [...new Set(parts.flatMap((part) => part.channels))],
    needs: Object.assign({}, ...parts.map((part) => part.needs)) as Objective['needs'],
    build: (tokens) => {
      const built = parts.map((part) => part.build(tokens));
      const losses = built.map((part) => part.loss);
      return {
        loss: losses.reduce((total: Tensor, loss: Tensor) => add(total, loss)),
        metrics: Object.assign({}, ...built.map((part) => part.metrics)) as Record<string, Tensor>,
      };
    },
  };
}
