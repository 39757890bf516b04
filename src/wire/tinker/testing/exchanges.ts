/** Recorded exchanges of a real Tinker server (`tests/tinker-exchanges/`). For tests only. */

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Where they are, with the checkpoint that they were made with. */
export const recordingsFolder: string = resolve(import.meta.dirname, '../../../../tests/tinker-exchanges');

export interface Side {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly text?: string;
  readonly base64?: string;
  readonly message?: string;
  readonly decoded?: unknown;
}

export interface Exchange {
  readonly n: number;
  readonly note?: string;
  readonly method: string;
  readonly path: string;
  readonly status: number | null;
  readonly request?: Side;
  readonly response?: Side;
}

/** The lines of one recording, in the order of time. */
export function exchanges(name: string): Exchange[] {
  return readFileSync(join(recordingsFolder, `${name}.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Exchange)
    .filter(({ path }) => path !== undefined);
}
