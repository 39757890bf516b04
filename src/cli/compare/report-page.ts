/** `report.html`: everything about a comparison on one page that needs nothing else. */

import type { Job } from '../../compare/jobs.ts';
import { type Provenance, provenanceText } from '../../compare/provenance.ts';
import { type Comparison, type PairResult, profileThresholds } from '../../compare/results.ts';
import { seedsText } from '../../compare/seed-list.ts';
import type { Study } from '../../compare/study.ts';
import { costLevel, type WorldResult } from '../../compare/world-results.ts';
import { differences } from '../../core/json/differences.ts';
import { commandLine } from '../../core/shell.ts';
import type { PairedComparison } from '../../evidence/paired.ts';
import { fewestSeeds } from '../../evidence/paired.ts';
import { formatCount, formatScore } from '../../show/format.ts';
import { escapeHtml, type HtmlColumn, htmlTable } from '../../show/html.ts';
import { lookOf } from '../../show/svg-chart.ts';
import { bandFigure } from './band-figure.ts';
import { shownInterval } from './bands.ts';
import { readingOf, tasksOf } from './comparison-text.ts';
import {
  axisNames,
  differenceText,
  formatP,
  levelText,
  metricFormat,
  metricTitle,
  winsText,
} from './figures.ts';
import {
  armTable,
  curveFigure,
  differenceFigure,
  finalsFigure,
  keyed,
  legend,
  number,
  otherAxes,
  seedTable,
} from './report-parts.ts';
import { reportStyle } from './report-style.ts';

export interface ReportRequest {
  readonly comparison: Comparison;
  readonly study: Study;
  readonly jobs: readonly Job[];
  readonly seeds: readonly number[];
  readonly from: Provenance;
  /** The command line that made it. */
  readonly command: string;
}

export function reportPage({ comparison, study, jobs, seeds, from, command }: ReportRequest): string {
  const { name, worlds } = comparison;
  const arms = study.arms.map((arm) => arm.name).join(', ');
  const places = worlds.map(({ world }) => world).join(', ');
  return page(
    name,
    `<p class="soft">Turnwise comparison · ${escapeHtml(name)}</p>
<h1>${escapeHtml(arms)} in ${escapeHtml(places)}</h1>
<p class="soft">${escapeHtml(budgetLine(study, jobs))}, seeds ${seedsText(seeds)}. For each world and seed all arms begin with the same warm start.</p>
<p class="verdict">${conclusion(comparison)}</p>
${worlds.map((world) => worldSection(world, worlds.length)).join('\n')}
${overallSection(comparison)}
${pairSection(comparison)}
<h2>How it was measured</h2><div class="card">${definitions(worlds)}</div>
<h2>What was run</h2><div class="card"><pre class="wrapped">${escapeHtml(command)}</pre>${configSection(study)}${commandSection(jobs)}
<p class="note">Every run and every point of every curve: <a href="runs.csv">runs.csv</a>, <a href="curves.csv">curves.csv</a></p></div>
<p class="note">${escapeHtml(provenanceText(from))}</p>`,
  );
}

/** A page that loads nothing. */
export function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><style>${reportStyle}</style></head>
<body><main>
${body}
</main></body></html>
`;
}

function worldSection(world: WorldResult, count: number): string {
  const [first] = world.arms;
  return `<h2>${count > 1 ? escapeHtml(world.world) : 'Results'}</h2>
