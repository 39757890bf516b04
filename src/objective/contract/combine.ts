/** Several objectives as one: a policy and a value loss in one backward pass. */

import { add } from '../../graph/operators/elementwise.ts';
import type { Tensor } from '../../graph/tensor.ts';
import type { Objective, ObjectiveNeeds, Prepared, StepView } from './objective.ts';

/** The sum of the losses, with the metrics of all. Coefficients belong to the parts. */
export function combine(parts: readonly [Objective, ...Objective[]]): Objective {
  const prepared = parts.flatMap(({ prepare }) => prepare ?? []);
  return {
    key: parts.map((part) => part.key).join(' + '),
    channels: union(parts.map((part) => part.channels)),
    needs: combineNeeds(parts.map((part) => part.needs)),
    ...(prepared.length > 0 && {
      prepare: (step: StepView) => combinePrepared(prepared.map((make) => make(step))),
    }),
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

function union(lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())];
}

function combineNeeds(needs: readonly ObjectiveNeeds[]): ObjectiveNeeds {
  const heads = union(needs.map((need) => need.heads ?? []));
  const scores = needs.flatMap((need) => need.scores ?? []);
  const readHeads = union(scores.map((score) => score.heads ?? []));
  const frozenHeads = union(scores.map((score) => score.frozenHeads ?? []));
  return {
    ...(Object.assign({}, ...needs) as ObjectiveNeeds),
    ...(heads.length > 0 && { heads }),
    ...(scores.length > 0 && {
      scores: {
        ...(readHeads.length > 0 && { heads: readHeads }),
        ...(frozenHeads.length > 0 && { frozenHeads }),
      },
    }),
  };
}

function combinePrepared(all: readonly Prepared[]): Prepared {
  return {
    channels: Object.assign({}, ...all.map(({ channels }) => channels)) as Prepared['channels'],
    loss: all.reduce((total, { loss = 0 }) => total + loss, 0),
    metrics: Object.assign({}, ...all.map(({ metrics }) => metrics)) as Record<string, number>,
  };
}
