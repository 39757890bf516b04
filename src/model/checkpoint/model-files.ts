/** The JSON files of a checkpoint folder, read with errors that name the file. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json/json.ts';

/** The text of a file of the folder; undefined where there is none. */
export async function readModelText(folder: string, name: string): Promise<string | undefined> {
  try {
    return await readFile(join(folder, name), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadable(folder, name, error);
  }
}

/**
 * A JSON object of the folder; undefined where there is no such file.
 * @throws TurnwiseError `model-file-invalid`
 */
export async function readModelJson(folder: string, name: string): Promise<JsonObject | undefined> {
  const text = await readModelText(folder, name);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreadable(folder, name, error);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw unreadable(folder, name, new Error(`it holds ${JSON.stringify(value)?.slice(0, 40)}, not an object`));
}

function unreadable(folder: string, name: string, cause: unknown): TurnwiseError {
  const path = join(folder, name);
  return new TurnwiseError('model-file-invalid', {
    what: `${path} cannot be read`,
    seen: cause instanceof Error ? cause.message : String(cause),
    next: 'Restore the file, or download the model again',
    fields: { file: path },
    cause,
  });
}
