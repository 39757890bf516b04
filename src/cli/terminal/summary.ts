/** What a run achieved, for people: printed at its end and by `turnwise runs show`. */

import { CODE, sourceKind, typedSource } from '../../run/load/world-source.ts';
import { type Console, type Paint, painter, wrap } from '../../show/console.ts';
import { environmentMetricLines } from '../../show/environment-metrics.ts';
import { type Episode, episodeText } from '../../show/episode-text.ts';
import { formatCount, formatInterval, formatScore, formatSeconds } from '../../show/format.ts';
import { plot } from '../../show/plot.ts';
import { gameCurve, modelFact, type RunHistory, returnDiffers, totalOf } from '../../show/run-history.ts';
import { type Column, table } from '../../show/table.ts';
import { capitalized, onWhichTasks, taskNoun } from '../../show/task-words.ts';
import type { RunWorld } from '../../store/run-file.ts';
import { commandIn } from '../../store/runs.ts';
import type { EvaluationResult, Evaluations, Metrics } from '../../train/loop/events.ts';

export interface SummaryInput {
  readonly run: string;
  /** Default: the built-in world that the history names. */
  readonly world?: RunWorld;
  readonly history: RunHistory;
  /** The folder of all runs, as it was given. */
  readonly root: string;
  /** Where the curve was written, as a path that can be opened from here. */
  readonly curvePath?: string;
  /** One episode of the warm start and one of the trained policy on the same task. */
  readonly examples?: { readonly before: Episode; readonly after: Episode };
}

/** The whole summary as text. */
export function summaryText(
  { run, world, root, history, curvePath, examples }: SummaryInput,
  screen: Screen,
): string {
  const paint = painter(screen.colour);
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', paint('bold', title), ...lines];
  const lines = [
    headline(run, history, paint),
    // In self-play every win is also a loss: success is one half, whatever was learned.
    ...section(
      capitalized(taskNoun(history.start)),
      gameCurve(history).length > 0 ? [] : results(history, paint),
    ),
    ...section('Metrics of the environment', environmentFigures(history, paint)),
    ...section('Learning curve', [
      ...curve(history, screen),
      ...(curvePath === undefined ? [] : [paint('dim', `  as a picture: ${curvePath}`)]),
    ]),
    ...section('Spent', spent(history, screen.columns)),
    ...(examples
      ? [
          ...section('One episode before', episodeText(examples.before, { ...screen, ...exampleSize })),
          ...section('The same task after', episodeText(examples.after, { ...screen, ...exampleSize })),
        ]
      : []),
    ...section('Warnings', warningLines(history, paint)),
    ...section('Next', nextCommands({ run, root, history, ...(world && { world }) })),
  ];
  return `${lines.join('\n')}\n`;
}

type Screen = Pick<Console, 'columns' | 'colour'>;

const exampleSize = { turns: 6, linesPerMessage: 4 };

function headline(run: string, history: RunHistory, paint: Paint): string {
  const { start, finish, before, after, evaluations, steps } = history;
  const what = start ? `${start.environment} · ${start.recipe} · seed ${start.seed}` : '';
  const name = `${paint('bold', run)}  ${paint('dim', what)}`;
  const last = after ?? evaluations.at(-1);
  const game = gameCurve({ steps });
  if (!finish) return `${name}\n${paint('yellow', `Not finished: ${steps.length} steps so far.`)}`;
  if (game.length > 0) {
    const [from, to] = [game[0]!.average, game.at(-1)!.average].map((value) => formatScore(value, 3));
    const alone = formatScore(game.at(-1)!.last, 3);
    return `${name}\nSelf-play: exploitability ${paint('yellow', from!)} → ${paint(['green', 'bold'], to!)} (average policy; the last one alone ${alone}).`;
  }
  if (!before || !last) return name;
  const [from, to] = [before.sampled, last.sampled];
  const change = `success ${paint('yellow', formatScore(from.success))} → ${paint(['green', 'bold'], formatScore(to.success))}`;
  // The weights are those of before: whatever changed is chance.
  if (steps.length > 0 && !steps.some(({ metrics }) => learnedIn(metrics)))
    return `${name}\n${paint('yellow', 'No step learned anything')}: ${change} ${onWhichTasks(start)}. The warnings say why.`;
  if (to.successInterval[0] > from.successInterval[1]) {
    return `${name}\nThe agent learned: ${change} ${onWhichTasks(start)}.`;
  }
  const verdict = to.successInterval[1] < from.successInterval[0] ? 'it got worse' : 'no clear change';
  return `${name}\nDone: ${change} ${onWhichTasks(start)}, ${verdict}.`;
}

