/** A transition whose fields lie in a page, and are made as they are read. */

import type { ByRole, Role, Transition } from '../../core/episode.ts';
import { gettersOf, listGetter } from './listed-getters.ts';
import type { Page } from './page.ts';

/** What a transition has in common with many others of its episode. */
export type CommonOfTransitions = Pick<Transition, 'role' | 'valid' | 'rewards'>;

/** The words of a transition, one after another. */
export const TRANSITION = {
  call: 0,
  at: 1,
  environment: 2,
  anchor: 3,
  action: 4,
  common: 5,
  words: 6,
} as const;

export class StoredTransition implements Transition {
  readonly #page: Page;
  readonly #at: number;

  /** @param more fields that only some transitions have */
  constructor(page: Page, at: number, more: Partial<Transition> | undefined) {
    this.#page = page;
    this.#at = at;
    for (const [name, getter] of FIELDS) listGetter.call(this, name, getter);
    if (more) Object.assign(this, more);
  }

  get call(): number {
    return StoredTransition.#word(this, TRANSITION.call);
  }

  get role(): Role {
    return StoredTransition.#common(this).role;
  }

  get anchor(): string {
    return this.#page.kept(StoredTransition.#word(this, TRANSITION.anchor));
  }

  get action(): string {
    return this.#page.kept(StoredTransition.#word(this, TRANSITION.action));
  }

  get valid(): boolean {
    return StoredTransition.#common(this).valid;
  }

  get rewards(): ByRole<number> {
    return StoredTransition.#common(this).rewards;
  }

  get at(): number {
    return StoredTransition.#word(this, TRANSITION.at) / 10;
  }

  get environmentMs(): number {
    return StoredTransition.#word(this, TRANSITION.environment) / 10;
  }

  static #common(transition: StoredTransition): CommonOfTransitions {
    return transition.#page.kept(transition.#page.words[transition.#at + TRANSITION.common]!);
  }

  static #word(transition: StoredTransition, name: number): number {
    return transition.#page.words[transition.#at + name]!;
  }
}

const FIELDS = gettersOf(StoredTransition);
