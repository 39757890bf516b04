/** Shows a run while it runs: a repainted block for a person, plain lines for a log, JSON lines for a program. */

import { wilsonInterval } from '../../core/statistics.ts';
import { type Console, displayWidth, type Paint, painter, truncate } from '../../show/console.ts';
import { formatBytes, formatCount, formatInterval, formatScore, formatSeconds } from '../../show/format.ts';
import { modelFact } from '../../show/run-history.ts';
import { sparkline } from '../../show/sparkline.ts';
import type { EvaluationResult, ProgressEvent, StoredEvent } from '../../train/loop/events.ts';
import { promptsLine } from './prompts-line.ts';
import { paintedBar, RepaintedBlock } from './repaint.ts';
import { RepeatedWarnings } from './repeated-warnings.ts';
import { imitatesNothing, phaseNames, RunProgress } from './run-progress.ts';
import { stageLine } from './stage-line.ts';

export interface RunDisplay {
  show(event: StoredEvent | ProgressEvent): void;
  /** A line that is no event, for whoever watches. */
  say(line: string): void;
  /** Leave the screen tidy for what comes next. */
  close(): void;
}

export interface DisplayOptions {
  readonly json: boolean;
  /** Milliseconds since any fixed moment. */
  readonly now: () => number;
}

/** The display that fits the place it is shown in. */
export function runDisplay(console: Console, options: DisplayOptions): RunDisplay {
  if (options.json) return jsonDisplay(console);
  return console.interactive ? new StatusBlock(console, options.now) : new PlainLines(console, options.now);
}

function jsonDisplay(console: Console): RunDisplay {
  return {
    show: (event) => {
      if (event.type !== 'progress') console.write(`${JSON.stringify(event)}\n`);
    },
    say: (line) => console.writeError(`${line}\n`),
    close: () => undefined,
  };
}

const repaintEveryMs = 100;

/** Lines that stay (evaluations, warnings) above a block that is painted over. */
class StatusBlock implements RunDisplay {
  readonly #console: Console;
  readonly #paint: Paint;
  readonly #now: () => number;
  readonly #progress = new RunProgress();
  readonly #warnings: RepeatedWarnings;
  readonly #clock: NodeJS.Timeout;
  readonly #painted: RepaintedBlock;
  #paintedAt = Number.NEGATIVE_INFINITY;

  constructor(console: Console, now: () => number) {
    this.#console = console;
    this.#painted = new RepaintedBlock(console);
    this.#paint = painter(console.colour);
    this.#warnings = new RepeatedWarnings(this.#paint);
    this.#now = now;
    // So that a long wait is seen to be one.
    this.#clock = setInterval(() => this.#repaint(), 1000).unref();
  }

