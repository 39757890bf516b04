/**
 * Gradients at a server of the Tinker API. It knows losses by name; any other objective runs by the chain rule (see
 * `objective/contract/at-logprobs.ts`), for one more forward pass.
 */

import { LogprobEvaluator } from '../../objective/contract/at-logprobs.ts';
import type { Objective } from '../../objective/contract/objective.ts';
import type { NamedLoss } from '../../objective/named-losses.ts';
import type { BatchRow, ForwardBackwardResult, TokenBatch } from '../engine.ts';
import {
  areApart,
  averagedSurrogateDatum,
  bareDatum,
  byToken,
  logprobsOf,
  namedDatum,
  ofPredicting,
  rowsOf,
  surrogateDatum,
} from './data.ts';
import type { LossScale } from './loss-scale.ts';
import type { TrainingModel } from './training-model.ts';

const crossEntropy = { name: 'cross_entropy', settings: {} };
const importanceSampling = { name: 'importance_sampling', settings: {} };

/** A gradient that waits for the optimizer step, when the number of data that it is averaged over is known. */
interface Held {
  readonly row: BatchRow;
  readonly logprobs_T: Float32Array;
  readonly gradients_T: Float32Array;
}

/** Log-probabilities of the tokens of rows under the weights of a model. */
export function logprobsAt(model: TrainingModel, rows: readonly BatchRow[]): Promise<Float32Array[]> {
  return ofPredicting(rows, async (scored) =>
    logprobsOf(
      scored,
      await model.forwardBackward(scored.map(bareDatum), crossEntropy, { forwardOnly: true }),
    ),
  );
}

export class Gradients {
  readonly #scale: LossScale;
  readonly #evaluator = new LogprobEvaluator();
  #held: Held[] = [];

  constructor(scale: LossScale) {
    this.#scale = scale;
  }

  /** Adds the gradient of the objective over the batch, now or with the optimizer step. */
  async add(
    model: TrainingModel,
    batch: TokenBatch,
    objective: Objective,
  ): Promise<Pick<ForwardBackwardResult, 'loss' | 'metrics'>> {
    const { rows, targets } = batch;
    const { named } = objective;
    const direct = this.#scale === 'sum' && named !== undefined && named.name !== 'dro' && areApart(targets);
    const logprobs = direct ? await this.#namedPass(model, batch, named) : await logprobsAt(model, rows);
    const at = <T extends Int32Array | Float32Array>(values_B: readonly T[]): number[] =>
      Array.from(targets.row_N, (row, target) => values_B[row]![targets.position_N[target]!]!);
    const { loss, metrics, gradients_N } = await this.#evaluator.evaluate(objective, {
      ...targets,
      ids_N: Int32Array.from(at(rows.map(({ ids_T }) => ids_T))),
      logprobs_N: Float32Array.from(at(logprobs)),
    });
    if (!direct) await this.#backward(model, rows, logprobs, byToken(rows, targets, gradients_N));
    return { loss, metrics };
  }

  /** Sends what waits for the optimizer step. */
  async settle(model: TrainingModel): Promise<void> {
    const held = this.#held.splice(0);
    if (held.length === 0) return;
    const data = held.map(({ row, logprobs_T, gradients_T }) =>
      averagedSurrogateDatum(row, logprobs_T, gradients_T, held.length),
    );
    await model.forwardBackward(data, importanceSampling);
  }

  forget(): void {
    this.#held = [];
  }

  close(): Promise<void> {
    return this.#evaluator.close();
  }

  /** The gradient of a loss that the server knows, and log-probabilities by the way. */
  #namedPass(model: TrainingModel, { rows, targets }: TokenBatch, loss: NamedLoss): Promise<Float32Array[]> {
    const withChannels = rowsOf(rows, targets, ['weight', ...loss.channels]);
    return ofPredicting(withChannels, async (trained) =>
      logprobsOf(
        trained,
        await model.forwardBackward(
          trained.map((row) => namedDatum(loss, row)),
          loss,
        ),
      ),
    );
  }

  /** Servers that average need the number of data, which only the optimizer step knows: their pass waits for it. */
  async #backward(
    model: TrainingModel,
    rows: readonly BatchRow[],
    logprobs: readonly Float32Array[],
    gradients: readonly Float32Array[],
  ): Promise<void> {
    const items = rows
      .map((row, index): Held => ({ row, logprobs_T: logprobs[index]!, gradients_T: gradients[index]! }))
      .filter(({ gradients_T }) => gradients_T.some((value) => value !== 0));
    if (this.#scale === 'mean') this.#held.push(...items);
    else if (items.length > 0) {
      const data = items.map(({ row, logprobs_T, gradients_T }) =>
        surrogateDatum(row, logprobs_T, gradients_T),
      );
      await model.forwardBackward(data, importanceSampling);
    }
  }
}
