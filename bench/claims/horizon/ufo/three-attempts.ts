/**
 * js-tasks with three attempts at each question: after a wrong answer the question is asked again, told only that it was wrong. Success
 * is a right answer in any attempt; a right answer in the first pays 1 and nothing else pays, so that the return is success after one.
 */

import { type Message, user } from 'turnwise';
import { AGENT, type Role, type StepResult } from 'turnwise/env';
import { findEnvironment } from 'turnwise/environments';
import { AgainSession, openedAgain } from '../again.ts';

const ATTEMPTS = 3;
const WRONG = 'wrong try again';

class Attempts extends AgainSession {
  #attempt = 0;
  #begins = false;

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
    await this.openAgain();
    this.#begins = true;
    return { ...step, done: false };
  }
}

export const threeAttempts = openedAgain(await findEnvironment('js-tasks'), {
  name: 'js-tasks-attempts',
  about: `${ATTEMPTS} attempts, each told only whether it was right.`,
  attempts: ATTEMPTS,
  session: Attempts,
});
