/** js-tasks over tools that fail by chance in a fifth of the calls. Every error that a tool tells counts as an error of its turn. */

import { type Message, type Rng, user } from 'turnwise';
import { AGENT, defineWorld, type Role, type Session, type StepResult } from 'turnwise/env';
import { findEnvironment } from 'turnwise/environments';

const plain = await findEnvironment('js-tasks');

/** Share of the calls that fail by chance. */
const FAULTS = 0.2;
const FAULT = 'error fault';

/** A live episode behind such tools. */
class ShakySession implements Session {
  readonly roles: readonly Role[];
  readonly inner: Session;
  readonly #rng: Rng;
  readonly #maxTurns: number;
  #turns = 0;
  #failed = false;
  /** Whether no turn so far was an error. */
  #clean = true;

  constructor(inner: Session, rng: Rng, maxTurns: number) {
    this.roles = inner.roles;
    this.inner = inner;
    this.#rng = rng;
    this.#maxTurns = maxTurns;
  }

  toMove(): Role | undefined {
    return this.inner.toMove();
  }

  observe(role: Role): readonly Message[] {
    return this.#failed ? [user(FAULT)] : this.inner.observe(role);
  }

  anchor(role: Role): string {
    return `${this.#failed ? 'failed ' : ''}${this.inner.anchor(role)}`;
  }

  async step(action: string, signal: AbortSignal): Promise<StepResult> {
    this.#turns++;
    this.#failed = this.#rng.chance(FAULTS) && action.startsWith('run ');
    if (this.#failed) {
      return { rewards: {}, done: false, success: {}, valid: false, metrics: this.#told(false, false) };
    }
    const { info: _, ...step } = await this.inner.step(action, signal);
    const said = step.done ? '' : String(this.inner.observe(AGENT).at(-1)?.content ?? '');
    const valid = step.valid && !said.startsWith('error');
    return { ...step, valid, metrics: this.#told(valid, step.done) };
  }

  /** Whether an episode had no error is told where it ends, which may be for want of turns. */
  #told(valid: boolean, done: boolean): Record<string, number> {
    this.#clean &&= valid;
    const ended = (done || this.#turns === this.#maxTurns) && { error_free: this.#clean ? 1 : 0 };
    return { errors: valid ? 0 : 1, ...ended };
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

export const shakyTools = defineWorld({
  name: 'js-tasks-shaky',
  description: `${plain.description} A fifth of the calls fail by chance.`,
  options: plain.options,
  ...(plain.settings && { settings: plain.settings }),
  create: (options) => {
    const { facts: _, snapshots: __, truth: ___, script, ...world } = plain.create(options);
    return {
      ...world,
      name: 'js-tasks-shaky',
      open: async (task, rng, startRng, signal) =>
        new ShakySession(await world.open(task, rng, startRng, signal), rng, world.maxTurns),
      script: (session, kind, rng) =>
        session instanceof ShakySession ? script?.(session.inner, kind, rng) : undefined,
    };
  },
});
