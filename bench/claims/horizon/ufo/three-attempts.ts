/**
 * js-tasks with three attempts at each question: after a wrong answer the question is asked again, told only that it was wrong. Success
 * is a right answer in any attempt; a right answer in the first pays 1 and nothing else pays, so that the return is success after one.
 */

import { type Message, user } from 'turnwise';
import { AGENT, defineWorld, type Role, type Session, type StepResult } from 'turnwise/env';
import { findEnvironment } from 'turnwise/environments';

const plain = await findEnvironment('js-tasks');

const ATTEMPTS = 3;
const WRONG = 'wrong try again';

/** A live episode of several attempts. */
class AttemptsSession implements Session {
  readonly roles: readonly Role[];
  inner: Session;
  readonly #again: () => Promise<Session>;
  #attempt = 0;
  #begins = false;

  constructor(inner: Session, again: () => Promise<Session>) {
    this.roles = inner.roles;
    this.inner = inner;
    this.#again = again;
  }

  toMove(): Role | undefined {
    return this.inner.toMove();
  }

  observe(role: Role): readonly Message[] {
    return this.#begins ? [user(WRONG)] : this.inner.observe(role);
  }

  anchor(role: Role): string {
    return `${this.#attempt} ${this.inner.anchor(role)}`;
  }

  async step(action: string, signal: AbortSignal): Promise<StepResult> {
    this.#begins = false;
    const step = await this.inner.step(action, signal);
    if (!step.done || step.success[AGENT]) {
      return this.#attempt === 0 ? step : { ...step, rewards: {} };
    }
    this.#attempt++;
    if (this.#attempt === ATTEMPTS) return step;
    await this.inner.close();
    this.inner = await this.#again();
    this.#begins = true;
    return { ...step, done: false };
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

export const threeAttempts = defineWorld({
  name: 'js-tasks-attempts',
  description: `${plain.description} ${ATTEMPTS} attempts, each told only whether it was right.`,
  options: plain.options,
  ...(plain.settings && { settings: plain.settings }),
  create: (options) => {
    const { snapshots: _, truth: __, script, ...world } = plain.create(options);
    return {
      ...world,
      name: 'js-tasks-attempts',
      maxTurns: ATTEMPTS * world.maxTurns,
      open: async (task, rng, startRng, signal) => {
        const again = () => world.open(task, rng, startRng, signal);
        return new AttemptsSession(await again(), again);
      },
      script: (session, kind, rng) =>
        session instanceof AttemptsSession ? script?.(session.inner, kind, rng) : undefined,
    };
  },
});
