/** The rows of a table: keys that walk through them, and of thousands only those near the screen in the document. */

import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useKeys } from '../navigation/keys.ts';
import { Near } from './near.tsx';

/** Rows that come and go together. */
const together = 40;
/** So many are in the document at once. */
const few = 3 * together;
const usualHeight = 37;

/**
 * The row that was chosen with `j` `k` `g` `G`, always on the screen; `↵` opens it.
 *
 * @param of what the rows are of: with another, the first is chosen anew
 */
export function useRow(what: string, count: number, of: string, open: (row: number) => void): number {
  const [at, choose] = useState({ row: 0, of });
  const walked = useRef(false);
  const last = Math.max(0, count - 1);
  const chosen = at.of === of ? Math.min(at.row, last) : 0;
  const to = (row: number) => (): void => {
    walked.current = true;
    choose({ row: Math.max(0, Math.min(last, row)), of });
  };
  useLayoutEffect(() => {
    if (walked.current) document.querySelector('tr.current')?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  useKeys([
    { key: 'j', does: `next ${what}`, act: to(chosen + 1) },
    { key: 'k', does: `previous ${what}`, act: to(chosen - 1) },
    { key: 'g', does: `first ${what}`, act: to(0) },
    { key: 'G', does: `last ${what}`, act: to(last) },
    { key: 'Enter', does: `open the ${what}`, act: () => count > 0 && open(chosen) },
  ]);
  return chosen;
}

interface RowsProps<T> {
  readonly rows: readonly T[];
  readonly chosen: number;
  readonly draw: (row: T, index: number) => ComponentChildren;
}

export function Rows<T>({ rows, chosen, draw }: RowsProps<T>) {
  const starts = Array.from({ length: Math.ceil(rows.length / together) }, (_, part) => part * together);
  return (
    <>
      {starts.map((start) => {
        const part = rows.slice(start, start + together);
        return (
          <Near
            key={start}
            tag="tbody"
            height={usualHeight * part.length}
            always={rows.length <= few || (chosen >= start && chosen < start + together)}
            draw={() => part.map((row, index) => draw(row, start + index))}
          />
        );
      })}
    </>
  );
}