${legend(world.arms)}
<div class="charts">
${curveFigure(world)}
${world.arms.length > 1 ? differenceFigure(world, first!) : ''}
${finalsFigure(world)}
</div>
<p class="note">Thick: mean over seeds. Thin: each seed. Band, from six seeds on: 95% interval of the mean, at each place by itself.</p>
${otherAxes(world)}
<div class="card" style="margin-top:1rem">${armTable(world)}
<details><summary>Every run</summary>${seedTable(world)}</details></div>`;
}

function budgetLine({ budget }: Study, jobs: readonly Job[]): string {
  if (budget !== undefined && budget.axis !== 'steps') {
    return `${formatCount(budget.amount)} ${axisNames[budget.axis]} for each run`;
  }
  const steps = [...new Set(jobs.filter(({ kind }) => kind === 'run').map(({ config }) => config.steps))];
  return `${steps.join(' or ')} reinforcement-learning steps for each run`;
}

export function conclusion({ pairs }: Comparison): string {
  if (pairs.length === 0) return 'Nothing to compare: no two arms finished the same seed.';
  const fewest = Math.min(...pairs.flatMap(({ comparison }) => comparison.seeds_W));
  if (fewest < fewestSeeds) {
    return `${fewest === 1 ? 'One seed is' : `${fewest} seeds are`} too few to tell arms apart: use ${fewestSeeds} or more. Exploratory figures follow.`;
  }
  const clear = pairs.filter(({ adjusted }) => adjusted <= 0.05).length;
  return `Exploratory: of ${pairs.length} differences, ${clear} have p ≤ 0.05 after Benjamini and Hochberg. A verdict takes a claim that was written down before.`;
}

function overallSection({ overall, improvement }: Comparison): string {
  if (overall.length === 0) return '';
  const table = htmlTable(
    [{ title: 'arm' }, number('mean over worlds'), number('interquartile mean')],
    overall.map(({ arm, mean, interquartileMean }, index) => [
      keyed(arm, index),
      formatScore(mean, 3),
      formatScore(interquartileMean, 3),
    ]),
  );
  const chances = improvement.map(
    ({ first, second, probability }) =>
      `a run of ${escapeHtml(second)} is better than one of ${escapeHtml(first)} with probability ${formatScore(probability)}`,
  );
  const profile = bandFigure(
    overall.map((one, index) => ({
      ...{ name: one.arm, look: lookOf(index), seeds: [] },
      mean: one.profile.map((value, place) => ({ spent: profileThresholds[place]!, value })),
    })),
    { title: 'Share of runs above each score', xName: 'score', end: 1, low: 0, high: 1 },
  );
  return `<h2>On these worlds together</h2><div class="charts">${profile}</div><div class="card" style="margin-top:1rem">${table}<p class="note">Descriptive: ${chances.join('; ')}. An interquartile mean over unlike worlds can drop whole worlds.</p></div>`;
}

function pairSection({ pairs, worlds }: Comparison): string {
  if (pairs.length === 0) return '';
  const several = worlds.length > 1;
  const columns: HtmlColumn[] = [
    { title: 'difference' },
    ...(several ? [{ title: 'world' }] : []),
    { title: 'of' },
    { title: '' },
    { title: 'mean [95% interval]' },
    number('won/tied/lost'),
    number('p (exploratory)'),
    number('break-even'),
  ];
  // Rows of one metric have one scale: a narrow interval is drawn narrow.
  const widest = ({ metric, world }: PairResult): number =>
    Math.max(
      ...pairs
        .filter((other) => other.metric === metric && (metric !== 'cost' || other.world === world))
        .map(({ comparison }) => reach(comparison)),
    );
  const rows = pairs.map((pair) => {
    const reading = readingOf(pair, worlds);
    // As many decimals as the tables of arms have.
    const format = metricFormat(pair.metric, reading.quantity, pair.world === undefined, 3);
    return [
      escapeHtml(`${pair.second} − ${pair.first}`),
      ...(several ? [escapeHtml(pair.world ?? 'all worlds')] : []),
      metricTitle(pair.metric, reading, pair.world === undefined),
      track(pair, widest(pair)),
      differenceText(pair.comparison, format),
      winsText(pair.comparison),
      formatP(pair.adjusted),
      pair.breakEven === undefined ? '' : formatScore(pair.breakEven),
    ];
  });
  return `<h2>Differences</h2><div class="card">${htmlTable(columns, rows)}</div>
