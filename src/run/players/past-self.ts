/** The learner as it was: a second engine of the same model, which holds the weights of an earlier step. */

import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Rng } from '../../core/rng.ts';
import type { Engine } from '../../engine/engine.ts';

/** Weights of earlier steps, in the folder of the run. */
export class PastWeights {
  readonly #folder: string;
  readonly #learner: Pick<Engine, 'save'>;
  readonly #every: readonly number[];

  /** @param every each of these many steps; the warm start is always kept */
  constructor(folder: string, learner: Pick<Engine, 'save'>, every: readonly number[]) {
    this.#folder = folder;
    this.#learner = learner;
    this.#every = every;
  }

  at(step: number): string {
    return join(this.#folder, String(step));
  }

  /** Keep the present weights where they are wanted, complete or not at all. */
  async keep(step: number): Promise<void> {
    if (!this.#every.some((every) => step % every === 0)) return;
    const unfinished = `${this.at(step)}.part`;
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { recursive: true });
    await this.#learner.save(unfinished);
    rmSync(this.at(step), { recursive: true, force: true });
    renameSync(unfinished, this.at(step));
  }
}

export interface PastSelf {
  readonly name: string;
  readonly every: number;
  readonly engine: Pick<Engine, 'load'>;
  readonly seed: string | number;
}

/**
 * The step whose weights it plays with in the episodes that `step` asks for: any multiple of `every` before, each as
 * likely; the same in every repetition. Evaluations, at 0, meet the warm start.
 */
export function pastStep({ name, every, seed }: Omit<PastSelf, 'engine'>, step: number): number {
  if (step === 0) return 0;
  const kept = Math.floor((step - 1) / every) + 1;
  return every * Rng.of('past', seed, name, step).int(kept);
}

/** Load the weights that are drawn for a step, where they are not loaded already. */
export async function drawPast(
  self: PastSelf,
  weights: PastWeights,
  step: number,
  loaded: number | undefined,
): Promise<number> {
  const wanted = pastStep(self, step);
  if (wanted !== loaded) await self.engine.load(weights.at(wanted), { optimizer: false });
  return wanted;
}
