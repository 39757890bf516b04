/**
 * Tasks in a file. JSONL and CSV files are read through once, each record checked; what stays in memory is where each begins,
 * so that a file of any size can be a task set. A JSON file is read whole.
 */

import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TurnwiseError } from '../../../core/errors.ts';
import { canonicalJson, type Json } from '../../../core/json/json.ts';
import { hash32 } from '../../../core/rng.ts';
import { cut } from '../../../core/safe-text.ts';
import { parseCsvRecord } from '../csv-record.ts';

export interface TaskFile {
  readonly size: number;
  at(index: number): Json;
  /** Of each task; equal tasks have equal ones. */
  readonly hashes: Uint32Array;
}

/** A record's bytes in the file, and its first line, from 1. */
interface RecordPlace {
  readonly offset: number;
  readonly bytes: number;
  readonly line: number;
}

const CHUNK_BYTES = 2 ** 20;

/**
 * The tasks of a `.jsonl` or `.ndjson` file (one JSON value a line; blank lines are skipped), of a `.json` file (an array), or
 * of a `.csv` file (a header, then a task a record: an object of texts by column).
 *
 * @param folder in which a relative path begins; default: the working directory
 * @throws TurnwiseError `task-file-unknown`, `task-file-invalid` with the line
 */
export function openTaskFile(given: string | URL, folder = process.cwd()): TaskFile {
  const path = resolve(folder, given instanceof URL ? fileURLToPath(given) : given);
  const reader = READERS[extname(path).toLowerCase()];
  if (!reader) {
    throw new TurnwiseError('task-file-invalid', {
      what: 'A task file has an ending that is not known',
      seen: path,
      allowed: Object.keys(READERS).join(', '),
      next: 'Rename or convert it, or give the tasks as an array',
      fields: { path },
    });
  }
  const file = reader(path);
  if (file.size > 0) return file;
  throw invalid(path, 1, 'holds no task', 'an empty file', 'at least one task');
}

const READERS: Readonly<Record<string, (path: string) => TaskFile>> = {
  '.jsonl': jsonLines,
  '.ndjson': jsonLines,
  '.json': jsonArray,
  '.csv': csvRecords,
};

function jsonLines(path: string): TaskFile {
  return recordFile(path, {
    quoted: false,
    reader: () => (text, line) => parseJson(path, text, line),
  });
}

function csvRecords(path: string): TaskFile {
  return recordFile(path, {
    quoted: true,
    reader: (header, line) => {
      const columns = csvFields(path, header, line);
      const twice = columns.find((column, index) => columns.indexOf(column) !== index || column === '');
      if (twice !== undefined) {
        throw invalid(
          path,
          line,
          'has a header that names no columns',
          `"${twice}"`,
          'different names, none empty',
        );
      }
      return (text, at) => {
        const fields = csvFields(path, text, at);
        if (fields.length !== columns.length) {
          throw invalid(
            path,
            at,
            'has a record of another length',
            `${fields.length} fields`,
            `${columns.length}: ${columns.join(', ')}`,
          );
        }
        return Object.fromEntries(columns.map((column, index) => [column, fields[index]!]));
      };
    },
  });
}

function csvFields(path: string, text: string, line: number): readonly string[] {
  const fields = parseCsvRecord(text);
  if (typeof fields !== 'string') return fields;
  throw invalid(
    path,
    line,
    'is no CSV',
    fields,
    'fields between commas; quotes around those with commas, quotes or line ends',
  );
}

interface RecordForm {
  /** Whether line ends within double quotes belong to their record. */
  readonly quoted: boolean;
  /** What reads a record. It is given the first one, which is the header where records are quoted. */
  reader(first: string, line: number): (text: string, line: number) => Json;
}

function recordFile(path: string, { quoted, reader }: RecordForm): TaskFile {
  const offsets: number[] = [];
  const lengths: number[] = [];
  const lines: number[] = [];
  const hashes: number[] = [];
  let read: ((text: string, line: number) => Json) | undefined;
  const file = openFile(path);
  const { size, mtimeMs } = fstatSync(file);
  try {
    for (const { offset, bytes, line, text } of recordsOf(file, quoted)) {
      if (text.trim() === '') continue;
      if (!read) {
        read = reader(text, line);
        if (quoted) continue;
      }
      hashes.push(hash32(canonicalJson(read(text, line))));
      offsets.push(offset);
      lengths.push(bytes);
      lines.push(line);
    }
  } finally {
    closeSync(file);
  }
  return {
    size: offsets.length,
    hashes: Uint32Array.from(hashes),
    at(index) {
      const place = { offset: offsets[index]!, bytes: lengths[index]!, line: lines[index]! };
      return read!(readRecord(path, place, { size, mtimeMs }), place.line);
    },
  };
}

