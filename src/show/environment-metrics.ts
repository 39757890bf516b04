/** What an environment tells of itself, as a table: a row for each metric, a column for each way of playing. */

import type { Paint } from './console.ts';
import { formatScore } from './format.ts';
import { table } from './table.ts';

export interface Measured {
  readonly label: string;
  readonly metrics?: Readonly<Record<string, number>>;
}

/** The lines of the table; none where nothing was told. */
export function environmentMetricLines(measured: readonly Measured[], paint: Paint): string[] {
  const names = [...new Set(measured.flatMap(({ metrics = {} }) => Object.keys(metrics)))].sort();
  if (names.length === 0) return [];
  const columns = [
    { title: '' },
    ...measured.map(({ label }) => ({ title: label, align: 'right' as const })),
  ];
  const rows = names.map((name) => [
    name,
    ...measured.map(({ metrics }) => (metrics?.[name] === undefined ? '–' : formatScore(metrics[name]))),
  ]);
  return table(columns, rows, paint);
}