<p class="note">Means of the differences seed by seed, with the 95% interval of exact sign flips, from six seeds on. p: the larger of sign flips and of a paired t whose variance is not below that of the evaluations, after Benjamini and Hochberg over all rows. Break-even: the collapse rate of the arm ahead at which its lead is gone.</p>`;
}

/** How far a difference and its interval reach from zero. */
function reach(comparison: PairedComparison): number {
  const { low, high } = shownInterval(comparison) ?? { low: 0, high: 0 };
  return Math.max(1e-9, Math.abs(comparison.mean), Math.abs(low), Math.abs(high));
}

/** The interval drawn beside zero; in colour where the difference stands after all corrections. */
function track({ comparison, adjusted }: PairResult, widest: number): string {
  const interval = shownInterval(comparison);
  const at = (value: number): string => `${(50 + (48 * value) / widest).toFixed(1)}%`;
  const range = interval
    ? `<i class="range" style="left:${at(interval.low)};width:${((48 * (interval.high - interval.low)) / widest).toFixed(1)}%"></i>`
    : '';
  return `<div class="track${adjusted <= 0.05 ? '' : ' unclear'}"><i class="zero" style="left:50%"></i>${range}<i class="mid" style="left:${at(comparison.mean)}"></i></div>`;
}

function definitions(worlds: readonly WorldResult[]): string {
  const terms = worlds.flatMap((world): [string, string][] => {
    const { quantity, axis, end } = world.reading;
    const prefix = worlds.length > 1 ? `${world.world}: ` : '';
    return [
      quantity === 'exploitability'
        ? [`${prefix}final`, 'Half of NashConv of the average of all policies so far; 0 is an equilibrium.']
        : [`${prefix}final`, `Share of ${tasksOf(world)} that are solved, sampled at temperature 1.`],
      [`${prefix}area`, `Mean along the way, from the warm start to ${formatCount(end)} ${axisNames[axis]}.`],
    ];
  });
  const common: [string, string][] = [
    [
      `to ${levelText}`,
      `Spent until success was ${costLevel}, judged along the line between evaluations; in the table of arms the median over seeds, in differences the whole budget where a run never got there.`,
    ],
    [
      'collapsed',
      'Runs that ended below their peak by a quarter of it, and by more than three standard deviations of the evaluation. Beside 0: the highest rate that this number of seeds leaves possible, at 95%.',
    ],
    [
      'costs',
      'Episodes sampled, discarded ones included; environment steps, branches and twins included; tokens sampled, read, scored and trained on; seconds of acting and learning, while other runs shared the machine. Evaluations and the warm start are not counted.',
    ],
    ['diverged runs', 'Count with their last evaluation.'],
    ['failed runs', 'Leave with their pair, and are never counted as zero.'],
  ];
  return `<dl>${[...terms, ...common].map(([term, text]) => `<dt>${escapeHtml(term)}</dt><dd>${escapeHtml(text)}</dd>`).join('')}</dl>`;
}

function configSection({ worlds }: Study): string {
  const { cells } = worlds[0]!;
  const configs = cells.map(({ run }) => run.config);
  const keys = [
    ...new Set(configs.flatMap((config) => differences(configs[0], config).map(({ key }) => key))),
  ];
  const settingOf = (config: unknown, key: string): string => {
    const value = key
      .split('.')
      .reduce<unknown>((at, part) => (at as Record<string, unknown>)?.[part], config);
    return value === undefined ? '–' : `<code>${escapeHtml(JSON.stringify(value))}</code>`;
  };
  const table =
    keys.length === 0
      ? ''
      : `<p class="soft" style="margin-top:1rem">Settings in which the arms differ</p>${htmlTable(
          [{ title: 'setting' }, ...cells.map(({ arm }) => ({ title: arm.name }))],
          keys.map((key) => [
            `<code>${escapeHtml(key)}</code>`,
            ...configs.map((config) => settingOf(config, key)),
          ]),
        )}`;
  const whole = escapeHtml(JSON.stringify(configs[0], null, 2));
  return `${table}<details><summary>The whole configuration of ${escapeHtml(cells[0]!.arm.name)}</summary><pre>${whole}</pre></details>`;
}

function commandSection(jobs: readonly Job[]): string {
  const lines = new Set(jobs.map(({ words }) => commandLine(['turnwise', ...words])));
  return `<details><summary>The command of every run</summary><pre>${escapeHtml([...lines].join('\n'))}</pre></details>`;
}
