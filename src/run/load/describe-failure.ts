/** Says in one line what went wrong while a file was loaded, and in which file and line of the user's project. */

import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { type CodeMap, originalPlace } from './code-map.ts';

/** As the bundler reports it. */
export interface BuildProblem {
  readonly message: string;
  readonly loc?: { readonly file?: string; readonly line: number; readonly column: number };
}

/** The parts of an error message. */
export interface Failure {
  readonly seen: string;
  /** What the bundler advises. */
  readonly next?: string;
}

/** `map` is the bundle's, where the failure came after bundling. */
export function describeFailure(cause: unknown, map?: CodeMap): Failure {
  const problems = (cause as { readonly errors?: readonly BuildProblem[] } | undefined)?.errors;
  if (Array.isArray(problems) && problems.length > 0) return describeBuild(problems);
  if (!(cause instanceof Error)) return { seen: String(cause) };
  const place = placeOf(cause.stack ?? '', map);
  const message = cause.message === '' ? cause.name : cause.message;
  return { seen: place === undefined ? message : `${message} (${place})` };
}

function describeBuild(problems: readonly BuildProblem[]): Failure {
  const [first, ...rest] = problems as readonly [BuildProblem, ...BuildProblem[]];
  const lines = stripVTControlCharacters(first.message).split('\n');
  const summary = (lines[0] ?? '').replace(/^\[\w+\]\s*/, '');
  // The bundler's advice, such as to import a type as a type.
  const advice = lines.flatMap((line) => /(?:Note|Help): (?!.* is imported by )(.+)/.exec(line)?.[1] ?? []);
  const { loc } = first;
  const place = loc?.file === undefined ? '' : `${shortPath(loc.file)}:${loc.line}:${loc.column + 1}: `;
  const more = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
  const seen = `${place}${summary.replace(/\.$/, '')}${more}`;
  return { seen, ...(advice[0] && { next: advice[0].replace(/\.$/, '') }) };
}

/** A line of a stack trace, or the line above one that Node adds to errors of syntax. */
const FRAME = /^(?:\s+at (?:async )?(?:.* \()?)?((?:file:\/\/|\/|[A-Za-z]:\\).*?):(\d+)(?::(\d+))?\)?$/gm;

/** Lines of this package are passed over: the user's call is the one to look at. */
const OWN = fileURLToPath(new URL('../../', import.meta.url));

/**
 * The first line of the user's project in a stack trace. Either Node has mapped it already, or it names the bundle and is
 * mapped here, because something else writes the stack traces of this process.
 */
function placeOf(stack: string, map: CodeMap | undefined): string | undefined {
  for (const [, found, line, column] of stack.matchAll(FRAME)) {
    const path = found!.startsWith('file:') ? fileURLToPath(found!) : found!;
    if (/[/\\]turnwise-load-[^/\\]+[/\\][^/\\]+\.mjs$/.test(path)) {
      const place = map && originalPlace(map, Number(line), Number(column ?? 1) - 1);
      if (place) return `${shortPath(place.source)}:${place.line}`;
    } else if (!path.startsWith(OWN) && !/[/\\]node_modules[/\\]/.test(path)) {
      return `${shortPath(path)}:${line}`;
    }
  }
  return undefined;
}

/** Relative where the file is below the current folder. */
function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
