/** Groups under way, and those that have ended and wait to be taken. */

import type { Group } from '../../core/episode.ts';

/** A group that is being played. */
export interface Begun {
  /** Its number in the step that asked for it. */
  readonly group: number;
  readonly episodes: number;
  /** Settles when all of them have ended. */
  readonly ended: Promise<Group>;
}

interface Entry extends Begun {
  readonly step: number;
}

export class Ended {
  readonly #underWay = new Set<Entry>();
  /** In the order in which they ended. */
  readonly #done: Entry[] = [];
  #wake: (() => void) | undefined;

  get isEmpty(): boolean {
    return this.#underWay.size === 0;
  }

  /** Of all groups that were not taken. */
  get episodes(): number {
    return [...this.#underWay].reduce((sum, { episodes }) => sum + episodes, 0);
  }

  has(step: number): boolean {
    for (const entry of this.#underWay) if (entry.step === step) return true;
    return false;
  }

  /** The numbers of the step's groups that were not taken. */
  groupsOf(step: number): number[] {
    return [...this.#underWay].flatMap((entry) => (entry.step === step ? [entry.group] : []));
  }

  /** @param step that asked for it */
  add(step: number, group: Begun): void {
    const entry = { step, ...group };
    this.#underWay.add(entry);
    const settle = (): void => {
      this.#done.push(entry);
      this.#wake?.();
    };
    group.ended.then(settle, settle);
  }

  /** The first that the step asked for, once it has ended. */
  async firstOf(step: number): Promise<Group> {
    for (const entry of this.#underWay) {
      if (entry.step === step) return this.#take(entry);
    }
    throw new Error(`Step ${step} has no group under way`);
  }

  /** The one that ended first, whoever asked for it. */
  async firstEnded(): Promise<Group> {
    while (this.#done.length === 0) {
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    }
    return this.#take(this.#done[0]!);
  }

  /** Resolves when all of them have ended, however that went. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#underWay].map(({ ended }) => ended));
  }

  async #take(entry: Entry): Promise<Group> {
    const group = await entry.ended;
    this.#underWay.delete(entry);
    this.#done.splice(this.#done.indexOf(entry), 1);
    return group;
  }
}
