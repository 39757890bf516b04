/** `comparison.json`: what a comparison was started with, so that it is continued with nothing else. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { TurnwiseError } from '../core/errors.ts';
import { differences } from '../core/json/differences.ts';
import type { JsonObject } from '../core/json/json.ts';
import { writeError } from '../core/write-error.ts';
import { version } from '../run/version.ts';
import { realDisk } from '../store/disk.ts';
import { takeLock } from '../store/lock.ts';
import type { Study } from './study.ts';

const fileSchema = z.strictObject({
  format: z.literal('turnwise-comparison'),
  formatVersion: z.literal(1),
  turnwise: z.string(),
  content: z.looseObject({}),
});

/**
 * Take the folder for this process: a new one, or one of the same content.
 *
 * @returns the function that gives it back
 * @throws TurnwiseError `comparison-differs` where another comparison has this name, `run-exists` where the folder is no
 * comparison, `run-busy` where another process works on it
 */
export function claimComparison(folder: string, name: string, content: JsonObject): () => void {
  const path = join(folder, 'comparison.json');
  const file = { format: 'turnwise-comparison', formatVersion: 1, turnwise: version, content };
  if (existsSync(path)) requireEqual(path, name, file);
  else if (existsSync(join(folder, 'config.json'))) throw takenByRun(folder, name);
  try {
    realDisk.makeFolder(folder);
    const unlock = takeLock(join(folder, 'run.lock'), name, realDisk);
    if (!existsSync(path)) realDisk.replaceFile(path, `${JSON.stringify(file, null, 2)}\n`);
    return unlock;
  } catch (error) {
    throw writeError(error, folder, 'Nothing was started', 'run the same command again');
  }
}

function requireEqual(path: string, name: string, file: object): void {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw unreadable(path, cause);
  }
  const stored = fileSchema.safeParse(content);
  if (!stored.success) throw unreadable(path, stored.error);
  const [other] = differences(stored.data, file);
  if (other === undefined) return;
  const [before, now] = other.values.map((value) => shortened(JSON.stringify(value) ?? 'nothing'));
  throw new TurnwiseError('comparison-differs', {
    what: `The comparison "${name}" was started with other settings: ${other.key.replace(/^content\./, '')}`,
    seen: now!,
    allowed: before!,
    next: 'Give this one another --name, or delete the folder of the other',
    fields: { comparison: name, key: other.key },
  });
}

/** A list of seeds may have thousands. */
const shortened = (text: string): string => (text.length <= 120 ? text : `${text.slice(0, 120)}…`);

function unreadable(path: string, cause: unknown): TurnwiseError {
  return new TurnwiseError('config-corrupt', {
    what: 'The configuration of this comparison cannot be read',
    seen: path,
    next: 'Restore the file, or choose another --name',
    fields: { path },
    cause,
  });
}

function takenByRun(folder: string, name: string): TurnwiseError {
  return new TurnwiseError('run-exists', {
    what: `A run named "${name}" already exists, so a comparison cannot have that name`,
    seen: folder,
    next: 'Choose another --name',
    fields: { run: name },
  });
}

/** What decides the results, for the comparison's file: the seeds, and the whole configuration of every arm. */
export function contentOf({ worlds }: Study, seeds: readonly number[]): JsonObject {
  return {
    seeds,
    worlds: Object.fromEntries(
      worlds.map(({ name, source, cells }) => [
        name,
        {
          source,
          arms: Object.fromEntries(
            cells.map(({ arm, run }) => [
              arm.name,
              { recipe: run.recipe.name, config: run.config as unknown as JsonObject },
            ]),
          ),
        },
      ]),
    ),
  };
}