/** The text of one record, from the file as it was when it was opened first. */
function readRecord(
  path: string,
  { offset, bytes }: RecordPlace,
  before: { readonly size: number; readonly mtimeMs: number },
): string {
  const file = openFile(path);
  try {
    const { size, mtimeMs } = fstatSync(file);
    if (size !== before.size || mtimeMs !== before.mtimeMs) {
      throw new TurnwiseError('task-file-invalid', {
        what: 'A task file was changed while it was in use, so its tasks are other ones than those that were checked',
        seen: path,
        next: 'Restore it, then resume the run; a run of other tasks is another run',
        fields: { path },
      });
    }
    const buffer = Buffer.alloc(bytes);
    readSync(file, buffer, 0, bytes, offset);
    return withoutMark(buffer.toString('utf8'));
  } finally {
    closeSync(file);
  }
}

const NEWLINE = 10;
const QUOTE = 34;

/** Records one after the other, whatever the size of the file. */
function* recordsOf(file: number, quoted: boolean): Generator<RecordPlace & { readonly text: string }> {
  let offset = 0;
  let line = 1;
  let pending = Buffer.alloc(0);
  let searched = 0;
  let inQuotes = false;
  let lineEnds = 0;
  const take = (end: number): RecordPlace & { readonly text: string } => {
    const bytes = pending.subarray(0, end);
    return { offset, bytes: end, line, text: withoutMark(bytes.toString('utf8')) };
  };
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let count = readSync(file, chunk); count > 0; count = readSync(file, chunk)) {
    pending = Buffer.concat([pending, chunk.subarray(0, count)]);
    while (searched < pending.length) {
      const byte = pending[searched++]!;
      if (quoted && byte === QUOTE) inQuotes = !inQuotes;
      if (byte !== NEWLINE) continue;
      lineEnds++;
      if (inQuotes) continue;
      yield take(searched - 1);
      offset += searched;
      line += lineEnds;
      pending = pending.subarray(searched);
      searched = 0;
      lineEnds = 0;
    }
  }
  if (pending.length > 0) yield take(pending.length);
}

/** A byte order mark, and the carriage return of Windows at the end. */
const withoutMark = (text: string): string => text.replace(/^\uFEFF/, '').replace(/\r$/, '');

function jsonArray(path: string): TaskFile {
  const file = openFile(path);
  let text: string;
  try {
    text = withoutMark(readFileSync(file, 'utf8'));
  } finally {
    closeSync(file);
  }
  const tasks = parseJson(path, text, 1);
  if (!Array.isArray(tasks)) {
    throw invalid(
      path,
      1,
      'holds no list',
      typeof tasks,
      'an array of tasks; or name it .jsonl, with a task a line',
    );
  }
  const list = tasks as readonly Json[];
  return {
    size: list.length,
    hashes: Uint32Array.from(list, (task) => hash32(canonicalJson(task))),
    at: (index) => list[index]!,
  };
}

/** @param line of the first character */
function parseJson(path: string, text: string, line: number): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const said = cut((error as Error).message.replaceAll('\n', ' '), 200);
    throw invalid(path, line + wrongLine(text), 'is no JSON', said, 'JSON');
  }
}

/** The first line with which `text` can no longer become JSON, from 0. Messages of the parser seldom tell. */
function wrongLine(text: string): number {
  const ends = [...text.matchAll(/\n|$/g)].map(({ index }) => index);
  let [first, last] = [0, ends.length - 1];
  while (first < last) {
    const middle = (first + last) >> 1;
    if (isWrong(text.slice(0, ends[middle]))) last = middle;
    else first = middle + 1;
  }
  return first;
}

/** Whether nothing that follows could make it JSON. */
function isWrong(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    const { message } = error as Error;
    const position = Number(/position (\d+)/.exec(message)?.[1] ?? 0);
    return !message.includes('end of JSON input') && position < text.length;
  }
}

function openFile(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (cause) {
    throw new TurnwiseError('task-file-unknown', {
      what: 'A task file cannot be read',
      seen: `${path} (${(cause as NodeJS.ErrnoException).code ?? String(cause)})`,
      next: 'Paths start from the file that defines the environment, and in a program from its working directory',
      fields: { path },
      cause,
    });
  }
}

function invalid(path: string, line: number, what: string, seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('task-file-invalid', {
    what: `${path}:${line} ${what}`,
    seen,
    allowed,
    next: 'Correct the line, then start again',
    fields: { path, line },
  });
}