/** Whether any learner of the run learned in the step: each but the first has figures under its name. */
const learnedIn = (metrics: Metrics): boolean =>
  Object.entries(metrics).some(([name, value]) => /(^|\/)tokens\/trained$/.test(name) && value > 0);

/** Metrics of the environment before and after, sampled and greedy. */
function environmentFigures({ before, after, evaluations }: RunHistory, paint: Paint): string[] {
  const last = after ?? (evaluations.at(-1) === before ? undefined : evaluations.at(-1));
  const ways = (label: string, { sampled, greedy }: Evaluations) => [
    { ...sampled, label: `sampled, ${label}` },
    ...(greedy ? [{ ...greedy, label: `greedy, ${label}` }] : []),
  ];
  const measured = [...(before ? ways('before', before) : []), ...(last ? ways('after', last) : [])];
  return environmentMetricLines(measured, paint);
}

/** A row for each way of playing, before and after. */
function results({ before, after, evaluations }: RunHistory, paint: Paint): string[] {
  if (!before) return [];
  const last = after ?? (evaluations.at(-1) === before ? undefined : evaluations.at(-1));
  const row = (label: string, result: EvaluationResult): string[] => [
    label,
    formatInterval(result.success, result.successInterval),
    formatInterval(result.return, result.returnInterval),
    result.turns.toFixed(1),
  ];
  const rows = [
    row('sampled, before', before.sampled),
    ...(last ? [row('sampled, after', last.sampled)] : []),
    ...(before.greedy ? [row('greedy, before', before.greedy)] : []),
    ...(last?.greedy ? [row('greedy, after', last.greedy)] : []),
  ];
  const columns: Column[] = [
    { title: '' },
    { title: 'success (95% interval)' },
    { title: 'return (95% interval)' },
    { title: 'turns', align: 'right' },
  ];
  return table(columns, rows, paint);
}

/** Exploitability in self-play; success elsewhere, or return where success does not move but return does. */
function curve(history: RunHistory, { columns, colour }: Screen): string[] {
  const { evaluations } = history;
  const frame = { columns: Math.min(columns, 80) - 4, rows: 11, xLabel: 'step' };
  const game = gameCurve(history);
  if (game.length > 0) {
    const average = game.map((point) => [point.step, point.average] as const);
    const last = game.map((point) => [point.step, point.last] as const);
    const chart = plot(
      [
        {
          label: 'exploitability of the average policy',
          marker: '●',
          line: true,
          colour: 'green',
          points: thin(average),
        },
        { label: 'of the last policy', marker: '○', line: false, colour: 'magenta', points: thin(last) },
      ],
      { ...frame, yRange: [0, 0.1] },
      painter(colour),
    );
    return chart.map((line) => `  ${line}`);
  }
  const spread = (value: (result: EvaluationResult) => number): number => {
    const values = evaluations.map(({ sampled }) => value(sampled));
    return Math.max(...values) - Math.min(...values);
  };
  const byReturn =
    evaluations.length > 0 &&
    returnDiffers(evaluations) &&
    spread(({ success }) => success) < 0.05 &&
    spread((result) => result.return) > 0.05;
  const value = (result: EvaluationResult): number => (byReturn ? result.return : result.success);
  const name = byReturn ? 'return' : 'success';
  const returns = evaluations.map(({ sampled }) => sampled.return);
  const greedily = evaluations.flatMap(({ step, greedy }) =>
    greedy ? [[step, value(greedy)] as const] : [],
  );
  const chart = plot(
    [
      {
        label: `${name}, sampled at temperature 1`,
        marker: '●',
        line: true,
        colour: 'green',
        points: evaluations.map(({ step, sampled }) => [step, value(sampled)] as const),
      },
      ...(greedily.length > 0
        ? [{ label: 'greedy', marker: '○', line: false, colour: 'magenta', points: greedily } as const]
        : []),
    ],
    { ...frame, yRange: byReturn ? [Math.min(...returns), Math.max(...returns)] : [0, 1] },
    painter(colour),
  );
  return chart.map((line) => `  ${line}`);
}

/** At most a dozen points, the first and the last among them: more markers than that hide each other. */
function thin<T>(points: readonly T[]): T[] {
  const every = Math.ceil(points.length / 12);
  return points.filter((_, index) => index % every === 0 || index === points.length - 1);
}

