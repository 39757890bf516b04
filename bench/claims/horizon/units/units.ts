/**
 * countdown in units: after each expression the task is thought about again, until the same expression comes twice in a row or six were
 * written. Nothing says whether one was right. Success is a right expression in the end; the return is the share of units saved.
 */

import { type Message, type Rng, user } from 'turnwise';
import {
  AGENT,
  defineWorld,
  type PlayerKind,
  type Role,
  type Session,
  type StepResult,
  type World,
} from 'turnwise/env';
import { findEnvironment } from 'turnwise/environments';

const plain = await findEnvironment('countdown');

const UNITS = 6;
const AGAIN = 'again';

class Units implements Session {
  readonly roles: readonly Role[];
  inner: Session;
  answers: readonly string[] = [];
  readonly #open: () => Promise<Session>;

  constructor(inner: Session, open: () => Promise<Session>) {
    this.roles = inner.roles;
    this.inner = inner;
    this.#open = open;
  }

  toMove = (): Role | undefined => this.inner.toMove();
  close = (): Promise<void> => this.inner.close();
  anchor = (role: Role): string => [this.inner.anchor(role), ...this.answers].join(' ; ');
  observe = (role: Role): readonly Message[] =>
    this.answers.length === 0 ? this.inner.observe(role) : [user(AGAIN)];

  async step(action: string, signal: AbortSignal): Promise<StepResult> {
    const step = await this.inner.step(action, signal);
    if (!step.done) return step;
    const isSame = this.answers.at(-1) === action && step.valid;
    this.answers = [...this.answers, action];
    if (isSame || this.answers.length === UNITS) {
      return { ...step, rewards: { [AGENT]: (UNITS - this.answers.length) / (UNITS - 1) } };
    }
    await this.inner.close();
    this.inner = await this.#open();
    return { ...step, done: false, success: {}, rewards: {} };
  }
}

/** Thinks in some units as a beginner does, comes to a right answer, and says it twice. */
function written(script: World['script'], { inner, answers }: Units, kind: PlayerKind, rng: Rng) {
  const right = script?.(inner, 'expert', rng);
  const isSure = answers.at(-1) === right || answers.length === UNITS - 1;
  return kind === 'expert' && !isSure && rng.next() < 0.5 ? script?.(inner, 'beginner', rng) : right;
}

export const countdownUnits = defineWorld({
  name: 'countdown-units',
  description: `${plain.description} It is thought about in up to ${UNITS} units, each with an answer.`,
  options: plain.options,
  ...(plain.settings && { settings: plain.settings }),
  create: (options) => {
    const { snapshots: _, truth: __, script, ...world } = plain.create(options);
    return {
      ...world,
      name: 'countdown-units',
      maxTurns: UNITS * world.maxTurns,
      open: async (task, rng, startRng, signal) => {
        const open = () => world.open(task, rng, startRng, signal);
        return new Units(await open(), open);
      },
      script: (session, kind, rng) =>
        session instanceof Units ? written(script, session, kind, rng) : undefined,
    };
  },
});
