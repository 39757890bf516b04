/** Rows of a batch as data of the Tinker API, and its answers as rows again. */

import type { NamedLoss } from '../../objective/named-losses.ts';
import { garbled } from '../../wire/tinker/garbled.ts';
import type { Datum, ForwardBackwardOutput, NumberArray } from '../../wire/tinker/shapes.ts';
import type { BatchRow, TokenTargets } from '../engine.ts';
import type { TokenRow } from '../token-batch.ts';

/** Rows are aligned with their tokens; data with what each token predicts, which is one place further left. */
function datum(row: BatchRow, inputs: Readonly<Record<string, NumberArray>>): Datum {
  return {
    tokens: row.ids_T.subarray(0, -1),
    inputs: { target_tokens: row.ids_T.slice(1), ...inputs },
  };
}

/** Whether no two targets are the same token of a row: the API has one number of a kind for each token. */
export function areApart({ row_N, position_N }: TokenTargets): boolean {
  return new Set(Array.from(row_N, (row, target) => `${row} ${position_N[target]}`)).size === row_N.length;
}

/** Numbers of targets by row, aligned with its tokens; several of one token are added up. */
export function byToken(
  rows: readonly BatchRow[],
  { row_N, position_N }: TokenTargets,
  values_N: Float32Array,
): Float32Array[] {
  const values_B = rows.map(({ ids_T }) => new Float32Array(ids_T.length));
  for (const [target, value] of values_N.entries()) values_B[row_N[target]!]![position_N[target]!]! += value;
  return values_B;
}

/** The rows with the channels of their targets, which are 0 on other tokens. */
export function rowsOf(
  rows: readonly BatchRow[],
  targets: TokenTargets,
  names: readonly string[],
): TokenRow[] {
  const channels = names.map((name) => [name, byToken(rows, targets, targets.channels[name]!)] as const);
  return rows.map(({ ids_T }, row) => ({
    ids_T,
    channels: Object.fromEntries(channels.map(([name, values_B]) => [name, values_B[row]!])),
  }));
}

/** For a forward pass that only wants log-probabilities. */
export function bareDatum(row: BatchRow): Datum {
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
export function surrogateDatum(row: BatchRow, logprobs_T: Float32Array, gradients_T: Float32Array): Datum {
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
  row: BatchRow,
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

/** What is asked of a server for rows that predict anything: rows of a single token have zeros. */
export async function ofPredicting<Row extends BatchRow>(
  rows: readonly Row[],
  ask: (rows: readonly Row[]) => Promise<readonly Float32Array[]>,
): Promise<Float32Array[]> {
  const asked = rows.filter(({ ids_T }) => ids_T.length > 1);
  const found = asked.length === 0 ? [] : await ask(asked);
  let next = 0;
  return rows.map(({ ids_T }) => (ids_T.length > 1 ? found[next++]! : new Float32Array(ids_T.length)));
}

/** Log-probabilities aligned with the rows; servers write not-a-number where they could not compute one. */
export function logprobsOf(rows: readonly BatchRow[], { outputs }: ForwardBackwardOutput): Float32Array[] {
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