function spent(history: RunHistory, columns: number): string[] {
  const { start, finish, steps } = history;
  if (steps.length === 0) return [];
  const summary = finish?.summary;
  const tokens = summary?.tokens ?? {
    sampled: totalOf(history, 'tokens/sampled'),
    trained: totalOf(history, 'tokens/trained'),
    forward: totalOf(history, 'tokens/forward'),
  };
  const rows: [string, string][] = [];
  if (summary) {
    const { total, clone, rollout, train, evaluate } = summary.seconds;
    const parts = [
      `cloning ${formatSeconds(clone)}`,
      `acting ${formatSeconds(rollout)}`,
      `learning ${formatSeconds(train)}`,
      `evaluating ${formatSeconds(evaluate)}`,
    ];
    const { resumedAfter } = history;
    const inAll = formatSeconds(steps.at(-1)!.spent.seconds);
    rows.push([
      'time',
      resumedAfter === undefined
        ? `${formatSeconds(total)} (${parts.join(', ')})`
        : `${formatSeconds(total)} since step ${resumedAfter} (${parts.join(', ')}); acting and learning ${inAll} in all`,
    ]);
    rows.push([
      'experience',
      `${formatCount(summary.episodes)} episodes, ${formatCount(summary.turns)} turns in ${summary.steps} steps`,
    ]);
  } else {
    rows.push(['time', formatSeconds(history.seconds)]);
  }
  rows.push([
    'tokens',
    `${formatCount(tokens.sampled)} sampled, ${formatCount(tokens.forward)} processed to act, ${formatCount(tokens.trained)} to learn`,
  ]);
  if (start) {
    rows.push([
      'model',
      [
        modelFact(start),
        ...(start.adapter === undefined ? [] : [`${formatCount(start.adapter)} of an adapter`]),
        ...(start.base === undefined
          ? [`${start.vocabulary} words`, ...(start.server === undefined ? ['from scratch'] : [])]
          : [`${start.vocabulary} tokens`, `from ${start.base}`]),
      ].join(', '),
    ]);
  }
  return rows.flatMap(([label, text]) =>
    wrap(text, columns - 14).map((line, index) => `  ${(index === 0 ? label : '').padEnd(12)}${line}`),
  );
}

/** Warnings of one kind are counted; the last one is quoted. */
function warningLines({ warnings }: RunHistory, paint: Paint): string[] {
  const kinds = new Map<string, { count: number; message: string }>();
  for (const { code, message } of warnings) {
    kinds.set(code, { count: (kinds.get(code)?.count ?? 0) + 1, message });
  }
  return [...kinds].map(
    ([code, { count, message }]) =>
      `  ${paint('yellow', code)}${count > 1 ? ` (${count} times, the last one)` : ''}: ${message}`,
  );
}

function nextCommands(input: SummaryInput): string[] {
  const commands = input.history.finish ? afterwards(input) : [goOn(input)];
  const width = Math.max(...commands.map(([command]) => command.length));
  return commands.map(([command, why]) => `  ${command.padEnd(width)}  ${why}`);
}

type NextCommand = readonly [command: string, why: string];

function afterwards({ run, root, world, history: { start } }: SummaryInput): NextCommand[] {
  const source = world?.source ?? start?.environment ?? 'NAME';
  const typed = typedSource(source);
  const other = start?.recipe === 'grpo' ? 'ppo' : 'grpo';
  const model = start?.base === undefined ? '' : ` --model ${start.base}`;
  const npx = (command: string): string => `npx ${commandIn(root, command)}`;
  const comparing: NextCommand = [npx(`runs compare ${run} OTHER`), 'compare two runs'];
  if (typed === undefined) return [comparing];
  return [
    // A file may hold an agent, which plays by itself.
    ...(sourceKind(source) === 'file'
      ? []
      : [[npx(`play ${typed} --run ${run}`), 'watch the agent'] as const]),
    [npx(`eval ${run} --tasks 1000`), 'measure it better'],
    [npx(`train ${typed}${model} --recipe ${other}`), 'another method'],
    comparing,
  ];
}

/** A run whose world only a program has goes on in that program. */
function goOn({ run, root, world }: SummaryInput): NextCommand {
  const why = 'go on from the last checkpoint';
  if (world?.source !== CODE) return [`npx ${commandIn(root, `resume ${run}`)}`, why];
  const folder = root === 'runs' ? '' : `, runs: '${root}'`;
  return [`resume('${run}', { world${folder} })`, `${why}, in the program that made its world`];
}
