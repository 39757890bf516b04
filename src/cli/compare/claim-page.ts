/** A page of claims with their verdicts: those that lost stand on it as well. */

import { costAxes } from '../../compare/budget.ts';
import type { ClaimResult, ResultRun } from '../../compare/claims/claim-result.ts';
import type { JudgedClaim } from '../../compare/claims/claim-verdict.ts';
import { ledgerColumns } from '../../compare/ledger.ts';
import { seedsText } from '../../compare/seed-list.ts';
import type { WorldResult } from '../../compare/world-results.ts';
import { mean } from '../../core/statistics.ts';
import { collapseBound } from '../../evidence/collapse.ts';
import { clauses } from '../../evidence/verdict.ts';
import { formatCount, formatScore } from '../../show/format.ts';
import { escapeHtml, htmlTable } from '../../show/html.ts';
import { lookOf } from '../../show/svg-chart.ts';
import { taskNoun } from '../../show/task-words.ts';
import { bandFigure } from './band-figure.ts';
import { reasonOf } from './claim-text.ts';
import { axisNames, differenceText, formatP, winsText } from './figures.ts';
import { page } from './report-page.ts';
import { curveFigure, differenceFigure, finalsFigure, legend, number, otherAxes } from './report-parts.ts';

export interface ShownClaim {
  readonly judged: JudgedClaim;
  /** Where the runs are on this machine: their curves. */
  readonly worlds: readonly WorldResult[];
}

export function claimsPage(claims: readonly ShownClaim[]): string {
  const counts = new Map<string, number>();
  for (const { judged } of claims)
    counts.set(judged.judgement.verdict, (counts.get(judged.judgement.verdict) ?? 0) + 1);
  const count = [...counts].map(([verdict, number]) => `${number} ${verdict}`).join(', ');
  return page(
    'Claims',
    `<p class="soft">Turnwise claims</p><h1>${claims.length === 1 ? 'One claim' : `${claims.length} claims`}</h1>
<p class="verdict">${escapeHtml(count)}</p>
${claims.length > 1 ? overview(claims) : ''}
${claims.map(claimSection).join('\n')}`,
  );
}

function overview(claims: readonly ShownClaim[]): string {
  const results = claims.filter(({ judged }) => judged.stored !== undefined);
  const waiting = claims.filter(({ judged }) => judged.stored === undefined);
  const rows = [...results, ...waiting].map(({ judged }) => [
    `<a href="#${judged.claim.id}">${escapeHtml(judged.claim.id)}</a>`,
    escapeHtml(judged.claim.about),
    `<strong>${judged.judgement.verdict}</strong>`,
    judged.stored ? formatP(judged.adjusted) : '–',
  ]);
  return `<div class="card">${htmlTable([{ title: 'claim' }, { title: '', kind: 'wrap' }, { title: 'verdict' }, number('p (Holm)')], rows)}</div>`;
}

function claimSection({ judged, worlds }: ShownClaim): string {
  const { claim, judgement, stored } = judged;
  const facts: [string, string][] = [
    ['claim', claim.about],
    ['source', claim.source],
    ['refuted by', claim.refutes],
    [
      'measured',
      `${claim.metric} on test tasks, sampled, ${claim.evaluationEpisodes} episodes; at least ${claim.minimal} ${claim.metric === 'cost' ? 'halvings ' : ''}${claim.direction}`,
    ],
    ['budget', `${formatCount(claim.budget.amount)} ${axisNames[claim.budget.axis]} for each run`],
    [
      'seeds',
      `tuning ${seedsText(stored?.result.seeds.tuning ?? claim.seeds.tuning)}, verdict ${seedsText(stored?.result.seeds.verdict ?? claim.seeds.verdict)}`,
    ],
    ...(claim.deviations.length === 0
      ? []
      : ([['deviations', clauses(claim.deviations)]] as [string, string][])),
    ...(claim.supersedes === undefined ? [] : ([['supersedes', claim.supersedes]] as [string, string][])),
  ];
  const list = facts.map(([term, text]) => `<dt>${term}</dt><dd>${escapeHtml(text)}</dd>`).join('');
  return `<h2 id="${claim.id}">${escapeHtml(claim.id)}</h2>
<p class="verdict"><strong>${judgement.verdict}</strong>: ${escapeHtml(reasonOf(judged))}</p>
<div class="card"><dl>${list}</dl></div>
${stored ? resultSection(judged, stored.result, worlds) : ''}`;
}

function resultSection(judged: JudgedClaim, result: ClaimResult, worlds: readonly WorldResult[]): string {
  return `${partTable(judged)}
${Object.entries(result.worlds)
  .map(([name, world]) => {
    const shown = worlds.find(
      (one) => one.world === name && one.arms.some(({ seeds }) => seeds.some(({ run }) => run)),
    );
    return `<h3>${escapeHtml(name)}</h3>
<div class="card" style="margin-top:1rem">${runTable(world.runs)}
<p class="note">On ${escapeHtml(taskNoun({ testTasks: world.testTasks as 'held-out' }))}. Means over seeds; costs where the budget ends. Beside 0 collapses: the highest rate that this number of seeds leaves possible, at 95%.</p></div>
${shown ? `${legend(shown.arms)}<div class="charts">${curveFigure(shown)}${differenceFigure(shown, shown.arms[0]!)}${finalsFigure(shown)}${sensitivityFigure(world)}</div>${otherAxes(shown)}` : sensitivityFigure(world)}`;
  })
  .join('\n')}
${ledgerTable(result)}
<p class="note">${escapeHtml(provenanceLine(result))}</p>`;
}

