/** Writes dataset files. A new file appears complete or not at all; what is appended is whole lines. */

import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { exactJson } from '../core/json/exact-json.ts';
import { writeError } from '../core/write-error.ts';
import { isRow } from './read-rows.ts';
import { isPreference, type Row, rowJson } from './row.ts';

/** A row as a line, without its end. */
export function rowLine(row: Row): string {
  return exactJson({ ...rowJson(row), ...(!isPreference(row) && row.tokens && { tokens: row.tokens }) });
}

/** Write a file of these rows. @throws TurnwiseError `disk-failed`, `disk-full` */
export function writeRows(file: string, rows: readonly Row[]): void {
  const unfinished = `${file}.${process.pid}.part`;
  try {
    writeFileSync(unfinished, rows.map((row) => `${rowLine(row)}\n`).join(''));
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw writeError(error, file, 'Nothing was written', 'write it again, or choose another file');
  }
}

/** Append rows to a file. @throws TurnwiseError `disk-failed`, `disk-full` */
export function appendRows(file: string, rows: readonly Row[]): void {
  if (rows.length === 0) return;
  try {
    appendFileSync(file, rows.map((row) => `${rowLine(row)}\n`).join(''));
  } catch (error) {
    throw writeError(error, file, 'What was recorded before is kept', 'run the same command again');
  }
}

/** Make a file ready to be appended to: a last line that a killed process left unfinished is cut off. */
export function endLine(file: string): void {
  if (!existsSync(file)) return;
  const text = readFileSync(file);
  const end = text.lastIndexOf(0x0a) + 1;
  if (end === text.length) return;
  if (isRow(text.subarray(end).toString('utf8'))) appendFileSync(file, '\n');
  else truncateSync(file, end);
}
