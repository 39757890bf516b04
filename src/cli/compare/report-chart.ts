/** Learning curves for a page: lines are an SVG that stretches, labels are text beside it, so that both fit any width. */

import { formatCount, formatScore, formatTicks, niceTicks } from '../format.ts';
import { bandOf } from './bands.ts';
import { escapeHtml } from './html.ts';
import { lookOf } from './report-style.ts';
import { along, type Comparison } from './results.ts';

const points = 41;
/** Size of the drawing; it is stretched to the page. */
const size = 1000;

/** All recipes over environment steps or tokens: seeds thin, their interquartile mean thick, its interval as a band. */
export function chartFigure(
  { recipes, measure }: Comparison,
  axis: 'turns' | 'tokens',
  title: string,
  axisName: string,
): string {
  const lines = recipes.map(({ recipe, seeds }, index) => {
    const curves = seeds.flatMap(({ curve }) => (curve ? [curve] : []));
    return {
      recipe,
      look: lookOf(index),
      band: bandOf(curves, axis, points, recipe),
      seeds: curves.map((curve) => along(curve, axis)),
    };
  });
  const everything = lines.flatMap(({ seeds }) => seeds.flat());
  if (everything.length === 0) return '';
  const values = everything.map(({ value }) => value);
  const yTicks = niceTicks(
    measure.kind === 'return' ? Math.min(...values) : Math.min(0, ...values),
    measure.kind === 'return'
      ? Math.max(...values)
      : Math.max(measure.kind === 'success' ? 1 : 0.01, ...values),
    5,
  );
  const [low, high] = [yTicks[0]!, yTicks.at(-1)!];
  const end = Math.max(1, ...everything.map(({ spent }) => spent));
  const xTicks = niceTicks(0, end, 5).filter((tick) => tick <= end);
  const x = (spent: number): string => ((spent / end) * size).toFixed(1);
  const y = (value: number): string => ((1 - (value - low) / (high - low)) * size).toFixed(1);
  const path = (of: readonly (readonly [number, number])[]): string =>
    of.map(([spent, value], index) => `${index === 0 ? 'M' : 'L'}${x(spent)} ${y(value)}`).join('');
  const level = (value: number, kind: string): string => `<path class="${kind}" d="M0 ${y(value)}H${size}"/>`;

  const drawn = lines.map(({ recipe, look, band, seeds }) => {
    if (band.length === 0) return '';
    const last = band.at(-1)!;
    const outline = [
      ...band.map((point) => [point.spent, point.high] as const),
      ...band.toReversed().map((point) => [point.spent, point.low] as const),
    ];
    return [
      `<g class="${look}"><title>${escapeHtml(recipe)}: ${formatScore(last.value, 3)} after ${formatCount(last.spent)}</title>`,
      seeds.length > 1 ? `<path class="band" d="${path(outline)}Z"/>` : '',
      ...(seeds.length > 1
        ? seeds.map(
            (seed) => `<path class="seed" d="${path(seed.map(({ spent, value }) => [spent, value]))}"/>`,
          )
        : []),
      `<path class="curve" d="${path(band.map(({ spent, value }) => [spent, value]))}"/>`,
      `<path class="dot" d="M${x(last.spent)} ${y(last.value)}h0"/></g>`,
    ].join('');
  });
  const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;
  const yLabels = formatTicks(yTicks).map(
    (label, index) =>
      `<span style="bottom:${percent((yTicks[index]! - low) / (high - low))}">${label}</span>`,
  );
  const xLabels = xTicks.map(
    (tick) =>
      `<span${tick / end > 0.95 ? ' class="last"' : ''} style="left:${percent(tick / end)}">${shortCount(tick)}</span>`,
  );
  return `<figure class="card"><figcaption>${escapeHtml(title)}</figcaption>
<div class="plot"><div class="ys" aria-hidden="true">${yLabels.join('')}</div>
<div class="area"><svg viewBox="0 0 ${size} ${size}" preserveAspectRatio="none" role="img" aria-label="${escapeHtml(`${measure.title} over ${axisName}`)}">
${yTicks.map((tick) => level(tick, tick === low ? 'base' : 'grid')).join('')}${measure.level === undefined ? '' : level(measure.level, 'level')}
${drawn.join('\n')}
</svg></div>
<div class="xs" aria-hidden="true">${xLabels.join('')}<span class="axis-name">${escapeHtml(axisName)}</span></div></div></figure>`;
}

/** 20k rather than 20.0k. */
function shortCount(value: number): string {
  return formatCount(value)
    .replace(/(\.\d*?)0+(?=[kM]$)/, '$1')
    .replace(/\.(?=[kM]$)/, '');
}
