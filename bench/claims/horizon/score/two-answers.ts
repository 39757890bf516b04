/**
 * running-sums, twice in one episode: whatever the first attempt was worth, the same words are added again. Success is a second attempt
 * without a mistake; a first attempt without one pays 1 and nothing else pays, so that the return is success of the first.
 */

import { type Message, user } from 'turnwise';
import { AGENT, defineWorld, type Role, type Session, type StepResult } from 'turnwise/env';
import { findEnvironment } from 'turnwise/environments';

const plain = await findEnvironment('running-sums');

const AGAIN = 'again look for a mistake';

class TwoAttempts implements Session {
  readonly roles: readonly Role[];
  /** Of the present attempt. */
  present: Session;
  readonly #open: () => Promise<Session>;
  #attempt: 'first' | 'second' = 'first';
  #begins = false;

  constructor(present: Session, open: () => Promise<Session>) {
    this.roles = present.roles;
    this.present = present;
    this.#open = open;
  }

  toMove = (): Role | undefined => this.present.toMove();
  close = (): Promise<void> => this.present.close();
  anchor = (role: Role): string => `${this.#attempt} ${this.present.anchor(role)}`;

  observe(role: Role): readonly Message[] {
    const read = this.present.observe(role);
    if (!this.#begins) return read;
    return [user([AGAIN, ...read.map(({ content }) => content)].join(' '))];
  }

  async step(action: string, signal: AbortSignal): Promise<StepResult> {
    this.#begins = false;
    const step = await this.present.step(action, signal);
    const isRight = step.done && step.success[AGENT] === true;
    if (this.#attempt === 'second') return { ...step, rewards: {} };
    if (!step.done) return { ...step, rewards: {} };
    await this.present.close();
    this.present = await this.#open();
    this.#attempt = 'second';
    this.#begins = true;
    return { ...step, done: false, success: {}, rewards: { [AGENT]: isRight ? 1 : 0 } };
  }
}

export const twoAnswers = defineWorld({
  name: 'running-sums-twice',
  description: `${plain.description} Every task is attempted twice.`,
  options: plain.options,
  ...(plain.settings && { settings: plain.settings }),
  create: (options) => {
    const { snapshots: _, truth: __, script, ...world } = plain.create(options);
    return {
      ...world,
      name: 'running-sums-twice',
      maxTurns: 2 * world.maxTurns,
      open: async (task, rng, startRng, signal) => {
        const open = () => world.open(task, rng, startRng, signal);
        return new TwoAttempts(await open(), open);
      },
      script: (session, kind, rng) =>
        session instanceof TwoAttempts ? script?.(session.present, kind, rng) : undefined,
    };
  },
});
