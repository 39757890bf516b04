/** The one root of all errors that Turnwise raises on purpose. */

import type { ErrorCode } from './error-codes/error-codes.ts';

const marker = Symbol.for('turnwise.error');

export interface ErrorParts {
  /** What was wrong. One clause, no full stop. */
  readonly what: string;
  /** The value or situation that was seen. */
  readonly seen?: string;
  /** What would have been accepted. */
  readonly allowed?: string;
  /** What to do next. */
  readonly next?: string;
  /** Structured fields for programs: ids, paths, limits. */
  readonly fields?: Readonly<Record<string, string | number | boolean>>;
  readonly cause?: unknown;
}

/**
 * An error with a stable `code` and a message in four parts: what was wrong; what was seen; what is allowed; what to do.
 * `error-codes/` and docs/errors.md list the codes. Check with `TurnwiseError.isInstance`, which also works across duplicate installs.
 */
export class TurnwiseError extends Error {
  readonly code: ErrorCode;
  readonly fields: Readonly<Record<string, string | number | boolean>>;

  constructor(code: ErrorCode, parts: ErrorParts) {
    super(formatMessage(parts), parts.cause === undefined ? undefined : { cause: parts.cause });
    Object.defineProperty(this, marker, { value: true });
    this.name = 'TurnwiseError';
    this.code = code;
    this.fields = parts.fields ?? {};
  }

  /** Never throws, whatever a stranger threw. */
  static isInstance(error: unknown): error is TurnwiseError {
    if (typeof error !== 'object' || error === null) return false;
    try {
      return (error as Record<symbol, unknown>)[marker] === true;
    } catch {
      return false;
    }
  }
}

function formatMessage({ what, seen, allowed, next }: ErrorParts): string {
  const sentences = [what];
  if (seen !== undefined) sentences.push(`Seen: ${seen}`);
  if (allowed !== undefined) sentences.push(`Allowed: ${allowed}`);
  if (next !== undefined) sentences.push(next);
  return sentences.map((sentence) => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`)).join(' ');
}

/** The candidate nearest to `word` by edit distance, when one is near enough to be a plausible slip. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 2)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(substitution, previous[j]! + 1, row[j - 1]! + 1));
    }
    previous = row;
  }
  return previous[b.length]!;
}
