/** `report.html`: everything about a comparison on one page that needs nothing else. */

import { differences } from '../../core/differences.ts';
import { commandLine } from '../../core/shell.ts';
import { version } from '../../run/version.ts';
import { formatCount, formatScore } from '../format.ts';
import { differenceText, estimateText, fewestSeeds, verdict } from './comparison-text.ts';
import { escapeHtml, type HtmlColumn, htmlTable } from './html.ts';
import type { Plan } from './plan.ts';
import { chartFigure } from './report-chart.ts';
import { lookOf, reportStyle } from './report-style.ts';
import type { Comparison, Estimate, PairResult, RecipeResult } from './results.ts';
import { byReturn, returnMeasure } from './run-curve.ts';

/** @param command the command line that made it */
export function reportPage(comparison: Comparison, plan: Plan, command: string): string {
  const { name, environment, recipes } = comparison;
  const names = recipes.map(({ recipe }) => recipe).join(', ');
  const seeds = `${plan.seeds} seed${plan.seeds === 1 ? '' : 's'}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(name)}</title><style>${reportStyle}</style></head>
<body><main>
<p class="soft">Turnwise comparison · ${escapeHtml(name)}</p>
<h1>${escapeHtml(names)} in ${escapeHtml(environment)}</h1>
<p class="soft">${escapeHtml(budgetText(plan))}, ${seeds}. For each seed all recipes begin with the same warm start.</p>
${conclusions(comparison)}
${legend(recipes)}
<div class="charts">
${chartFigure(comparison, 'turns', `${comparison.measure.title}, by experience`, experience)}
${chartFigure(comparison, 'tokens', `${comparison.measure.title}, by cost`, cost)}
${returnCharts(comparison)}
</div>
<p class="note">Thick: interquartile mean over seeds. Band: its 95% bootstrap interval. Thin: each seed.</p>
<h2>Results</h2><div class="card">${resultTable(comparison)}</div>
${pairSection(comparison)}
<h2>Every run</h2><div class="card">${seedTable(comparison)}</div>
<h2>How it was measured</h2><div class="card">${definitions(comparison)}</div>
<h2>What was run</h2><div class="card"><pre class="wrapped">${escapeHtml(command)}</pre>${configSection(plan)}${commandSection(plan)}</div>
<p class="note">Turnwise ${escapeHtml(version)}</p>
</main></body></html>
`;
}

function returnCharts(comparison: Comparison): string {
  if (!comparison.hasReturn) return '';
  const recipes = comparison.recipes.map((result) => ({
    ...result,
    seeds: result.seeds.map((seed) => (seed.curve ? { ...seed, curve: byReturn(seed.curve) } : seed)),
  }));
  const same = { ...comparison, recipes, measure: returnMeasure(comparison.tasks) };
  return `${chartFigure(same, 'turns', `${same.measure.title}, by experience`, experience)}
${chartFigure(same, 'tokens', `${same.measure.title}, by cost`, cost)}`;
}

const experience = 'environment steps';
const cost = 'tokens processed, to act and to learn';

function budgetText({ jobs }: Plan): string {
  const { steps, budget } = jobs.find(({ kind }) => kind === 'run')!.config;
  if (budget.minutes > 0) return `${budget.minutes} minutes of acting and learning for each run`;
  if (budget.tokens > 0) return `${formatCount(budget.tokens)} tokens for each run`;
  return `${steps} reinforcement-learning steps for each run`;
}

function conclusions({ pairs, measure, recipes }: Comparison): string {
  if (recipes.length < 2) return '';
  const most = Math.max(0, ...pairs.map(({ seeds }) => seeds));
  const better = pairs.flatMap((pair) => {
    const text = verdict(pair, measure.better);
    return text.endsWith(' is better') ? [{ pair, winner: text.slice(0, -' is better'.length) }] : [];
  });
  const sentences = better.map(({ pair: { first, second }, winner }) => {
    const loser = winner === first ? second : first;
    return `<strong>${escapeHtml(winner)}</strong> ends better than ${escapeHtml(loser)}`;
  });
  const text =
    pairs.length === 0
      ? 'Nothing to compare: no two recipes finished the same seed.'
      : most < fewestSeeds
        ? `${most === 1 ? 'One seed each is' : `${most} seeds are`} too few to say which recipe is better: use ${fewestSeeds} or more.`
        : sentences.length === 0
          ? 'No clear difference at the end: every interval of a difference holds zero.'
          : `${sentences.join('; ')}.${better.length < pairs.length ? ' Between the others there is no clear difference.' : ''}`;
  return `<p class="verdict">${text}</p>`;
}

