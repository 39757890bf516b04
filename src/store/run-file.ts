/** `config.json`: what a run was started with, in an envelope that says which version wrote it. */

import { z } from 'zod';
import { TurnwiseError } from '../core/errors.ts';

const formatVersion = 2;
/** Of runs whose episodes were lists of turns. */
const oldFormatVersion = 1;

/** The world of a run: its name, by which episodes know it, and how it is found again, by which it is loaded. */
export interface RunWorld {
  readonly name: string;
  /** A `WorldSource`; the store does not know what that means. */
  readonly source: string;
}

export interface RunFile<Config = unknown> {
  /** Version of Turnwise that started the run. */
  readonly turnwise: string;
  readonly world: RunWorld;
  /** A built-in name, the path of a file, or `code:NAME`. */
  readonly recipe: string;
  /** SHA-256 of the code files of the user as they were when the run began, by their paths. */
  readonly files?: Readonly<Record<string, string>>;
  readonly config: Config;
}

const envelope = z.strictObject({
  format: z.literal('turnwise-run'),
  formatVersion: z.literal(formatVersion),
  turnwise: z.string(),
  world: z.strictObject({ name: z.string(), source: z.string() }),
  recipe: z.string(),
  files: z.record(z.string(), z.string()).optional(),
  config: z.unknown(),
});

export function serializeRunFile(file: RunFile): string {
  return `${JSON.stringify({ format: 'turnwise-run', formatVersion, ...file }, null, 2)}\n`;
}

/**
 * @throws TurnwiseError `config-version` where another version wrote it and this one cannot read it; `config-corrupt`
 * where this version wrote it and it no longer makes sense
 */
export function parseRunFile<Schema extends z.ZodType>(
  text: string,
  path: string,
  version: string,
  schema: Schema,
): RunFile<z.output<Schema>> {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw corrupt(path, 'it is not JSON', cause);
  }
  const outer = envelope.safeParse(content);
  if (!outer.success) {
    const seen = content as { format?: unknown; formatVersion?: unknown; turnwise?: unknown } | null;
    refuseOldFormat(content);
    if (seen?.format === 'turnwise-run' && seen.formatVersion !== formatVersion) {
      throw otherVersion(
        path,
        `format ${String(seen.formatVersion)} of Turnwise ${String(seen.turnwise)}`,
        version,
      );
    }
    throw corrupt(path, describe(outer.error), outer.error);
  }
  const { turnwise, world, recipe, files } = outer.data;
  const config = schema.safeParse(outer.data.config);
  if (config.success) return { turnwise, world, recipe, ...(files && { files }), config: config.data };
  const problem = describe(config.error);
  if (turnwise !== version) throw otherVersion(path, `Turnwise ${turnwise}: ${problem}`, version);
  throw corrupt(path, problem, config.error);
}

/** @throws TurnwiseError `config-version` for a run whose files this version does not read at all */
export function refuseOldFormat(content: unknown): void {
  const { format, formatVersion: seen, turnwise } = (content ?? {}) as Record<string, unknown>;
  if (format !== 'turnwise-run' || seen !== oldFormatVersion) return;
  const written = `Turnwise ${String(turnwise)} wrote this run in format ${oldFormatVersion}`;
  throw new TurnwiseError('config-version', {
    what: `${written}, which only that version reads: show or continue the run with it, or start a new one`,
  });
}

function otherVersion(path: string, seen: string, version: string): TurnwiseError {
  return new TurnwiseError('config-version', {
    what: 'The configuration of this run was written by another version',
    seen: `${seen} (${path})`,
    allowed: `format ${formatVersion} of Turnwise ${version}`,
    next: 'Continue the run with the version that started it, or start a new run with this one',
    fields: { path },
  });
}

function corrupt(path: string, seen: string, cause: unknown): TurnwiseError {
  return new TurnwiseError('config-corrupt', {
    what: 'The configuration of this run cannot be read',
    seen: `${path}: ${seen}`,
    next: 'Restore the file, or start a new run',
    fields: { path },
    cause,
  });
}

function describe(error: z.ZodError): string {
  return error.issues
    .map((issue) => (issue.path.length > 0 ? `${issue.path.join('.')}: ${issue.message}` : issue.message))
    .join('; ');
}
