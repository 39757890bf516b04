/** A comparison as text for the terminal: a table, curves, differences, and what failed. */

import { type Console, painter, wrap } from '../console.ts';
import { formatCount, formatScore } from '../format.ts';
import { plot, type Series } from '../plot.ts';
import { table } from '../table.ts';
import { bandOf } from './bands.ts';
import type { Comparison, Estimate, PairResult, RecipeResult } from './results.ts';

type Screen = Pick<Console, 'columns' | 'colour'>;

export function comparisonText(comparison: Comparison, report: string, screen: Screen): string {
  const paint = painter(screen.colour);
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', paint('bold', title), ...lines];
  const { measure, recipes } = comparison;
  const lines = [
    `${paint('bold', comparison.name)}  ${paint('dim', `${comparison.environment} · ${seedsText(recipes)}`)}`,
    ...section(measure.title, tableLines(comparison, screen)),
    ...section(`Return on ${comparison.tasks}`, returnLines(comparison, screen)),
    ...section('Learning curves', curveLines(comparison, screen)),
    ...section('Differences, seed by seed', differenceLines(comparison, screen)),
    ...section('Failed', failureLines(comparison, screen)),
    '',
    `Report: ${report}`,
  ];
  return `${lines.join('\n')}\n`;
}

function seedsText(recipes: readonly RecipeResult[]): string {
  const count = Math.max(0, ...recipes.map(({ seeds }) => seeds.length));
  return `${count} seed${count === 1 ? '' : 's'}, one warm start each`;
}

function tableLines({ measure, recipes }: Comparison, screen: Screen): string[] {
  const paint = painter(screen.colour);
  const level = measure.level;
  const columns = [
    { title: 'recipe' },
    { title: measure.kind === 'success' ? 'success' : 'final' },
    { title: 'area', align: 'right' },
    ...(level === undefined
      ? []
      : ([
          { title: `steps→${100 * level}%`, align: 'right' },
          { title: `tokens→${100 * level}%`, align: 'right' },
          { title: 'collapsed', align: 'right' },
        ] as const)),
    { title: 's/step', align: 'right' },
  ] as const;
  const rows = recipes.map((result) => {
    const { finished, seeds, toLevel, collapses, secondsPerStep } = result;
    const partly = finished < seeds.length ? paint('red', ` ${finished}/${seeds.length}`) : '';
    const reached =
      toLevel.reached < finished && toLevel.reached > 0 ? ` ${toLevel.reached}/${finished}` : '';
    const spent = (value: number | null): string =>
      (value === null ? (finished === 0 ? '–' : 'never') : formatCount(value)) + reached;
    return [
      paint('cyan', result.recipe) + partly,
      estimateText(result.final, measure.kind === 'success' ? 2 : 3),
      result.area === null ? '–' : formatScore(result.area.value, measure.kind === 'success' ? 2 : 3),
      ...(level === undefined
        ? []
        : [spent(toLevel.turns), spent(toLevel.tokens), finished === 0 ? '–' : `${collapses}/${finished}`]),
      secondsPerStep === null ? '–' : secondsPerStep.toFixed(2),
    ];
  });
  return [...table(columns, rows, paint), ...notes(screen, level)];
}

/** Where return says more than success. */
function returnLines({ recipes, hasReturn }: Comparison, screen: Screen): string[] {
  if (!hasReturn) return [];
  const paint = painter(screen.colour);
  const rows = recipes.map(({ recipe, finalReturn }) => [
    paint('cyan', recipe),
    estimateText(finalReturn, 2),
  ]);
  return table([{ title: 'recipe' }, { title: 'return' }], rows, paint);
}

function notes({ columns, colour }: Screen, level: number | undefined): string[] {
  const text = [
    'Interquartile mean over seeds, with 95% bootstrap interval. Area: mean along the way.',
    ...(level === undefined
      ? []
      : [
          `Steps→${100 * level}%: environment steps until success was ${100 * level}%, median over seeds. Collapsed: lost a quarter of the peak, beyond chance.`,
        ]),
  ].join(' ');
  const paint = painter(colour);
  return wrap(text, Math.min(columns, 80) - 2).map((line) => `  ${paint('dim', line)}`);
}

