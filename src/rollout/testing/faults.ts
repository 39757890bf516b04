/** Calls into user code that go wrong on purpose, for tests: each with a given probability, in one of the ways in which such code fails. */

import type { Rng } from '../../core/rng.ts';
import { hostileThrows, wrongValues } from './hostile-values.ts';

export const FAULTS = [
  'throws',
  'throws something hostile',
  'rejects',
  'never settles',
  'comes late',
  'gives something wrong',
  'gives a wrong field',
] as const;
export type Fault = (typeof FAULTS)[number];

export interface FaultPlan<Call extends string> {
  /** Probability that a call goes wrong; read at every call. */
  readonly rate: number;
  readonly rng: Rng;
  /** Default: all. */
  readonly calls?: readonly Call[];
  /** Default: all. */
  readonly faults?: readonly Fault[];
  /** After how many milliseconds late answers come. */
  readonly lateMs: number;
}

export class Faults<Call extends string> {
  readonly #plan: FaultPlan<Call>;
  readonly #late = new Set<Promise<unknown>>();
  readonly #injected = new Map<Call, number>();

  constructor(plan: FaultPlan<Call>) {
    this.#plan = plan;
  }

  /**
   * Do `work`, or go wrong. What comes is as wrong as it can be, so its type is a lie.
   *
   * @param spoil what `work` gives, with one field wrong; absent: something else altogether
   */
  perhaps<T>(call: Call, work: () => T, spoil?: (work: () => T) => unknown): T {
    const { rate, rng, calls, faults = FAULTS } = this.#plan;
    if ((calls && !calls.includes(call)) || !rng.chance(rate)) return work();
    this.#injected.set(call, (this.#injected.get(call) ?? 0) + 1);
    return this.#goWrong(call, rng.pick(faults), work, spoil) as T;
  }

  /** How many calls went wrong. */
  get injected(): number {
    return [...this.#injected.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Calls of which at least one went wrong. */
  get broken(): readonly Call[] {
    return [...this.#injected.keys()];
  }

  /** Resolves when every late answer has come. */
  async settled(): Promise<void> {
    while (this.#late.size > 0) await Promise.allSettled(this.#late);
  }

  #goWrong(call: Call, fault: Fault, work: () => unknown, spoil?: (work: () => never) => unknown): unknown {
    const { rng, lateMs } = this.#plan;
    if (fault === 'throws') throw new Error(`${call} is broken`);
    if (fault === 'throws something hostile') throw rng.pick(hostileThrows)();
    if (fault === 'rejects') return Promise.reject(rng.pick([() => new Error('later'), ...hostileThrows])());
    if (fault === 'never settles') return new Promise(() => {});
    if (fault === 'comes late') {
      const answer = new Promise((resolve) => setTimeout(resolve, lateMs)).then(work);
      this.#late.add(answer);
      void answer.catch(() => {}).then(() => this.#late.delete(answer));
      return answer;
    }
    if (fault === 'gives a wrong field' && spoil) return spoil(work as () => never);
    return rng.pick(wrongValues)();
  }
}
