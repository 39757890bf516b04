/** The page as it was built: three files that hold no data. */

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { TurnwiseError } from '../../core/errors.ts';

export interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const types = {
  'index.html': 'text/html; charset=utf-8',
  'main.js': 'text/javascript; charset=utf-8',
  'main.css': 'text/css; charset=utf-8',
} as const;

export type PageFiles = Readonly<Record<keyof typeof types, PageFile>>;

/** Beside this file where it was built too, and in dist/ where it runs from source. */
const folders = ['../page/', '../../../dist/src/view/page/'].map((path) => new URL(path, import.meta.url));

/** @throws TurnwiseError `view-unbuilt` */
export function readPage(): PageFiles {
  const folder = folders.find((one) => existsSync(new URL('main.js', one)));
  if (!folder) {
    throw new TurnwiseError('view-unbuilt', {
      what: 'The page of the viewer was not built',
      seen: `no main.js in ${fileURLToPath(folders[0]!)}`,
      next: 'Run: npm run build',
    });
  }
  return Object.fromEntries(
    Object.entries(types).map(([name, type]) => [
      name,
      { type, bytes: new Uint8Array(readFileSync(new URL(name, folder))) },
    ]),
  ) as PageFiles;
}