/** `0.93 [0.91, 0.95]`, or the value alone where there was one seed. */
export function estimateText(estimate: Estimate | null, decimals: number): string {
  if (estimate === null) return '–';
  const { value, interval } = estimate;
  const range = interval
    ? ` [${formatScore(interval.low, decimals)}, ${formatScore(interval.high, decimals)}]`
    : '';
  return formatScore(value, decimals) + range;
}

const looks = [
  { marker: '●', colour: 'green' },
  { marker: '◆', colour: 'magenta' },
  { marker: '▲', colour: 'yellow' },
  { marker: '■', colour: 'cyan' },
] as const;

/** Up to four recipes: more lines than that hide each other. */
function curveLines(comparison: Comparison, { columns, colour }: Screen): string[] {
  const { recipes, measure } = comparison;
  if (recipes.length > looks.length) return [];
  const series = recipes.flatMap(({ recipe, seeds }, index): Series[] => {
    const band = bandOf(
      seeds.flatMap(({ curve }) => (curve ? [curve] : [])),
      'turns',
      12,
      recipe,
    );
    const points = band.map(({ spent, value }) => [Math.round(spent), value] as const);
    return points.length === 0 ? [] : [{ label: recipe, line: true, points, ...looks[index]! }];
  });
  const lines = plot(
    series,
    {
      columns: Math.min(columns, 80) - 4,
      rows: 11,
      yRange: measure.kind === 'success' ? [0, 1] : [0, 0.1],
      xLabel: 'environment step',
    },
    painter(colour),
  );
  return lines.map((line) => `  ${line}`);
}

function differenceLines({ pairs, measure }: Comparison, screen: Screen): string[] {
  const paint = painter(screen.colour);
  const rows = pairs.map((pair) => [
    `${pair.second} − ${pair.first}`,
    differenceText(pair, measure.kind === 'success' ? 2 : 3),
    verdict(pair, measure.better),
  ]);
  return table([{ title: '' }, { title: 'difference' }, { title: '' }], rows, paint).slice(
    rows.length === 0 ? 1 : 0,
  );
}

/** `+0.05 [+0.01, +0.09]` */
export function differenceText({ difference, interval }: PairResult, decimals: number): string {
  const signed = (value: number): string => {
    const text = formatScore(value, decimals);
    return Number(value.toFixed(decimals)) > 0 ? `+${text}` : text.replace(/^−(?=[0.]+$)/, '');
  };
  return interval
    ? `${signed(difference)} [${signed(interval.low)}, ${signed(interval.high)}]`
    : signed(difference);
}

/**
 * With fewer seeds, equal recipes would too often differ in the same direction for all of them: with 4 one time in 8. Then
 * the interval of a bootstrap excludes zero, and still says nothing.
 */
export const fewestSeeds = 5;

/** Says only what the seeds and the interval allow. */
export function verdict({ first, second, interval, seeds }: PairResult, better: 'higher' | 'lower'): string {
  if (seeds < fewestSeeds) return `${seeds === 1 ? 'one seed is' : `${seeds} seeds are`} too few to say`;
  if (interval === null) return 'no clear difference';
  if (interval.low <= 0 && interval.high >= 0) return 'no clear difference';
  return `${interval.low > 0 === (better === 'higher') ? second : first} is better`;
}

function failureLines({ recipes }: Comparison, { columns }: Screen): string[] {
  return recipes.flatMap(({ recipe, seeds }) =>
    seeds.flatMap(({ seed, problem }) =>
      problem === undefined
        ? []
        : wrap(`${recipe}, seed ${seed}: ${problem.message} (${problem.code})`, columns - 4).map(
            (line, index) => `  ${index === 0 ? '' : '  '}${line}`,
          ),
    ),
  );
}
