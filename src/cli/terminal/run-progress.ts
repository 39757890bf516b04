/** What both ways of showing a run remember of its events so far. */

import { formatSeconds } from '../../show/format.ts';
import type { Phase, ProgressEvent, StoredEvent } from '../../train/loop/events.ts';

/** Longer than this without an event, and the wait itself is told. */
const silentAfterMs = 3000;

export const phaseNames: Readonly<Record<Phase, string>> = {
  demonstrate: 'playing demonstrations',
  clone: 'imitating demonstrations',
  evaluate: 'evaluating',
  train: 'reinforcement learning',
  finish: 'finishing',
};

export function imitatesNothing({ phase, steps }: Extract<StoredEvent, { type: 'phase' }>): boolean {
  return phase === 'clone' && (steps ?? 0) === 0;
}

export class RunProgress {
  phase: Phase | undefined;
  step = 0;
  steps = 0;
  metrics: Readonly<Record<string, number>> = {};
  readonly success: number[] = [];
  readonly returns: number[] = [];
  waiting: ProgressEvent | undefined;
  #phaseBegan = 0;
  #eventAt = 0;
  #firstStep = 0;

  take(event: StoredEvent | ProgressEvent, now: number): void {
    this.#eventAt = now;
    switch (event.type) {
      case 'phase':
        // Nothing is imitated where it takes no steps: the evaluation that follows begins.
        this.#enter(imitatesNothing(event) ? 'evaluate' : event.phase, 0, event.steps ?? 0, now);
        break;
      case 'resume':
        this.#firstStep = event.step;
        this.step = event.step;
        break;
      case 'clone':
      case 'step': {
        const phase = event.type === 'clone' ? 'clone' : 'train';
        if (this.phase !== phase) this.#enter(phase, event.step - 1, event.steps, now);
        this.step = event.step;
        this.steps = event.steps;
        this.metrics = event.metrics;
        const { 'reward/success': success, 'reward/mean': reward } = event.metrics;
        if (success !== undefined) this.success.push(success);
        if (reward !== undefined) this.returns.push(reward);
        this.waiting = undefined;
        break;
      }
      case 'progress':
        this.waiting = event;
        break;
      default:
        this.waiting = undefined;
    }
  }

  #enter(phase: Phase, step: number, steps: number, now: number): void {
    this.phase = phase;
    this.step = phase === 'train' ? Math.max(step, this.#firstStep) : step;
    this.steps = steps;
    this.#firstStep = this.step;
    this.#phaseBegan = now;
    this.metrics = {};
  }

  /** Seconds until the phase ends, judged by its pace so far. */
  secondsLeft(now: number): number | undefined {
    const done = this.step - this.#firstStep;
    if (done < 2 || this.steps <= this.step) return undefined;
    return ((now - this.#phaseBegan) / 1000 / done) * (this.steps - this.step);
  }

  /** What it waits for, in words. */
  waitsFor(now: number): string {
    const idle = now - this.#eventAt;
    const silence = idle < silentAfterMs ? '' : `, ${formatSeconds(idle / 1000)} so far`;
    return `${this.#activity()}${silence}`;
  }

  #activity(): string {
    if (this.waiting === undefined) return this.phase === 'clone' ? 'a gradient step' : 'the engine';
    const { phase, done, total, waitingFor } = this.waiting;
    if (phase === 'train' && done === total) return `gradient steps on ${total} episodes`;
    const doing = phase === this.phase ? '' : `${phaseNames[phase]}, `;
    return `${doing}${done} of ${total} ${waitingFor ?? 'episodes'}`;
  }
}