function legend(recipes: readonly RecipeResult[]): string {
  const items = recipes.map(({ recipe }, index) => `<li>${keyed(recipe, index)}</li>`);
  return `<ul class="legend" style="margin-top:1.4rem">${items.join('')}</ul>`;
}

function keyed(recipe: string, index: number): string {
  return `<span class="${lookOf(index)}"><span class="key"></span></span>${escapeHtml(recipe)}`;
}

const number = (title: string): HtmlColumn => ({ title, kind: 'number' });

function resultTable({ measure, recipes, hasReturn }: Comparison): string {
  const decimals = measure.kind === 'success' ? 2 : 3;
  const percent = measure.level === undefined ? '' : `${100 * measure.level}%`;
  const columns: HtmlColumn[] = [
    { title: 'recipe' },
    { title: measure.kind === 'success' ? 'final success' : 'final exploitability' },
    ...(hasReturn ? [{ title: 'final return' }] : []),
    number('area'),
    ...(percent ? [number(`steps to ${percent}`), number(`tokens to ${percent}`), number('collapsed')] : []),
    number('seconds a step'),
  ];
  const rows = recipes.map((result, index) => {
    const { recipe, finished, seeds, toLevel, collapses, secondsPerStep } = result;
    const partly =
      finished < seeds.length ? ` <span class="failed">${finished} of ${seeds.length} seeds</span>` : '';
    const reached =
      toLevel.reached < finished && toLevel.reached > 0
        ? ` <span class="soft">${toLevel.reached} of ${finished}</span>`
        : '';
    const spent = (value: number | null): string =>
      (value === null ? (finished === 0 ? '–' : 'not reached') : formatCount(value)) + reached;
    return [
      keyed(recipe, index) + partly,
      estimateHtml(result.final, decimals),
      ...(hasReturn ? [estimateHtml(result.finalReturn, 2)] : []),
      result.area === null ? '–' : formatScore(result.area.value, decimals),
      ...(percent
        ? [
            spent(toLevel.turns),
            spent(toLevel.tokens),
            finished === 0 ? '–' : `${collapses} <span class="soft">of ${finished}</span>`,
          ]
        : []),
      secondsPerStep === null ? '–' : secondsPerStep.toFixed(2),
    ];
  });
  return htmlTable(columns, rows);
}

function estimateHtml(estimate: Estimate | null, decimals: number): string {
  const [value, ...interval] = estimateText(estimate, decimals).split(' ');
  return `<strong>${value}</strong> <span class="soft">${interval.join(' ')}</span>`;
}

function pairSection({ pairs, measure }: Comparison): string {
  const shown = pairs.filter(({ interval }) => interval !== null);
  if (shown.length === 0) return '';
  const decimals = measure.kind === 'success' ? 2 : 3;
  const widest = Math.max(
    1e-9,
    ...shown.flatMap(({ interval }) => [Math.abs(interval!.low), Math.abs(interval!.high)]),
  );
  const at = (value: number): string => `${(50 + (48 * value) / widest).toFixed(1)}%`;
  const rows = shown.map((pair) => {
    const { low, high } = pair.interval!;
    const width = `${((48 * (high - low)) / widest).toFixed(1)}%`;
    const unclear = verdict(pair, measure.better).endsWith(' is better') ? '' : ' unclear';
    return `<div class="pair${unclear}"><div>${escapeHtml(pair.second)} − ${escapeHtml(pair.first)}</div>
<div class="track"><i class="zero" style="left:50%"></i><i class="range" style="left:${at(low)};width:${width}"></i><i class="mid" style="left:${at(pair.difference)}"></i></div>
<div>${differenceText(pair, decimals)}<br><span class="soft">${escapeHtml(verdict(pair, measure.better))}${seedsNote(pair)}</span></div></div>`;
  });
  return `<h2>Differences</h2><div class="card">${rows.join('\n')}</div>
<p class="note">Of the interquartile means at the end, with 95% intervals of a bootstrap that draws seeds: what a seed does to both recipes cancels. With few seeds such intervals are narrower than they should be.</p>`;
}

