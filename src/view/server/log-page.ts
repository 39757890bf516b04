/** The last lines of a log, or those before them: read from the end, as text. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

export interface LogPage {
  readonly lines: readonly string[];
  /** Where the first of these lines begins; 0 at the beginning of the log. */
  readonly from: number;
}

const pageBytes = 128 * 1024;
const mostOfALine = 4000;

/** @param before where a page that was read earlier begins; the end of the log by default */
export function logPage(path: string, before?: number): LogPage {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return { lines: [], from: 0 };
  }
  try {
    const end = Math.min(before ?? Number.POSITIVE_INFINITY, fstatSync(file).size);
    const start = Math.max(0, end - pageBytes);
    const bytes = Buffer.alloc(end - start);
    const read = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start));
    // What is before the first line end belongs to a line that began earlier.
    const first = start === 0 ? 0 : read.indexOf(0x0a) + 1;
    const lines = read.toString('utf8', first).split('\n').filter(Boolean);
    return {
      lines: lines.map((line) => line.slice(0, mostOfALine)),
      from: first === 0 ? start : start + first,
    };
  } finally {
    closeSync(file);
  }
}
