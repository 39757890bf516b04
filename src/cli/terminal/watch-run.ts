/** A run from the command line: shown while it goes on, summed up at its end, and told how to go on when interrupted. */

import { existsSync } from 'node:fs';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { RunControl } from '../../run/run-io.ts';
import { curveSvg } from '../../show/curve-svg.ts';
import { formatCount, formatSeconds } from '../../show/format.ts';
import { gameCurve, modelFact, type RunHistory, runHistory } from '../../show/run-history.ts';
import { taskNoun } from '../../show/task-words.ts';
import type { RunDirectory } from '../../store/run-directory.ts';
import { commandIn } from '../../store/runs.ts';
import type { RunEvent } from '../../train/loop/events.ts';
import type { Invocation } from '../command.ts';
import { TERMINATION_GRACE_MS } from '../interrupts.ts';
import { runExamples } from './run-examples.ts';
import { summaryText } from './summary.ts';
import { runDisplay } from './terminal.ts';

/**
 * Do `work` with everything it reports on the screen, then write the curve and print the summary.
 *
 * @throws TurnwiseError `interrupted`, with the command that goes on
 */
export async function watchRun(
  { console, interrupts, options }: Invocation<{ readonly json: boolean; readonly runs: string }>,
  work: (control: RunControl) => Promise<unknown>,
): Promise<void> {
  const display = runDisplay(console, { json: options.json, now: () => performance.now() });
  let run: RunDirectory | undefined;
  const early = new AbortController();
  const signal = AbortSignal.any([interrupts.signal, early.signal]);
  let learning = false;
  const stopRequested = interrupts.soften(() => {
    // Before the first step there is nothing to keep that another start would not make again.
    if (learning)
      display.say('Stopping after this step. Ctrl-C again stops at once, back at the latest checkpoint.');
    else early.abort();
  }, TERMINATION_GRACE_MS);
  const report = (event: RunEvent, directory: RunDirectory): void => {
    run = directory;
    display.show(event);
    learning ||= event.type === 'resume' || (event.type === 'phase' && event.phase === 'train');
    if (event.type === 'phase' && event.phase === 'train') {
      const note = practiceNote(directory);
      if (note !== undefined) display.say(note);
    }
  };
  try {
    const over = work({
      root: options.runs,
      report,
      signal,
      stopRequested,
      onDownload: downloadTeller(display.say),
    });
    await Promise.race([over, abandoned(signal)]);
  } catch (error) {
    display.close();
    if (stopRequested() || signal.aborted) throw interrupted(run, options.runs, error);
    throw run === undefined ? error : withWayOn(error, run, options.runs, learning);
  }
  display.close();
  if (run === undefined) return;
  const history = runHistory(run.events.read());
  const curvePath = run.writeText('curve.svg', curveOf(run.name, history));
  if (options.json) return;
  const examples = await runExamples(run);
  const input = {
    run: run.name,
    world: run.readConfig(z.unknown()).world,
    root: options.runs,
    history,
    curvePath,
    ...(examples && { examples }),
  };
  console.write(`\n${summaryText(input, console)}`);
}

/** Rejects a little after the abort: what computes at that moment may not listen, and need not be waited for. */
function abandoned(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const leave = (): void => {
      setTimeout(() => reject(signal.reason), LAST_WORDS_MS);
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
}

const LAST_WORDS_MS = 200;

const withTasks = z.looseObject({
  tasks: z.looseObject({ name: z.string(), share: z.number().default(0) }).optional(),
});

/** Where unsolved tasks come again, success in training stays low while the agent gets better: that is said beforehand. */
function practiceNote(run: RunDirectory): string | undefined {
  const { tasks } = run.readConfig(withTasks).config;
  if (tasks?.name !== 'revisit' || tasks.share === 0) return undefined;
  return `  ${Math.round(100 * tasks.share)}% of these tasks failed before, so success is lower than in evaluations`;
}

export function curveOf(name: string, history: RunHistory): string {
  const { start, evaluations, finish } = history;
  const facts = [
    name,
    ...(start ? [`seed ${start.seed}`, modelFact(start)] : []),
    ...(finish ? [formatSeconds(finish.summary.seconds.total)] : []),
  ];
  return curveSvg({
    title: start ? `${start.environment} · ${start.recipe}` : name,
    subtitle: facts.join(' · '),
    tasks: taskNoun(start),
    points: evaluations,
    game: gameCurve(history),
  });
}

/** Tells of a download every few seconds, and of its end. */
function downloadTeller(say: (line: string) => void): NonNullable<RunControl['onDownload']> {
  let toldAt = 0;
  return (model, { doneBytes, totalBytes, bytesPerSecond, secondsLeft }) => {
    const now = performance.now();
    const over = doneBytes === totalBytes;
    if (!over && now - toldAt < 2000) return;
    toldAt = now;
    const bytes = (count: number): string => `${formatCount(count)}B`;
    const rest = over ? '' : `, ${bytes(bytesPerSecond)}/s, ${formatSeconds(secondsLeft)} left`;
    say(`Downloading ${model}: ${bytes(doneBytes)} of ${bytes(totalBytes)}${rest}`);
  };
}

/** An error that ended a run at work, with the command that goes on; some say it themselves. */
function withWayOn(error: unknown, run: RunDirectory, root: string, learning: boolean): unknown {
  if (!TurnwiseError.isInstance(error) || error.message.includes('turnwise resume')) return error;
  if (!learning && error.code !== 'engine-failed') return error;
  const { code, message, fields } = error;
  return new TurnwiseError(code, { what: message, next: wayOn(run, root), fields, cause: error });
}

function wayOn(run: RunDirectory, root: string): string {
  // A run that ended before its first event has left no folder.
  if (!existsSync(run.path)) return 'Nothing of the run was kept: give the same command again';
  const step = run.checkpoints.steps().at(-1);
  const kept = step === undefined ? 'from its beginning' : `from step ${step}`;
  return `Go on ${kept} with: ${commandIn(root, `resume ${run.name}`)}`;
}

function interrupted(run: RunDirectory | undefined, root: string, cause: unknown): TurnwiseError {
  return new TurnwiseError('interrupted', {
    what: run ? `Run "${run.name}" was stopped` : 'Stopped before the run began',
    ...(run && { next: wayOn(run, root) }),
    ...(run && { fields: { run: run.name } }),
    cause,
  });
}
