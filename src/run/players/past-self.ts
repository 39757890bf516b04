/** The weights of the learner at earlier steps: which are kept, where they lie, and which a player has in a step. */

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import { Rng } from '../../core/rng.ts';
import type { Engine } from '../../engine/engine.ts';

/** Which steps are kept: the warm start and every multiple of `every`; with `most`, so many of the newest multiples. */
export interface Keeping {
  readonly every: number;
  readonly most?: number;
}

/** The steps that are kept after `step`, oldest first. */
export function keptSteps({ every, most = Number.POSITIVE_INFINITY }: Keeping, step: number): number[] {
  const newest = Math.floor(step / every);
  const first = Math.max(1, newest - most + 1);
  return [0, ...Array.from({ length: newest - first + 1 }, (_, index) => every * (first + index))];
}

/** Weights of earlier steps, in the folder of the run. */
export class PastWeights {
  readonly #folder: string;
  readonly #learner: Pick<Engine, 'save'>;
  readonly #kept: readonly Keeping[];
  readonly #goesOnFrom: () => readonly number[];

  /**
   * @param kept what each player keeps; the warm start is always kept
   * @param goesOnFrom steps from which the run can go on: what they need stays
   */
  constructor(
    folder: string,
    learner: Pick<Engine, 'save'>,
    kept: readonly Keeping[],
    goesOnFrom: () => readonly number[] = () => [],
  ) {
    this.#folder = folder;
    this.#learner = learner;
    this.#kept = kept;
    this.#goesOnFrom = goesOnFrom;
  }

  at(step: number): string {
    return join(this.#folder, String(step));
  }

  /** Where the weights lie with which a player plays. @throws TurnwiseError `checkpoint-missing` */
  found(player: string, step: number): string {
    const folder = this.at(step);
    if (existsSync(folder)) return folder;
    throw new TurnwiseError('checkpoint-missing', {
      what: `The weights of the earlier self "${player}" are not there`,
      seen: `no folder ${folder}`,
      allowed: 'a step whose weights are still kept: past:EVERY:MOST keeps MOST of them',
      fields: { player, step },
    });
  }

  /** Keep the present weights where they are wanted, complete or not at all, and drop those that nobody will want again. */
  async keep(step: number): Promise<void> {
    if (!this.#kept.some(({ every }) => step % every === 0)) return;
    const unfinished = `${this.at(step)}.part`;
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { recursive: true });
    await this.#learner.save(unfinished);
    rmSync(this.at(step), { recursive: true, force: true });
    renameSync(unfinished, this.at(step));
    // Without a checkpoint a run that is stopped begins anew, and keeps everything again.
    const from = [step, ...this.#goesOnFrom().filter((other) => other <= step)];
    const wanted = new Set(from.flatMap((one) => this.#kept.flatMap((kept) => keptSteps(kept, one))));
    for (const name of readdirSync(this.#folder)) {
      const old = Number(name);
      if (Number.isInteger(old) && old <= step && !wanted.has(old))
        rmSync(this.at(old), { recursive: true, force: true });
    }
  }
}

/**
 * The step whose weights a player has in the episodes that `step` asks for: any that is kept, each as likely; the same in every
 * repetition. Evaluations, at 0, meet the warm start.
 */
export function pastStep(
  { name, seed, ...kept }: Keeping & { readonly name: string; readonly seed: string | number },
  step: number,
): number {
  if (step === 0) return 0;
  const steps = keptSteps(kept, step - 1);
  return steps[Rng.of('past', seed, name, step).int(steps.length)]!;
}
