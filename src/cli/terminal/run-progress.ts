/** What both ways of showing a run remember of its events so far. */

import { formatCount, formatSeconds } from '../../show/format.ts';
import type {
  EstimateEvent,
  EvaluationMoment,
  Phase,
  ProgressEvent,
  StoredEvent,
} from '../../train/loop/events.ts';

/** Longer than this without an event, and the wait itself is told. */
const silentAfterMs = 3000;

export const phaseNames: Readonly<Record<Phase, string>> = {
  demonstrate: 'playing demonstrations',
  clone: 'imitating',
  evaluate: 'evaluating',
  train: 'reinforcing',
  finish: 'finishing',
};

const evaluationNames: Readonly<Record<EvaluationMoment, string>> = {
  before: 'evaluating before training',
  during: 'evaluating',
  after: 'evaluating after training',
  check: 'checking the imitation',
};

export function imitatesNothing({ phase, steps }: Extract<StoredEvent, { type: 'phase' }>): boolean {
  return phase === 'clone' && (steps ?? 0) === 0;
}

/** What goes on, in words: an evaluation interrupts the phase around it. */
function doingOf({ phase, moment, greedy }: Pick<ProgressEvent, 'phase' | 'moment' | 'greedy'>): string {
  const name = phase === 'evaluate' && moment ? evaluationNames[moment] : phaseNames[phase];
  return greedy ? `${name}, greedily` : name;
}

/** Episodes of an evaluation whose pace tells how long the rest will take. */
const tellingShare = 0.25;

export class RunProgress {
  phase: Phase | undefined;
  step = 0;
  steps = 0;
  metrics: Readonly<Record<string, number>> = {};
  readonly success: number[] = [];
  readonly returns: number[] = [];
  waiting: ProgressEvent | undefined;
  #estimate: EstimateEvent | undefined;
  #phaseBegan = 0;
  #eventAt = 0;
  #firstStep = 0;
  /** What goes on since when, and how many tokens were processed then. */
  #doing = '';
  #doingSince = 0;
  #tokensBefore = 0;

  take(event: StoredEvent | ProgressEvent, now: number): void {
    this.#eventAt = now;
    switch (event.type) {
      case 'phase':
        // Nothing is imitated where it takes no steps: the evaluation that follows begins.
        this.#enter(imitatesNothing(event) ? 'evaluate' : event.phase, 0, event.steps ?? 0, now);
        break;
      case 'estimate':
        this.#estimate = event;
        break;
      case 'resume':
        this.#firstStep = event.step;
        this.step = event.step;
        break;
      case 'clone':
      case 'step': {
        const phase = event.type === 'clone' ? 'clone' : 'train';
        if (this.phase !== phase) this.#enter(phase, Math.max(0, event.step - 1), event.steps, now);
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
        if (doingOf(event) !== this.#doing) {
          this.#doing = doingOf(event);
          this.#doingSince = now;
          this.#tokensBefore = event.tokens ?? 0;
        }
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

  /** The phase, or the evaluation that interrupts it. */
  get doing(): string {
    if (this.waiting?.phase === 'evaluate') return doingOf(this.waiting);
    return this.phase === undefined ? '' : phaseNames[this.phase];
  }

  get isEvaluating(): boolean {
    return this.waiting?.phase === 'evaluate';
  }

  /** Seconds until the phase ends, or the evaluation that interrupts it: judged by its pace so far, before that by the estimate. */
  secondsLeft(now: number): number | undefined {
    if (this.isEvaluating && this.waiting) {
      const { done, total } = this.waiting;
      const since = (now - this.#doingSince) / 1000;
      const estimated = this.#estimate && this.#episodeSeconds(this.#estimate) * total;
      // Episodes are played side by side: the pace of the first few is not that of all.
      const isEarly = done < tellingShare * total;
      if (isEarly && estimated === undefined) return undefined;
      if (isEarly && estimated !== undefined && estimated > since) return estimated - since;
      return done > 0 ? (since / done) * (total - done) : undefined;
    }
    const done = this.step - this.#firstStep;
    if (this.steps <= this.step) return undefined;
    if (done >= 2) return ((now - this.#phaseBegan) / 1000 / done) * (this.steps - this.step);
    const { step, imitating } = this.#estimate?.seconds ?? {};
    if (this.phase === 'train' && step !== undefined) return step * (this.steps - this.step);
    return this.phase === 'clone' && imitating
      ? (imitating / this.steps) * (this.steps - this.step)
      : undefined;
  }

  /** Before imitation episodes are as long as they may be. */
  #episodeSeconds({ seconds: { episode, unpractised = episode } }: EstimateEvent): number {
    return this.phase === 'clone' && this.step === 0 ? unpractised : episode;
  }

  /** What it waits for, in words. */
  waitsFor(now: number): string {
    const idle = now - this.#eventAt;
    const silence = idle < silentAfterMs ? '' : `, ${formatSeconds(idle / 1000)} so far`;
    return `${this.#activity()}${this.#tokens(now)}${silence}`;
  }

  #activity(): string {
    if (this.waiting === undefined) return this.phase === 'clone' ? 'a gradient step' : 'the engine';
    const { phase, done, total, waitingFor } = this.waiting;
    if (phase === 'train' && done === total) return `gradient steps on ${total} episodes`;
    const isNamed = phase === this.phase || phase === 'evaluate';
    return `${isNamed ? '' : `${phaseNames[phase]}, `}${total} ${waitingFor ?? 'episodes'}, ${done} done`;
  }

  /** How many tokens that has taken so far, and how many a second. */
  #tokens(now: number): string {
    const tokens = (this.waiting?.tokens ?? 0) - this.#tokensBefore;
    const seconds = (now - this.#doingSince) / 1000;
    if (tokens <= 0 || seconds <= 0) return '';
    return `, ${formatCount(tokens)} tokens at ${formatCount(tokens / seconds)}/s`;
  }
}
