/** A stream of chance that another one takes the place of: a session that draws from it goes on with the other. */

import { Rng, type RngState } from '../core/rng.ts';

export class ChanceInTurn extends Rng {
  #present: Rng;

  constructor(first: Rng) {
    super(first.state);
    this.#present = first;
  }

  goOnWith(next: Rng): void {
    this.#present = next;
  }

  override get state(): RngState {
    return this.#present.state;
  }

  override fork(...keys: readonly (string | number)[]): Rng {
    return this.#present.fork(...keys);
  }

  override at(index: number): Rng {
    return this.#present.at(index);
  }

  override uint32(): number {
    return this.#present.uint32();
  }
}
