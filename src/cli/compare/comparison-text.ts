/** A comparison as text for the terminal: a table, curves, differences, and what failed. */

import { summaryOf } from '../../compare/arm-summary.ts';
import type { Comparison, PairResult } from '../../compare/results.ts';
import type { ArmResult, WorldResult } from '../../compare/world-results.ts';
import { fewestSeeds } from '../../evidence/paired.ts';
import { type Console, painter, wrap } from '../../show/console.ts';
import { formatCount, formatScore } from '../../show/format.ts';
import { plot, type Series } from '../../show/plot.ts';
import { table } from '../../show/table.ts';
import { taskNoun } from '../../show/task-words.ts';
import { bandOf, curvesOf } from './bands.ts';
import {
  axisNames,
  decimalsOf,
  differenceText,
  formatP,
  levelText,
  metricFormat,
  metricTitle,
  quantityTitle,
  winsText,
} from './figures.ts';

type Screen = Pick<Console, 'columns' | 'colour'>;

export function comparisonText(comparison: Comparison, report: string, screen: Screen): string {
  const paint = painter(screen.colour);
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', paint('bold', title), ...lines];
  const { worlds } = comparison;
  const lines = [
    `${paint('bold', comparison.name)}  ${paint('dim', seedsLine(comparison))}`,
    ...worlds.flatMap((world) => [
      ...section(titleOf(world, worlds.length), armLines(world, screen)),
      ...section('Learning curves', curveLines(world, screen)),
    ]),
    ...notes(worlds, screen),
    ...section('All worlds', overallLines(comparison, screen)),
    ...section('Differences, seed by seed (exploratory)', differenceLines(comparison, screen)),
    ...section('Failed', failureLines(worlds, screen)),
    '',
    `Report: ${report}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** What the tasks of the evaluations of a world are called. */
export function tasksOf({ arms }: WorldResult): string {
  const runs = arms.flatMap(({ seeds }) => seeds.flatMap(({ run }) => run ?? []));
  return taskNoun(runs.find(({ start }) => start)?.start);
}

function titleOf(world: WorldResult, worlds: number): string {
  const title = quantityTitle(world.reading.quantity, tasksOf(world));
  return worlds > 1 ? `${world.world}: ${title.charAt(0).toLowerCase()}${title.slice(1)}` : title;
}

function seedsLine({ worlds }: Comparison): string {
  const count = Math.max(0, ...worlds.flatMap(({ arms }) => arms.map(({ seeds }) => seeds.length)));
  const names = worlds.map(({ world }) => world).join(', ');
  return `${names} · ${count} seed${count === 1 ? '' : 's'}, one warm start each`;
}

function armLines(world: WorldResult, screen: Screen): string[] {
  const paint = painter(screen.colour);
  const { reading, arms } = world;
  const { quantity, axis } = reading;
  const counts = quantity === 'success';
  const score = (value: number): string => formatScore(value, decimalsOf(quantity));
  const columns = [
    { title: 'arm' },
    { title: 'start', align: 'right' },
    { title: 'final', align: 'right' },
    { title: 'area', align: 'right' },
    ...(counts
      ? ([
          { title: `${axis}→${levelText}`, align: 'right' },
          { title: 'collapsed', align: 'right' },
        ] as const)
      : []),
    { title: 'tokens', align: 'right' },
    { title: 's/step', align: 'right' },
  ] as const;
  const rows = arms.map((arm) => {
    const summary = summaryOf(arm, reading);
    if (summary === null)
      return [nameOf(arm, paint, 0), '–', '–', '–', ...(counts ? ['–', '–'] : []), '–', '–'];
    const { counted, toLevel, reached } = summary;
    const level = toLevel[axis] === null ? 'never' : formatCount(toLevel[axis]);
    const partly = reached > 0 && reached < counted ? ` ${reached}/${counted}` : '';
    return [
      nameOf(arm, paint, counted),
      score(summary.warm),
      score(summary.final),
      score(summary.area),
      ...(counts ? [level + partly, `${summary.collapses}/${counted}`] : []),
      formatCount(summary.spent.tokens),
      summary.secondsPerStep.toFixed(2),
    ];
  });
  return table(columns, rows, paint);
}

function nameOf({ arm, seeds }: ArmResult, paint: ReturnType<typeof painter>, counted: number): string {
  return paint('cyan', arm) + (counted < seeds.length ? paint('red', ` ${counted}/${seeds.length}`) : '');
}

function notes(worlds: readonly WorldResult[], { columns, colour }: Screen): string[] {
  const [first] = worlds;
  if (first === undefined) return [];
  const { axis, end, quantity } = first.reading;
  const text = [
    `Means over seeds. Area: mean along the way, to ${formatCount(end)} ${axisNames[axis]}.`,
    ...(quantity === 'success'
      ? [
          `${axis}→${levelText}: until success was ${levelText}, median over seeds. Collapsed: ended a quarter below the peak, beyond noise.`,
        ]
      : []),
  ].join(' ');
  const paint = painter(colour);
  return wrap(text, Math.min(columns, 80) - 2).map((line) => `  ${paint('dim', line)}`);
}

const looks = [
  { marker: '●', colour: 'green' },
  { marker: '◆', colour: 'magenta' },
  { marker: '▲', colour: 'yellow' },
  { marker: '■', colour: 'cyan' },
] as const;

/** Up to four arms: more lines than that hide each other. */
function curveLines({ arms, reading }: WorldResult, { columns, colour }: Screen): string[] {
  if (arms.length > looks.length) return [];
  const series = arms.flatMap((arm, index): Series[] => {
    const band = bandOf(curvesOf(arm, reading, reading.axis), 12, reading.end);
    const points = band.map(({ spent, value }) => [Math.round(spent), value] as const);
    return points.length === 0 ? [] : [{ label: arm.arm, line: true, points, ...looks[index]! }];
  });
  const lines = plot(
    series,
    {
      columns: Math.min(columns, 80) - 4,
      rows: 11,
      yRange: reading.quantity === 'success' ? [0, 1] : [0, 0.1],
      xLabel: axisNames[reading.axis],
    },
    painter(colour),
  );
  return lines.map((line) => `  ${line}`);
}

function overallLines({ overall, improvement }: Comparison, screen: Screen): string[] {
  if (overall.length === 0) return [];
  const paint = painter(screen.colour);
  return [
    ...table(
      [{ title: 'arm' }, { title: 'mean', align: 'right' }, { title: 'interquartile mean', align: 'right' }],
      overall.map(({ arm, mean, interquartileMean }) => [
        paint('cyan', arm),
        formatScore(mean, 3),
        formatScore(interquartileMean, 3),
      ]),
      paint,
    ),
    ...improvement.map(
      ({ first, second, probability }) =>
        `  A run of ${second} is better than one of ${first} with probability ${formatScore(probability)}.`,
    ),
  ];
}

function differenceLines({ pairs, worlds }: Comparison, screen: Screen): string[] {
  if (pairs.length === 0) return [];
  const paint = painter(screen.colour);
  const several = worlds.length > 1;
  // Of every world by itself the page has the rest.
  const shown = pairs.filter(({ metric, world }) => !several || world === undefined || metric === 'final');
  const rows = shown.map((pair) => [
    `${pair.second} − ${pair.first}`,
    ...(several ? [pair.world ?? 'all worlds'] : []),
    metricTitle(pair.metric, readingOf(pair, worlds), several && pair.world === undefined),
    differenceText(
      pair.comparison,
      metricFormat(pair.metric, readingOf(pair, worlds).quantity, pair.world === undefined),
    ),
    winsText(pair.comparison),
    formatP(pair.adjusted),
  ]);
  const few = Math.min(...pairs.flatMap(({ comparison }) => comparison.seeds_W));
  const text = [
    'Second minus first: mean over seeds with the 95% interval of exact sign flips, pairs won/tied/lost, and p after Benjamini and Hochberg over all rows.',
    ...(few < fewestSeeds
      ? [
          `With ${few} seed${few === 1 ? '' : 's'} no difference is certain: a verdict takes ${fewestSeeds} or more.`,
        ]
      : []),
  ].join(' ');
  return [
    ...table(
      [
        { title: '' },
        ...(several ? [{ title: 'world' }] : []),
        { title: '' },
        { title: 'difference' },
        { title: 'w/t/l' },
        { title: 'p', align: 'right' },
      ],
      rows,
      paint,
    ),
    ...wrap(text, Math.min(screen.columns, 80) - 2).map((line) => `  ${paint('dim', line)}`),
  ];
}

export function readingOf({ world }: PairResult, worlds: readonly WorldResult[]): WorldResult['reading'] {
  return (worlds.find((one) => one.world === world) ?? worlds[0]!).reading;
}

function failureLines(worlds: readonly WorldResult[], { columns }: Screen): string[] {
  return worlds.flatMap(({ world, arms }) =>
    arms.flatMap(({ arm, seeds }) =>
      seeds.flatMap(({ seed, problem, diverged }) => {
        if (problem === undefined) return [];
        const place = worlds.length > 1 ? `${arm} in ${world}` : arm;
        const text = `${place}, seed ${seed}: ${diverged ? 'diverged: ' : ''}${problem.message} (${problem.code})`;
        return wrap(text, columns - 4).map((line, index) => `  ${index === 0 ? '' : '  '}${line}`);
      }),
    ),
  );
}
