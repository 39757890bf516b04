/** Names and numbers of a comparison as both the terminal and pages write them. */

import type { MetricName } from '../../compare/results.ts';
import type { Quantity, Reading } from '../../compare/run-record.ts';
import { costLevel } from '../../compare/world-results.ts';
import type { PairedComparison } from '../../evidence/paired.ts';
import { formatCount, formatScore } from '../../show/format.ts';
import { shownInterval } from './bands.ts';

export const levelText = `${100 * costLevel}%`;

/** How many decimals a quantity is shown with. */
export const decimalsOf = (quantity: Quantity): number => (quantity === 'exploitability' ? 3 : 2);

export function quantityTitle(quantity: Quantity, tasks: string): string {
  switch (quantity) {
    case 'exploitability':
      return 'Exploitability of the average policy (lower is better)';
    case 'return':
      return `Return on ${tasks}`;
    default:
      return `Success on ${tasks}`;
  }
}

export const axisNames = {
  episodes: 'episodes',
  turns: 'environment steps',
  tokens: 'tokens processed',
  seconds: 'seconds of acting and learning',
} as const;

export function metricTitle(metric: MetricName, { quantity, axis }: Reading, overWorlds = false): string {
  if (metric === 'final') return quantity === 'success' ? 'final success' : 'final';
  if (metric === 'cost') return overWorlds ? `budget to ${levelText}` : `${axis} to ${levelText}`;
  return metric;
}

/** `+0.05 [+0.01, +0.09]`; with few seeds no interval, since none would hold what it promises. */
export function differenceText(comparison: PairedComparison, format: (value: number) => string): string {
  const signed = (value: number): string => {
    const text = format(value);
    return value > 0 && /[1-9]/.test(text) ? `+${text}` : text.replace(/^−(?=[0.]+$)/, '');
  };
  const interval = shownInterval(comparison);
  const range = interval ? ` [${signed(interval.low)}, ${signed(interval.high)}]` : '';
  return signed(comparison.mean) + range;
}

/** Scores, or counts where the metric counts what was spent. */
export function metricFormat(
  metric: MetricName,
  quantity: Quantity,
  overWorlds: boolean,
  decimals: number = decimalsOf(quantity),
): (value: number) => string {
  if (metric === 'cost' && !overWorlds) return (value) => formatCount(value).replace('-', '−');
  return (value) => formatScore(value, decimals);
}

export function formatP(p: number): string {
  return p < 0.001 ? '<0.001' : p.toFixed(p < 0.1 ? 3 : 2);
}

/** Wins, ties and losses of the second of a pair: `8/0/2`. */
export const winsText = ({ wins, ties, losses }: PairedComparison): string => `${wins}/${ties}/${losses}`;
