/** Parts that pages of comparisons and of claims share: charts and tables of one world. */

import { summaryOf } from '../../compare/arm-summary.ts';
import { type CostAxis, costAxes } from '../../compare/budget.ts';
import type { ArmResult, WorldResult } from '../../compare/world-results.ts';
import { formatCount, formatScore } from '../../show/format.ts';
import { escapeHtml, type HtmlColumn, htmlTable } from '../../show/html.ts';
import { lookOf } from '../../show/svg-chart.ts';
import { bandFigure, slopeFigure } from './band-figure.ts';
import { bandOf, curvesOf, differenceBand } from './bands.ts';
import { tasksOf } from './comparison-text.ts';
import { axisNames, decimalsOf, levelText, quantityTitle } from './figures.ts';

const points = 41;

export const number = (title: string): HtmlColumn => ({ title, kind: 'number' });

/** `grpo`, or `grpo at 0.0005` where an arm runs at several rates. */
export function labelOf({ arm, rate }: ArmResult): string {
  return rate === undefined ? arm : `${arm} at ${Number(rate.toPrecision(3))}`;
}

export function keyed(name: string, index: number): string {
  return `<span class="${lookOf(index)}"><span class="key"></span></span>${escapeHtml(name)}`;
}

export function legend(arms: readonly ArmResult[]): string {
  return `<ul class="legend">${arms.map((arm, index) => `<li>${keyed(labelOf(arm), index)}</li>`).join('')}</ul>`;
}

export function curveFigure(world: WorldResult, axis: CostAxis = world.reading.axis): string {
  const { reading, arms } = world;
  const { quantity } = reading;
  const lines = arms.map((arm, index) => {
    const seeds = curvesOf(arm, reading, axis);
    const end = axis === reading.axis ? reading.end : Number.POSITIVE_INFINITY;
    return { name: labelOf(arm), look: lookOf(index), seeds, mean: bandOf(seeds, points, end) };
  });
  const far = Math.max(1, ...lines.flatMap(({ seeds }) => seeds.map((seed) => seed.at(-1)!.spent)));
  return bandFigure(lines, {
    title: quantityTitle(quantity, tasksOf(world)),
    xName: axisNames[axis],
    end: axis === reading.axis && reading.end > 0 ? reading.end : far,
    low: 0,
    high: quantity === 'success' ? 1 : 0.01,
    ...(quantity === 'success' && { level: 0.8 }),
  });
}

/** The other costs, each as an axis. */
export function otherAxes(world: WorldResult): string {
  const figures = costAxes
    .filter((axis) => axis !== world.reading.axis)
    .map((axis) => curveFigure(world, axis));
  return `<details><summary>The same over the other costs</summary><div class="charts">${figures.join('\n')}</div></details>`;
}

/** All arms against one, seed by seed. */
export function differenceFigure({ arms, reading }: WorldResult, against: ArmResult): string {
  const runs = ({ seeds }: ArmResult) =>
    seeds.flatMap(({ seed, run }) => (run ? [[seed, run] as const] : []));
  const lines = arms.flatMap((arm, index) =>
    arm === against
      ? []
      : [
          {
            name: labelOf(arm),
            look: lookOf(index),
            seeds: [],
            mean: differenceBand(runs(arm), runs(against), reading, points),
          },
        ],
  );
  return bandFigure(lines, {
    title: `Difference from ${labelOf(against)}, seed by seed`,
    xName: axisNames[reading.axis],
    end: Math.max(reading.end, 1e-9),
    low: -0.1,
    high: 0.1,
  });
}

export function finalsFigure(world: WorldResult): string {
  const columns = world.arms.map((arm, index) => ({
    name: labelOf(arm),
    look: lookOf(index),
    values: new Map(arm.seeds.flatMap(({ seed, figures }) => (figures ? [[seed, figures.final]] : []))),
  }));
  return slopeFigure(columns, 'Where each run ended; lines join the arms of a seed', [
    0,
    world.reading.quantity === 'success' ? 1 : 0.01,
  ]);
}

export function armTable({ arms, reading }: WorldResult): string {
  const { quantity, axis } = reading;
  const counts = quantity === 'success';
  const score = (value: number): string => formatScore(value, decimalsOf(quantity) + 1);
  const columns: HtmlColumn[] = [
    { title: 'arm' },
    ...['start', 'final', 'area', 'return'].map(number),
    ...(counts ? [number(`${axis} to ${levelText}`), number('collapsed')] : []),
    ...costAxes.map(number),
    number('seconds a step'),
  ];
  const rows = arms.map((arm, index) => {
    const name = keyed(labelOf(arm), index);
    const summary = summaryOf(arm, reading);
    if (summary === null) return [`${name} <span class="failed">no run finished</span>`];
    const { counted, missing, diverged, toLevel, reached, collapses, collapseBound, spent } = summary;
    const notes = [
      ...(missing > 0 ? [`${counted} of ${arm.seeds.length} seeds`] : []),
      ...(diverged > 0 ? [`${diverged} diverged`] : []),
    ];
    const level = toLevel[axis] === null ? 'not reached' : formatCount(toLevel[axis]);
    const partly =
      reached > 0 && reached < counted ? ` <span class="soft">${reached} of ${counted}</span>` : '';
    const possible = collapses === 0 ? ` <span class="soft">≤ ${formatScore(collapseBound)}</span>` : '';
    return [
      `${name}${notes.length === 0 ? '' : ` <span class="failed">${notes.join(', ')}</span>`}`,
      score(summary.warm),
      `<strong>${score(summary.final)}</strong>`,
      score(summary.area),
      score(summary.return),
      ...(counts ? [level + partly, `${collapses}/${counted}${possible}`] : []),
      ...costAxes.map((cost) => formatCount(spent[cost])),
      summary.secondsPerStep.toFixed(2),
    ];
  });
  return htmlTable(columns, rows);
}

export function seedTable({ arms, reading }: WorldResult): string {
  const failed = arms.some(({ seeds }) => seeds.some(({ problem }) => problem));
  const columns: HtmlColumn[] = [
    { title: 'arm' },
    ...['seed', 'start', 'final', 'area', 'return', ...costAxes].map(number),
    ...(failed ? [{ title: '', kind: 'wrap' } as const] : []),
  ];
  const score = (value: number): string => formatScore(value, decimalsOf(reading.quantity) + 1);
  const rows = arms.flatMap((arm, index) =>
    arm.seeds.map(({ seed, figures, problem, diverged }) => {
      const place = [keyed(labelOf(arm), index), String(seed)];
      const why = problem
        ? `<span class="failed">${diverged ? 'diverged' : 'failed'}: ${escapeHtml(`${problem.message} (${problem.code})`)}</span>`
        : '';
      if (!figures)
        return [...place, ...Array.from({ length: 4 + costAxes.length }, () => '–'), why || 'not finished'];
      const { warm, final, area, spent } = figures;
      return [
        ...place,
        ...[warm, final, area, figures.return].map(score),
        ...costAxes.map((axis) => formatCount(spent[axis])),
        ...(failed ? [why] : []),
      ];
    }),
  );
  return htmlTable(columns, rows);
}
