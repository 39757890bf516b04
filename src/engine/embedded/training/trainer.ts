/** Training over one lane or several side by side: micro-batches are dealt to them, and each applies its part of a step. */

import type { Weight, Weights } from '../../../model/checkpoint/safetensors.ts';
import type { AdamOptions, ForwardBackwardResult, OptimStepResult, ScoreRequest } from '../../engine.ts';
import type { AdamState } from './adam.ts';
import { dealMicroBatches, type MicroBatch, paddedTokens } from './micro-batch.ts';
import type { PackedBatch } from './packed-batch.ts';
import { type Layout, numbersOf, scoreOutputs, type TrainingProgram } from './training-graph.ts';
import type { TrainingLane, TrainingState } from './training-lane.ts';

/** Results by name, as many numbers for each target of the batch as `numbersOf` says; heads are named `head.NAME`. */
export type PackedScores = Readonly<Record<string, Float32Array>>;

export class Trainer {
  /** For reading: those of the only lane, or what several lanes share. */
  readonly weights: Map<string, Weight>;
  readonly #lanes: readonly TrainingLane[];
  readonly #tokenBudget: number;

  /** `tokenBudget` is for the padded tokens of all micro-batches that are computed at once. */
  constructor(lanes: readonly TrainingLane[], weights: Map<string, Weight>, tokenBudget: number) {
    this.#lanes = lanes;
    this.weights = weights;
    this.#tokenBudget = tokenBudget;
  }

  async addProgram(program: TrainingProgram): Promise<void> {
    await this.#all((lane) => lane.addProgram(program));
  }

  /** Adds the gradients of the program's loss over the batch; on an error none of them. */
  async forwardBackward(batch: PackedBatch, key: string): Promise<ForwardBackwardResult> {
    const dealt = this.#dealt(batch);
    const passes = this.#lanes.map((lane, index) => lane.forwardBackward(dealt[index]!, key));
    const failed = (await Promise.allSettled(passes)).find(({ status }) => status === 'rejected');
    await this.#all((lane) => lane.settle(failed === undefined));
    const results = await Promise.all(passes);
    const metrics: Record<string, number> = {};
    for (const result of results)
      for (const [name, value] of Object.entries(result.metrics))
        metrics[name] = (metrics[name] ?? 0) + value;
    return {
      loss: results.reduce((total, { loss }) => total + loss, 0),
      metrics,
      tokens: batch.lengths_B.reduce((total, length) => total + length - 1, 0),
      paddedTokens: dealt.flat().reduce((total, micro) => total + paddedTokens(micro), 0),
    };
  }

  /** AdamW on all weights, or on the group of them that is to move. A gradient that is not finite changes nothing. */
  async optimStep(options: AdamOptions): Promise<OptimStepResult> {
    await this.#all((lane) => lane.post());
    const squares = await this.#all((lane) => lane.collect(options.only));
    const gradientNorm = Math.sqrt(squares.reduce((total, part) => total + part, 0));
    const applied = Number.isFinite(gradientNorm);
    if (applied) {
      await this.#all((lane) => lane.apply(options, gradientNorm));
      await this.#all((lane) => lane.catchUp());
    } else await this.clearGradients();
    return { gradientNorm, applied };
  }

  async clearGradients(): Promise<void> {
    await this.#all((lane) => lane.clearGradients());
  }

  async restartOptimizer(): Promise<void> {
    await this.#all((lane) => lane.restartOptimizer());
  }

  async freeze(rate: number): Promise<void> {
    await this.#all((lane) => lane.freeze(rate));
  }

  async score(batch: PackedBatch, request: ScoreRequest, layout: Layout): Promise<PackedScores> {
    const dealt = this.#dealt(batch);
    const scores = Object.fromEntries(
      scoreOutputs(request).map((name) => [
        name,
        new Float32Array(batch.row_N.length * numbersOf(name, request)),
      ]),
    );
    await this.#all(async (lane, index) => {
      const micros = dealt[index]!;
      for (const [place, results] of (await lane.score(micros, request, layout)).entries())
        for (const [name, values] of Object.entries(results))
          for (const [at, target] of micros[place]!.targets.entries()) {
            const numbers = numbersOf(name, request);
            for (let i = 0; i < numbers; i++) scores[name]![target * numbers + i] = values[at * numbers + i]!;
          }
    });
    return scores;
  }

  async state(): Promise<TrainingState> {
    const states = await this.#all((lane) => lane.state());
    const moments = (kind: 'first' | 'second'): Map<string, Float32Array> =>
      new Map(states.flatMap(({ adam }) => [...adam[kind]]));
    const steps = new Map(states.flatMap(({ adam }) => [...adam.steps]));
    const [{ frozen }] = states as [TrainingState];
    return { adam: { steps, first: moments('first'), second: moments('second') }, frozen };
  }

  /** Goes on from these; without `adam` its moments begin anew. Gradients are forgotten. */
  async restore(weights: Weights, adam: AdamState | undefined, frozen: Weights | undefined): Promise<void> {
    for (const [name, { data }] of this.weights) data.set(weights.get(name)!.data);
    await this.#all((lane) => lane.restore(weights, adam, frozen));
  }

  /** Begins anew with those of these weights that it has in the same shape, and its own elsewhere. */
  async adopt(weights: Weights): Promise<void> {
    const own = [...this.weights].map(([name, weight]) => {
      const other = weights.get(name);
      return [name, other && sameShape(other, weight) ? other : weight] as const;
    });
    await this.restore(new Map(own), undefined, undefined);
  }

  async close(): Promise<void> {
    await this.#all((lane) => lane.close());
  }

  #dealt(batch: PackedBatch): MicroBatch[][] {
    return dealMicroBatches(batch, this.#tokenBudget, this.#lanes.length);
  }

  /** Side by side; the results in the order of the lanes. */
  #all<T>(work: (lane: TrainingLane, index: number) => T | Promise<T>): Promise<T[]> {
    return Promise.all(this.#lanes.map(work));
  }
}

const sameShape = (one: Weight, other: Weight): boolean =>
  one.shape.length === other.shape.length && one.shape.every((size, axis) => size === other.shape[axis]);
