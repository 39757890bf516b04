/** A run as lines of a terminal: figures, curves and the last warnings; and an event as one line. */

import { visible } from '../../core/visible.ts';
import { type Paint, padEnd, truncate, wrap } from '../../show/console.ts';
import { plot } from '../../show/plot.ts';
import { taskWord } from '../../show/task-words.ts';
import type { TimedEvent } from '../../store/log-lines.ts';
import { figuresOf } from '../../view/figures.ts';
import { duration, number, share } from '../../view/page/text/format.ts';
import type { SeriesTable } from '../../view/series.ts';
import type { RunOverview } from '../../view/shapes.ts';
import { stateMarks } from '../../view/state.ts';
import { promptsLine } from './prompts-line.ts';
import { stageLine } from './stage-line.ts';

const chartRows = 9;
const mostWarnings = 3;
const figuresInLine = 3;

export function tailBlock(
  overview: RunOverview,
  curve: SeriesTable,
  columns: number,
  paint: Paint,
): string[] {
  const { name, state, world, recipe, history, latest, resume } = overview;
  const { step, steps, warnings } = history;
  const pace = latest['time/step_s'];
  const facts = [
    `${visible(world)} · ${recipe}`,
    steps > 0 ? `step ${step} of ${steps}` : `step ${step}`,
    ...(state === 'running' && history.phase ? [history.phase] : []),
    ...(typeof pace === 'number' ? [`${duration(pace)} a step`] : []),
    ...(state === 'running' && typeof pace === 'number' && step > 0
      ? [`${duration(pace * (steps - step))} left`]
      : []),
  ];
  return [
    `${paint('bold', visible(name))}  ${stateMarks[state]} ${state}  ${paint('dim', facts.join(' · '))}`,
    ...(state === 'stopped' ? [paint('yellow', `Go on with: ${resume}`)] : []),
    '',
    ...figureLines(overview, columns, paint),
    '',
    ...curves(overview, curve, columns, paint),
    ...warnings
      .slice(-mostWarnings)
      .map((warning) =>
        paint('yellow', `! step ${warning.step}  ${visible(`${warning.code}: ${warning.message}`)}`),
      ),
  ];
}

function figureLines(overview: RunOverview, columns: number, paint: Paint): string[] {
  const figures = figuresOf(overview);
  const width = Math.floor(columns / figuresInLine);
  const rows = [figures.slice(0, figuresInLine), figures.slice(figuresInLine)];
  const cells = rows.flatMap((row) => [
    row.map(({ name }) => paint('dim', padEnd(truncate(name, width - 1), width))).join(''),
    row.map(({ value, alarm }) => paint(alarm === undefined ? 'bold' : 'red', padEnd(value, width))).join(''),
    row.map(({ note }) => paint('dim', padEnd(truncate(note, width - 1), width))).join(''),
  ]);
  const alarms = figures.flatMap(({ alarm }) => (alarm === undefined ? [] : wrap(visible(alarm), columns)));
  return [...cells, ...alarms.map((line) => paint('red', line))];
}

function curves({ history }: RunOverview, curve: SeriesTable, columns: number, paint: Paint): string[] {
  const training = [...(curve.series['reward/success']?.mean ?? [])].flatMap((value, index) =>
    Number.isFinite(value) ? [[curve.axes.step[index]!, value] as const] : [],
  );
  const held = history.evaluations.map(({ step, sampled }) => [step, sampled.success] as const);
  const series = [
    { label: taskWord(history.start), points: held, marker: '●', line: true, colour: 'green' as const },
    { label: 'training', points: training, marker: '·', line: false, colour: 'cyan' as const },
  ];
  const lines = plot(series, { columns, rows: chartRows, yRange: [0, 1], xLabel: 'step' }, paint);
  return lines.length === 0 ? [paint('dim', 'The curve begins with the second point.')] : lines;
}

/** Undefined for what is told otherwise. */
export function eventLine(event: TimedEvent): string | undefined {
  const time = event.time.slice(11, 19);
  switch (event.type) {
    case 'step': {
      const { metrics, step, steps } = event;
      const { 'reward/success': success, 'reward/mean': earned, 'policy/kl': kl } = metrics;
      const parts = [
        ...(success === undefined ? [] : [`success ${share(success)}`]),
        ...(earned === undefined ? [] : [`return ${number(earned)}`]),
        ...(kl === undefined ? [] : [`kl ${number(kl)}`]),
        duration(metrics['time/step_s'] ?? Number.NaN),
      ];
      return `${time}  step ${step}/${steps}  ${parts.join('  ')}`;
    }
    case 'evaluation': {
      const { sampled, greedy, label, step } = event;
      const [low, high] = sampled.successInterval;
      return `${time}  evaluation ${label}, step ${step}  success ${share(sampled.success)} (${share(low)}–${share(high)})${greedy ? `  greedy ${share(greedy.success)}` : ''}`;
    }
    case 'warning':
      return `${time}  warning ${visible(event.code)}: ${visible(event.message)}`;
    case 'start':
      return `${time}  start ${visible(event.environment)} ${event.recipe}, seed ${event.seed}`;
    case 'resume':
      return `${time}  resumed from step ${event.step}`;
    case 'stage':
      return `${time}  ${stageLine(event)}`;
    case 'phase':
      return `${time}  ${event.phase}${event.still ? ', weights as they are' : ''}`;
    case 'prompts':
      return `${time}  ${promptsLine(event)}`;
    case 'finish':
      return `${time}  finished after ${event.summary.steps} steps, ${duration(event.summary.seconds.total)}`;
    default:
      return undefined;
  }
}
