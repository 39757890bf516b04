/** The guard around an objective that a user wrote: what it gives must fit the step. */

import { badDefinition, callDefinition } from '../../core/definition.ts';
import type { Objective, Prepared, StepView } from './objective.ts';

/** The same objective, refusing losses that are none and channels that do not fit the targets. */
export function checkedObjective(objective: Objective, subject: string): Objective {
  const { channels, needs, build, prepare } = objective;
  if (!Array.isArray(channels) || typeof needs !== 'object' || typeof build !== 'function') {
    throw badDefinition(subject, 'made no objective', objective, 'channels, needs and build');
  }
  return {
    ...objective,
    build(tokens) {
      const built = callDefinition(subject, () => objective.build(tokens));
      const { loss, metrics } = built ?? {};
      if (loss?.graph !== tokens.logprobs.graph || loss.shape.length !== 0) {
        const seen = loss?.shape ? `[${loss.shape.join(', ')}]` : loss;
        throw badDefinition(subject, 'must build one loss', seen, 'a scalar tensor: sum over targets');
      }
      return { loss, metrics: metrics ?? {} };
    },
    ...(prepare && {
      prepare: (step: StepView) =>
        checkPrepared(
          callDefinition(subject, () => objective.prepare!(step)),
          step,
          subject,
        ),
    }),
  };
}

function checkPrepared(prepared: Prepared, { row_N }: StepView, subject: string): Prepared {
  for (const [name, values] of Object.entries(prepared?.channels ?? {})) {
    const numbers = values?.length / row_N.length;
    if (values instanceof Float32Array && (row_N.length === 0 || (numbers >= 1 && numbers % 1 === 0)))
      continue;
    throw badDefinition(
      subject,
      `prepared the channel "${name}" with the wrong length`,
      values,
      `${row_N.length} numbers as a Float32Array, one for each target`,
    );
  }
  return { ...prepared, channels: prepared?.channels ?? {} };
}