function seedsNote({ seeds }: PairResult): string {
  return seeds < fewestSeeds ? '' : `, ${seeds} seeds`;
}

function seedTable({ recipes, measure }: Comparison): string {
  const failed = recipes.some(({ finished, seeds }) => finished < seeds.length);
  const columns: HtmlColumn[] = [
    { title: 'recipe' },
    number('seed'),
    number('warm start'),
    number('end'),
    number('best'),
    number('environment steps'),
    number('tokens'),
    ...(failed ? [{ title: '', kind: 'wrap' } as const] : []),
  ];
  const decimals = measure.kind === 'success' ? 3 : 4;
  const best = measure.better === 'higher' ? Math.max : Math.min;
  const rows = recipes.flatMap(({ recipe, seeds }, index) =>
    seeds.map(({ seed, curve, problem }) => {
      const label = [keyed(recipe, index), String(seed)];
      if (curve === undefined) {
        const why = problem ? `failed: ${problem.message} (${problem.code})` : 'not finished';
        return [...label, '–', '–', '–', '–', '–', `<span class="failed">${escapeHtml(why)}</span>`];
      }
      const { points } = curve;
      const last = points.at(-1)!;
      const score = (value: number): string => formatScore(value, decimals);
      return [
        ...label,
        score(points[0]!.value),
        score(last.value),
        score(best(...points.map(({ value }) => value))),
        formatCount(last.turns),
        formatCount(last.tokens),
      ];
    }),
  );
  return htmlTable(columns, rows);
}

function definitions({ measure, areaEnd, tasks }: Comparison): string {
  const terms: [string, string][] = [
    measure.kind === 'success'
      ? ['success', `Share of ${tasks} that are solved, sampled at temperature 1.`]
      : ['exploitability', 'Half of NashConv of the average of all policies so far; 0 is an equilibrium.'],
    ['final', 'Interquartile mean over seeds of the last evaluation, with its 95% bootstrap interval.'],
    [
      'area',
      `Mean along the way, from the warm start to ${formatCount(areaEnd)} environment steps, which every finished run reached.`,
    ],
    ...(measure.level === undefined
      ? []
      : ([
          [
            `steps, tokens to ${100 * measure.level}%`,
            'Median over seeds, judged along the line between evaluations. A seed that never got there counts as later than all others.',
          ],
          [
            'collapsed',
            'Runs that had an evaluation after their peak with at least a quarter of it lost, and with a 95% interval wholly below that of the peak.',
          ],
        ] as [string, string][])),
    ['tokens', 'All that the model processed, to act and to learn, without evaluations and the warm start.'],
    ['seconds a step', 'Median of acting and learning; several runs shared the machine.'],
    ['failed runs', 'Are left out of every figure and shown as failed, never as zero.'],
  ];
  return `<dl>${terms.map(([term, text]) => `<dt>${escapeHtml(term)}</dt><dd>${escapeHtml(text)}</dd>`).join('')}</dl>`;
}

function configSection({ jobs, recipes }: Plan): string {
  const configs = recipes.map(
    ({ name }) => jobs.find(({ kind, recipe }) => kind === 'run' && recipe === name)!.config,
  );
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
      : `<p class="soft" style="margin-top:1rem">Settings in which the recipes differ</p>${htmlTable(
          [{ title: 'setting' }, ...recipes.map(({ name }) => ({ title: name }))],
          keys.map((key) => [
            `<code>${escapeHtml(key)}</code>`,
            ...configs.map((config) => settingOf(config, key)),
          ]),
        )}`;
  const whole = escapeHtml(JSON.stringify(configs[0], null, 2));
  return `${table}<details><summary>The whole configuration of ${escapeHtml(recipes[0]!.name)}, seed 1</summary><pre>${whole}</pre></details>`;
}

function commandSection({ jobs }: Plan): string {
  const lines = jobs.map(({ words }) => commandLine(['turnwise', ...words]));
  return `<details><summary>The command of every run</summary><pre>${escapeHtml(lines.join('\n'))}</pre></details>`;
}
