/** Rows of a batch as data of the Tinker API, and its answers as rows again. */

import type { NamedLoss } from '../../objective/named-losses.ts';
import { garbled } from '../../wire/tinker/garbled.ts';
import type { Datum, ForwardBackwardOutput, NumberArray } from '../../wire/tinker/shapes.ts';
import type { TokenRow } from '../engine.ts';

/** Rows are aligned with their tokens; data with what each token predicts, which is one place further left. */
function datum(row: TokenRow, inputs: Readonly<Record<string, NumberArray>>): Datum {
  return {
    tokens: row.ids_T.subarray(0, -1),
    inputs: { target_tokens: row.ids_T.slice(1), ...inputs },
  };
}

/** For a forward pass that only wants log-probabilities. */
export function bareDatum(row: TokenRow): Datum {
  return datum(row, { weights: new Float32Array(row.ids_T.length - 1).fill(1) });
}

/** For a loss that the server knows and adds up: the weights go into what its loss is linear in. */
export function namedDatum(loss: NamedLoss, row: TokenRow): Datum {
  const weights = row.channels.weight!.slice(1);
  if (loss.name === 'cross_entropy') return datum(row, { weights });
  const advantages = row.channels.advantages!;
  return datum(row, {
    logprobs: row.channels.oldLogprobs!.slice(1),
    advantages: weights.map((weight, t) => weight * advantages[t + 1]!),
  });
}

/** The surrogate that has the gradient of C where ratio is 1: importance sampling with advantages -dC/dlog π. */
export function surrogateDatum(row: TokenRow, logprobs_T: Float32Array, gradients_T: Float32Array): Datum {
  return datum(row, {
    logprobs: logprobs_T.slice(1),
    advantages: gradients_T.slice(1).map((value) => -value),
  });
}

/**
 * The same for a server that divides each datum by its weights and averages over `count` data: tokens that matter weigh 1, all
 * others 0, and the divisors are multiplied back.
 */
export function averagedSurrogateDatum(
  row: TokenRow,
  logprobs_T: Float32Array,
  gradients_T: Float32Array,
  count: number,
): Datum {
  const weights = Float32Array.from(gradients_T.subarray(1), (value) => (value === 0 ? 0 : 1));
  const trained = weights.reduce((sum, weight) => sum + weight, 0);
  return datum(row, {
    logprobs: logprobs_T.slice(1),
    advantages: gradients_T.slice(1).map((value) => -value * trained * count),
    weights,
  });
}

/** Log-probabilities aligned with the rows; servers write not-a-number where they could not compute one. */
export function logprobsOf(rows: readonly TokenRow[], { outputs }: ForwardBackwardOutput): Float32Array[] {
  return rows.map(({ ids_T }, index) => {
    const values = outputs[index]?.logprobs;
    if (values?.length !== ids_T.length - 1)
      throw garbled(
        `datum ${index} has another number of log-probabilities than tokens`,
        `${values?.length ?? 'none'} for ${ids_T.length - 1}`,
      );
    const position = values.findIndex((value) => !Number.isFinite(value));
    if (position >= 0)
      throw garbled(
        `a log-probability of datum ${index} is not finite`,
        `${values[position]} at position ${position}`,
      );
    const aligned = new Float32Array(ids_T.length);
    aligned.set(values, 1);
    return aligned;
  });
}
