/** Columns of text, aligned. */

import { displayWidth, type Paint, padEnd, padStart } from './console.ts';

export interface Column {
  readonly title: string;
  /** Numbers stand to the right. Default: left. */
  readonly align?: 'left' | 'right';
}

/** Lines of a table with a dim heading; cells may carry colours. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  paint: Paint,
  indent = 2,
): string[] {
  const widths = columns.map(({ title }, index) =>
    Math.max(displayWidth(title), ...rows.map((row) => displayWidth(row[index] ?? ''))),
  );
  const line = (cells: readonly string[]): string =>
    ' '.repeat(indent) +
    columns
      .map(({ align }, index) => (align === 'right' ? padStart : padEnd)(cells[index] ?? '', widths[index]!))
      .join('  ')
      .trimEnd();
  const heading = columns.map(({ title }) => title);
  return [paint('dim', line(heading)), ...rows.map(line)];
}
