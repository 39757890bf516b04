/** Data of the API as rows of our engine, and what comes out of a pass as the API wants it. */

import type { Engine } from '../../engine/engine.ts';
import { batchOf, type TokenRow } from '../../engine/token-batch.ts';
import type { LogprobEvaluator } from '../../objective/contract/at-logprobs.ts';
import { type NamedLoss, namedLoss, objectiveOf } from '../../objective/named-losses.ts';
import type { Datum, ForwardBackwardOutput, ForwardBackwardRequest } from '../../wire/tinker/shapes.ts';
import { invalid } from './refusals.ts';

/** By their names in the API, the channels that policy losses read. */
const channelNames: Readonly<Record<string, string>> = { advantages: 'advantages', logprobs: 'oldLogprobs' };

export interface Pass {
  readonly loss: NamedLoss;
  readonly rows: readonly TokenRow[];
  readonly forwardOnly: boolean;
}

/** @throws TurnwiseError `loss-unknown`, `invalid-objective-option`, `request-invalid`, naming the datum */
export function preparePass(request: ForwardBackwardRequest): Pass {
  const loss = namedLoss(request.lossName, request.lossConfig);
  if (request.data.length === 0) throw invalid('There are no data', 'an empty list', 'at least one datum');
  return {
    loss,
    rows: request.data.map((datum, index) => rowOf(datum, index, loss)),
    forwardOnly: request.forwardOnly,
  };
}

function rowOf({ tokens, inputs }: Datum, index: number, loss: NamedLoss): TokenRow {
  const length = tokens.length;
  if (length === 0) throw invalid(`Datum ${index} has no tokens`);
  const needed = loss.channels.length > 0 ? Object.keys(channelNames) : [];
  for (const name of Object.keys(inputs))
    if (![...needed, 'target_tokens', 'weights'].includes(name))
      throw invalid(
        `The loss ${loss.name} has no input "${name}"`,
        `in datum ${index}`,
        ['target_tokens', 'weights', ...needed].join(', '),
      );
  const input = (name: string) => {
    const values = inputs[name];
    if (values?.length !== length)
      throw invalid(
        `Datum ${index} has no usable ${name}`,
        values ? `${values.length} values` : 'nothing',
        `${length} values, one for each token`,
      );
    return values;
  };
  const targets = input('target_tokens');
  const ids_T = new Int32Array(length + 1);
  ids_T.set(tokens);
  ids_T[length] = targets[length - 1]!;
  const other = targets.findIndex((target, t) => target !== ids_T[t + 1]);
  if (other >= 0)
    throw invalid(
      `The targets of datum ${index} are not its next tokens`,
      `${targets[other]} at position ${other}`,
      `${ids_T[other + 1]}, the next token of model_input`,
    );
  const shifted = (values: ArrayLike<number>): Float32Array => {
    const channel = new Float32Array(length + 1);
    channel.set(values, 1);
    return channel;
  };
  return {
    ids_T,
    mask_T: new Uint8Array(length + 1).fill(1),
    channels: {
      weight: 'weights' in inputs ? shifted(input('weights')) : new Float32Array(length + 1).fill(1),
      ...Object.fromEntries(needed.map((name) => [channelNames[name]!, shifted(input(name))])),
    },
  };
}

/** Adds the gradient of the sum of the losses, unless `forwardOnly`. */
export async function runPass(
  engine: Engine,
  evaluator: LogprobEvaluator,
  { loss, rows, forwardOnly }: Pass,
): Promise<ForwardBackwardOutput> {
  const temperature = 1;
  const batch = batchOf(rows);
  const { logprobs } = await engine.score(batch, { temperature });
  if (!forwardOnly) await engine.forwardBackward(batch, objectiveOf(loss), { temperature });
  const losses = await evaluator.targetLosses(loss, {
    ...batch.targets,
    ids_N: Int32Array.from(rows.flatMap(({ ids_T }) => [...ids_T.subarray(1)])),
    logprobs_N: Float32Array.from(logprobs.flatMap((ofRow) => [...ofRow.subarray(1)])),
  });
  let [total, first] = [0, 0];
  const outputs = rows.map(({ ids_T, channels }, index) => {
    const own = losses.subarray(first, first + ids_T.length - 1);
    first += own.length;
    const elementwise_loss = own.map((value, t) => value * channels.weight![t + 1]!);
    total += elementwise_loss.reduce((sum, value) => sum + value, 0);
    return { elementwise_loss, logprobs: logprobs[index]!.slice(1) };
  });
  return { outputs, metrics: { 'loss:sum': total } };
}
