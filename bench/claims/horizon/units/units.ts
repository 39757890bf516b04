/**
 * countdown in units: after each expression the task is thought about again, until the same expression comes twice in a row or six were
 * written. Nothing says whether one was right. Success is a right expression in the end; the return is the share of units saved.
 */

import { type Message, user } from 'turnwise';
import { AGENT, type Role, type StepResult } from 'turnwise/env';
import { findEnvironment } from 'turnwise/environments';
import { AgainSession, openedAgain } from '../again.ts';

const UNITS = 6;
const AGAIN = 'again';

class Units extends AgainSession {
  answers: readonly string[] = [];

  anchor(role: Role): string {
    return [this.inner.anchor(role), ...this.answers].join(' ; ');
  }

  observe(role: Role): readonly Message[] {
    return this.answers.length === 0 ? this.inner.observe(role) : [user(AGAIN)];
  }

  async step(action: string, signal: AbortSignal): Promise<StepResult> {
    const step = await this.inner.step(action, signal);
    if (!step.done) return step;
    const isSame = this.answers.at(-1) === action && step.valid;
    this.answers = [...this.answers, action];
    if (isSame || this.answers.length === UNITS)
      return { ...step, rewards: { [AGENT]: (UNITS - this.answers.length) / (UNITS - 1) } };
    await this.openAgain();
    return { ...step, done: false, success: {}, rewards: {} };
  }
}

export const countdownUnits = openedAgain(await findEnvironment('countdown'), {
  name: 'countdown-units',
  about: `It is thought about in up to ${UNITS} units, each with an answer.`,
  attempts: UNITS,
  session: Units,
  /** Thinks in some units as a beginner does, comes to a right answer, and says it twice. */
  script({ inner, answers }, plain, kind, rng) {
    const right = plain(inner, 'expert', rng);
    const isSure = answers.at(-1) === right || answers.length === UNITS - 1;
    return kind === 'expert' && !isSure && rng.next() < 0.5 ? plain(inner, 'beginner', rng) : right;
  },
});