function partTable({ parts }: JudgedClaim): string {
  const rows = parts.map(({ against, kind, size, comparison, breakEven, collapseBound: bound }) => {
    const possible =
      breakEven !== undefined && bound !== undefined && breakEven < bound
        ? `holds if fewer than ${formatScore(breakEven)} of seeds collapse; up to ${formatScore(bound)} is not excluded`
        : breakEven === undefined
          ? ''
          : formatScore(breakEven);
    const { guard } = comparison;
    return [
      escapeHtml(
        kind === 'no worse'
          ? `no worse than ${against} by ${size}`
          : `above ${against}${kind === 'placebo' ? ' (placebo)' : ''}`,
      ),
      differenceText(comparison, (value) => formatScore(value, 3)),
      guard.interval
        ? `[${formatScore(guard.interval.low, 3)}, ${formatScore(guard.interval.high, 3)}]`
        : '–',
      winsText(comparison),
      formatP(comparison.p),
      possible,
    ];
  });
  const columns = [
    { title: 'part' },
    { title: 'mean [sign flips]' },
    { title: 'guard' },
    number('won/tied/lost'),
    number('p'),
    { title: 'break-even', kind: 'wrap' as const },
  ];
  return `<div class="card" style="margin-top:1rem">${htmlTable(columns, rows)}<p class="note">Intervals at the level of the claim after Holm; a verdict needs both.</p></div>`;
}

function runTable(runs: readonly ResultRun[]): string {
  const known = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null);
  const rows = runs.map((run) => {
    const finals = known(run.final);
    const bound =
      run.collapsed === 0 && finals.length > 0
        ? ` <span class="soft">≤ ${formatScore(collapseBound(finals.length))}</span>`
        : '';
    return [
      escapeHtml(run.arm),
      run.rate === undefined ? '–' : String(run.rate),
      formatScore(run.start, 3),
      finals.length === 0 ? '–' : `<strong>${formatScore(mean(finals), 3)}</strong>`,
      finals.length === 0 ? '–' : formatScore(mean(known(run.area)), 3),
      ...run.spent.map(formatCount),
      `${run.collapsed}/${finals.length}${bound}`,
      `${run.diverged} diverged, ${run.final.length - finals.length} missing`,
    ];
  });
  return htmlTable(
    [
      { title: 'arm' },
      number('rate'),
      number('start'),
      number('final'),
      number('area'),
      ...costAxes.map(number),
      number('collapsed'),
      { title: '' },
    ],
    rows,
  );
}

/** Mean area against the learning rate, on tuning seeds: a lead at one rate only shows here. */
function sensitivityFigure({ tuned }: ClaimResult['worlds'][string]): string {
  const arms = Object.entries(tuned).filter(([, rates]) => rates.length > 1);
  if (arms.length === 0) return '';
  const all = arms.flatMap(([, rates]) => rates.map(([rate]) => rate));
  const low = Math.log2(Math.min(...all));
  const lines = arms.map(([name, rates], index) => ({
    ...{ name, look: lookOf(index), seeds: [] },
    mean: rates
      .map(([rate, area]) => ({ spent: Math.log2(rate) - low, value: area }))
      .sort((a, b) => a.spent - b.spent),
  }));
  const end = Math.max(...lines.flatMap(({ mean: points }) => points.map(({ spent }) => spent)));
  return bandFigure(lines, {
    title: 'Mean area over the learning rate, on tuning seeds and validation tasks',
    xName: `doublings above ${Math.min(...all)}`,
    end: Math.max(end, 1e-9),
    low: 0,
    high: 1,
  });
}

function ledgerTable({ ledger }: ClaimResult): string {
  const rows = Object.entries(ledger).map(([arm, reads]) => [
    escapeHtml(arm),
    '●',
    ...ledgerColumns.map((column) => (reads.includes(column) ? '●' : '')),
  ]);
  return `<div class="card" style="margin-top:1rem">${htmlTable([{ title: 'is told' }, { title: 'outcome' }, ...ledgerColumns.map((title) => ({ title }))], rows)}</div>`;
}

function provenanceLine({
  version,
  commit,
  node,
  runtime,
  processor,
  cores,
  date,
  hours,
}: ClaimResult): string {
  return `Turnwise ${version}, commit ${commit.slice(0, 10)}, Node ${node.slice(1)}, ${runtime}, ${processor} with ${cores} cores, ${date.slice(0, 10)}; ${hours.tuning} hours of tuning and ${hours.verdict} of verdict runs.`;
}
