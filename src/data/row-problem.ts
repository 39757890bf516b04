/** What is wrong with a line of a dataset file, told so that it can be put right. */

import { TurnwiseError } from '../core/errors.ts';

/** Thrown while a row is read; whoever knows the file and the line makes an error of it. */
export class RowProblem extends Error {
  override readonly name: string = 'RowProblem';
  readonly path: string;
  readonly seen: string;
  readonly allowed: string;

  /** @param path the field, such as `messages[2].content` */
  constructor(path: string, seen: unknown, allowed: string) {
    super(`${path}: ${allowed}`);
    this.path = path;
    this.seen = shown(seen);
    this.allowed = allowed;
  }
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'string' ? JSON.stringify(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** The error of a line. */
export function rowInvalid(file: string, line: number, { path, seen, allowed }: RowProblem): TurnwiseError {
  return new TurnwiseError('data-invalid', {
    what: `${file}, line ${line}: ${path === '' ? 'the row' : path} cannot be used`,
    seen,
    allowed,
    next: `Correct the line, or leave it out; turnwise data check ${file} lists all of them`,
    fields: { file, line, path },
  });
}

type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown, path: string, allowed = 'an object'): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new RowProblem(path, value, allowed);
}

/** Tables fill in null, or an object of nulls, where a row has nothing. */
export function isAbsent(value: unknown): boolean {
  if (value == null) return true;
  return typeof value === 'object' && !Array.isArray(value) && Object.values(value).every(isAbsent);
}

/** The fields that say something. */
export const presentIn = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));

export function listOf(value: unknown, path: string, allowed = 'a list'): readonly unknown[] {
  if (Array.isArray(value)) return value as readonly unknown[];
  throw new RowProblem(path, value, allowed);
}

export function textOf(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  throw new RowProblem(path, value, 'text');
}

export function numberOf(value: unknown, path: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new RowProblem(path, value, 'a finite number');
}

export function wholeOf(value: unknown, path: string): number {
  if (Number.isInteger(value) && (value as number) >= 0) return value as number;
  throw new RowProblem(path, value, 'whole numbers from 0');
}

/** A list, or the text of one: tables keep nested columns as text. */
export function parsedList(value: unknown, path: string): readonly unknown[] {
  return listOf(parsed(value, path), path);
}

/** JSON where it is text. */
export function parsed(value: unknown, path: string): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    throw new RowProblem(path, value, 'JSON');
  }
}
