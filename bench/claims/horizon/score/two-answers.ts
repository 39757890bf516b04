/**
 * running-sums, twice in one episode: whatever the first attempt was worth, the same words are added again. Success is a second attempt
 * without a mistake; a first attempt without one pays 1 and nothing else pays, so that the return is success of the first.
 */

import { type Message, user } from 'turnwise';
import { AGENT, type Role, type StepResult } from 'turnwise/env';
import { findEnvironment } from 'turnwise/environments';
import { AgainSession, openedAgain } from '../again.ts';

const AGAIN = 'again look for a mistake';

class TwoAttempts extends AgainSession {
  #attempt: 'first' | 'second' = 'first';
  #begins = false;

  anchor(role: Role): string {
    return `${this.#attempt} ${this.inner.anchor(role)}`;
  }

  observe(role: Role): readonly Message[] {
    const read = this.inner.observe(role);
    if (!this.#begins) return read;
    return [user([AGAIN, ...read.map(({ content }) => content)].join(' '))];
  }

  async step(action: string, signal: AbortSignal): Promise<StepResult> {
    this.#begins = false;
    const step = await this.inner.step(action, signal);
    const isRight = step.done && step.success[AGENT] === true;
    if (this.#attempt === 'second') return { ...step, rewards: {} };
    if (!step.done) return { ...step, rewards: {} };
    await this.openAgain();
    this.#attempt = 'second';
    this.#begins = true;
    return { ...step, done: false, success: {}, rewards: { [AGENT]: isRight ? 1 : 0 } };
  }
}

export const twoAnswers = openedAgain(await findEnvironment('running-sums'), {
  name: 'running-sums-twice',
  about: 'Every task is attempted twice.',
  attempts: 2,
  session: TwoAttempts,
});
