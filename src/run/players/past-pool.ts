/** The learner as it was: an engine for each earlier self that plays in a step, loaded again as others are named. */

import type { Engine } from '../../engine/engine.ts';
import type { Renderer } from '../../model/chat/renderer.ts';
import type { Batching } from '../../policy/batching.ts';
import { enginePolicy } from '../../policy/engine-policy.ts';
import { type Player, untrained } from '../../policy/seated.ts';
import { type Keeping, keptSteps, type PastWeights, pastStep } from './past-self.ts';

export interface PastPoolOptions {
  /** Players `past:K` by name, with what they keep. */
  readonly kept: ReadonlyMap<string, Keeping>;
  /** Those of them that the settings seat. */
  readonly seated: readonly string[];
  readonly seed: string | number;
  readonly weights: Pick<PastWeights, 'found'>;
  /** Another engine of the learner's model. */
  open(): Promise<Engine>;
}

interface Held {
  readonly engine: Engine;
  step: number;
}

/** Names are `self@40`, the player `self` after step 40, or `self`, of which a step is drawn. */
export class PastPool {
  readonly #options: PastPoolOptions;
  readonly #held: Held[] = [];
  /** Whose episodes are played: 0 for evaluations. */
  #step = 0;
  /** Who plays with which engine, by name. */
  #ready = new Map<string, Held>();

  constructor(options: PastPoolOptions) {
    this.#options = options;
  }

  /** Every earlier self that episodes of a step may meet. */
  names(step: number): string[] {
    return [...this.#options.kept].flatMap(([player, kept]) =>
      keptSteps(kept, Math.max(0, step - 1)).map((past) => `${player}@${past}`),
    );
  }

  /** Whether it is the name of an earlier self, kept or not. */
  has(name: string): boolean {
    return this.#stepOf(name) !== undefined;
  }

  /** A step begins, or evaluations do: whom the settings seat is drawn anew. */
  async before(step: number): Promise<void> {
    this.#step = step;
    await this.ready([]);
  }

  /** Load these and those whom the settings seat. Others lose their engines where there are too few. */
  async ready(names: Iterable<string>): Promise<void> {
    const { seated, open, weights } = this.#options;
    const wanted = new Map<string, number>();
    for (const name of [...seated, ...names]) {
      const step = this.#stepOf(name);
      if (step !== undefined) wanted.set(name, step);
    }
    const steps = new Map([...wanted].map(([name, step]) => [step, name] as const));
    const free = this.#held.filter(({ step }) => !steps.has(step));
    for (const [step, name] of steps) {
      if (this.#held.some((held) => held.step === step)) continue;
      const held = free.pop() ?? { engine: await open(), step: Number.NaN };
      if (!this.#held.includes(held)) this.#held.push(held);
      // Where the load fails, it no longer has what it had.
      held.step = Number.NaN;
      await held.engine.load(weights.found(name, step), { optimizer: false });
      held.step = step;
    }
    this.#ready = new Map(
      [...wanted].map(([name, step]) => [name, this.#held.find((held) => held.step === step)!]),
    );
  }

  /** Those that are ready, for one round of episodes. */
  players(renderer: Renderer, batching: Batching): [string, Player][] {
    return [...this.#ready].map(([name, { engine }]) => [
      name,
      { name, policy: untrained(enginePolicy(engine, renderer, batching)) },
    ]);
  }

  async close(): Promise<void> {
    await Promise.all(this.#held.map(({ engine }) => engine.close()));
  }

  #stepOf(name: string): number | undefined {
    const { kept, seed } = this.#options;
    const drawn = kept.get(name);
    if (drawn) return pastStep({ name, seed, ...drawn }, this.#step);
    const [, player = '', step] = /^(.+)@(\d+)$/.exec(name) ?? [];
    return kept.has(player) ? Number(step) : undefined;
  }
}