  show(event: StoredEvent | ProgressEvent): void {
    const now = this.#now();
    this.#progress.take(event, now);
    const line = lastingLine(event, this.#paint, this.#warnings);
    const urgent = line !== undefined || event.type === 'phase';
    if (!urgent && now - this.#paintedAt < repaintEveryMs) return;
    this.#paintBlock(now, line === undefined ? '' : `${line}\n`, event.type === 'finish');
  }

  say(line: string): void {
    this.#paintBlock(this.#now(), `${line}\n`, false);
  }

  close(): void {
    clearInterval(this.#clock);
    const rest = this.#warnings.rest().map((line) => `${line}\n`);
    this.#paintBlock(this.#now(), rest.join(''), true);
  }

  #repaint(): void {
    const now = this.#now();
    if (this.#painted.shown && now - this.#paintedAt >= repaintEveryMs) this.#paintBlock(now, '', false);
  }

  #paintBlock(now: number, above: string, last: boolean): void {
    const block = last ? [] : this.#block(now);
    this.#painted.paint(above, block);
    this.#paintedAt = now;
  }

  #block(now: number): string[] {
    const { phase, step, steps, success, returns, metrics } = this.#progress;
    if (phase === undefined) return [];
    const paint = this.#paint;
    const width = Math.min(this.#console.columns, 80);
    const left = this.#progress.secondsLeft(now);
    const row = (label: string, text: string): string => `  ${paint('dim', label.padEnd(11))}${text}`;
    const series = (label: string, values: readonly number[], range?: readonly [number, number]): string[] =>
      values.length === 0
        ? []
        : [
            row(
              label,
              `${formatScore(values.at(-1)!).padStart(6)}  ${paint('green', sparkline(values, width - 25, range))}`,
            ),
          ];
    const steady = returns.every((value, index) => Math.abs(value - success[index]!) < 1e-9);
    const rates = speeds(metrics);
    const waiting = truncate(this.#progress.waitsFor(now), width - 14);
    const doing = `${width < 70 && !this.#progress.isEvaluating ? phase : this.#progress.doing}${left === undefined ? '' : paint('dim', `, ${formatSeconds(left)} left`)}`;
    const counts = steps > 0 && !this.#progress.isEvaluating;
    const after = counts ? ` ${steps}  ${doing}` : doing;
    const barWidth = Math.max(8, Math.min(width - 54, width - 13 - displayWidth(after)));
    return [
      '',
      row(
        counts ? `step ${step}` : 'phase',
        `${counts ? paintedBar(step / steps, barWidth, paint) : ''}${after}`,
      ),
      ...(phase === 'train' ? series('success', success, [0, 1]) : []),
      ...(phase === 'train' && !steady ? series('return', returns) : []),
      ...(phase === 'clone' && metrics['clone/loss'] !== undefined
        ? [row('loss', formatScore(metrics['clone/loss'], 3).padStart(6))]
        : []),
      ...(rates === '' ? [] : [row('tokens/s', rates)]),
      row('waits for', waiting),
    ];
  }
}

function speeds(metrics: Readonly<Record<string, number>>): string {
  const { 'speed/sample_tokens_per_s': sampling, 'speed/train_tokens_per_s': training } = metrics;
  const parts = [
    ...(sampling === undefined ? [] : [`${formatCount(sampling)} acting`]),
    ...(training === undefined ? [] : [`${formatCount(training)} learning`]),
  ];
  return parts.join(', ');
}

/** How long a turn may get: a policy that needs more words than that is cut off, whatever it learns. */
function turnLimit({ turnTokens }: Extract<StoredEvent, { type: 'start' }>, paint: Paint): string {
  return turnTokens === undefined
    ? ''
    : paint('dim', `\n  at most ${turnTokens} token${turnTokens === 1 ? '' : 's'} a turn`);
}

/** What stays on the screen and in a log, whatever else happens. */
function lastingLine(
  event: StoredEvent | ProgressEvent,
  paint: Paint,
  warnings: RepeatedWarnings,
): string | undefined {
  switch (event.type) {
    case 'start':
      return `${paint('bold', event.run)}  ${paint('dim', `${event.environment} · ${event.recipe} · seed ${event.seed} · ${modelFact(event)}`)}${turnLimit(event, paint)}`;
    case 'estimate':
      return estimateLines(event, paint);
    case 'clone':
      return checkLine(event, paint);
    case 'resume':
      return `Going on from the checkpoint of step ${event.step}.`;
    case 'stage':
      return stageLine(event);
    case 'phase':
      return event.still ? 'The weights stay as they are: only prompts learn.' : undefined;
    case 'prompts':
      return event.changed ? promptsLine(event) : undefined;
    case 'evaluation':
      return evaluationLine(event.label, event.step, event.sampled, event.greedy, paint);
    case 'warning':
      return warnings.tell(event);
    default:
      return undefined;
  }
}

/** What a run will take. */
function estimateLines(
  { seconds, memory, evaluation }: Extract<StoredEvent, { type: 'estimate' }>,
  paint: Paint,
): string {
  const { reading, sampling, learning, step, imitating, total } = seconds;
  const parts = `${formatSeconds(reading)} reading, ${formatSeconds(sampling)} sampling, ${formatSeconds(learning)} learning`;
  const imitation = imitating === 0 ? '' : `, imitation about ${formatSeconds(imitating)}`;
  const bytes = `${formatBytes(memory.needed)} of memory, of ${formatBytes(memory.free)} free`;
  return paint(
    'dim',
    [
      `  a step takes about ${formatSeconds(step)}: ${parts}${imitation}, the run about ${formatSeconds(total)}`,
      `  about ${bytes}; evaluations play ${evaluation.finalTasks} tasks before and after, ${evaluation.tasks} along the way`,
    ].join('\n'),
  );
}

/** How the policy plays while it imitates, where that was looked at. */
function checkLine(
  { step, metrics }: Extract<StoredEvent, { type: 'clone' }>,
  paint: Paint,
): string | undefined {
  const {
    'clone/valid_share': valid,
    'clone/success': success,
    'clone/checked_episodes': episodes,
  } = metrics;
  if (valid === undefined || success === undefined || episodes === undefined) return undefined;
  const { low, high } = wilsonInterval(Math.round(success * episodes), episodes);
  const when = step === 0 ? 'untrained' : `imitated ${step}`;
  const turns = paint('dim', `, ${formatScore(valid)} of turns valid (${episodes} episodes)`);
  return `${when.padEnd(12)}success ${formatInterval(success, [low, high])}${turns}`;
}

function evaluationLine(
  label: 'before' | 'during' | 'after',
  step: number,
  sampled: EvaluationResult,
  greedy: EvaluationResult | undefined,
  paint: Paint,
): string {
  const when = label === 'before' ? 'warm start' : `step ${step}`;
  const worth =
    Math.abs(sampled.return - sampled.success) < 1e-6 ? '' : `, return ${formatScore(sampled.return)}`;
  const { successOfAll } = sampled;
  const ofAll = successOfAll === undefined ? '' : ` (${formatScore(successOfAll)} of all)`;
  return `${when.padEnd(12)}success ${paint('green', formatInterval(sampled.success, sampled.successInterval))}${ofAll}${worth}${greedy === undefined ? '' : paint('dim', `, greedy ${formatScore(greedy.success)}`)}`;
}

const lineEveryMs = 3000;
const longSilenceMs = 10_000;

/** A line for what lasts, and one for progress every few seconds. */
class PlainLines implements RunDisplay {
  readonly #console: Console;
  readonly #paint: Paint;
  readonly #now: () => number;
  readonly #progress = new RunProgress();
  readonly #warnings: RepeatedWarnings;
  readonly #clock: NodeJS.Timeout;
  #wroteAt: number;

  constructor(console: Console, now: () => number) {
    this.#console = console;
    this.#paint = painter(console.colour);
    this.#warnings = new RepeatedWarnings(this.#paint);
    this.#now = now;
    this.#wroteAt = now();
    this.#clock = setInterval(() => this.#breakSilence(), lineEveryMs).unref();
  }

  show(event: StoredEvent | ProgressEvent): void {
    const now = this.#now();
    this.#progress.take(event, now);
    const line =
      lastingLine(event, this.#paint, this.#warnings) ??
      (event.type === 'phase' && !imitatesNothing(event)
        ? `${phaseNames[event.phase]}${event.steps ? `, ${event.steps} steps` : ''}`
        : undefined);
    if (line !== undefined) {
      this.#console.write(`${line}\n`);
    } else if (now - this.#wroteAt >= lineEveryMs && event.type !== 'finish') {
      this.#wroteAt = now;
      this.#console.write(`${this.#progressLine(now)}\n`);
    }
  }

  say(line: string): void {
    this.#console.write(`${line}\n`);
  }

  close(): void {
    clearInterval(this.#clock);
    for (const line of this.#warnings.rest()) this.#console.write(`${line}\n`);
  }

  #breakSilence(): void {
    const now = this.#now();
    if (this.#progress.phase === undefined || now - this.#wroteAt < longSilenceMs) return;
    this.#wroteAt = now;
    this.#console.write(`${this.#progressLine(now)}\n`);
  }

  #progressLine(now: number): string {
    const { phase, step, steps, success, returns, isEvaluating, doing } = this.#progress;
    const left = this.#progress.secondsLeft(now);
    const parts = [
      ...(isEvaluating
        ? [doing]
        : steps > 0
          ? [`step ${step}/${steps}`]
          : phase === undefined
            ? []
            : [doing]),
      ...(success.length > 0 && phase === 'train' ? [`success ${formatScore(success.at(-1)!)}`] : []),
      ...(returns.length > 0 && phase === 'train' ? [`return ${formatScore(returns.at(-1)!)}`] : []),
      ...(speeds(this.#progress.metrics) ? [`tokens/s ${speeds(this.#progress.metrics)}`] : []),
      ...(left === undefined ? [] : [`${formatSeconds(left)} left`]),
      `waits for ${this.#progress.waitsFor(now)}`,
    ];
    return `  ${parts.join(' · ')}`;
  }
}
