/** Recorded exchanges of a real Tinker server, where the shared data folder is there. For tests only. */

import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const folder = resolve(import.meta.dirname, '../../../../../shared/data/tinker-exchanges');

/** The folder `shared/data/tinker-exchanges` lies beside the repository; without it such tests are skipped. */
export const hasRecordings: boolean = existsSync(folder);
export const recordingsFolder: string = folder;

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
  return readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Exchange)
    .filter(({ path }) => path !== undefined);
}
