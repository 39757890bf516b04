/**
 * Imports a file of the user's project. JavaScript goes to Node as it is; TypeScript, and JavaScript that Node alone cannot
 * import, is bundled first. It knows nothing of agents and environments.
 */

import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import * as nodeModule from 'node:module';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TurnwiseError } from '../../core/errors.ts';
import type { Bundle } from './bundle.ts';
import { describeFailure } from './describe-failure.ts';

export type Exports = Readonly<Record<string, unknown>>;

/**
 * What Node says of imports that a bundler understands: no extension, a folder, an alias of tsconfig.json, TypeScript, JSON
 * without an attribute. It says so while it links, before any code of the file has run.
 */
const BUNDLER_NEEDED: ReadonlySet<unknown> = new Set([
  'ERR_MODULE_NOT_FOUND',
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_UNSUPPORTED_DIR_IMPORT',
  'ERR_IMPORT_ATTRIBUTE_MISSING',
  'ERR_INVALID_TYPESCRIPT_SYNTAX',
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
]);

/** By file and content: as with any import, loading the same file again gives the same objects. */
const imported = new Map<string, Promise<Exports>>();

/**
 * All exports of `file`, an absolute path; `path` is its name in messages.
 *
 * @throws TurnwiseError `file-unusable`, with the file and line of the user's code where they are known
 */
export async function importFile(path: string, file: string): Promise<Exports> {
  let bundle: Bundle | undefined;
  try {
    if (/\.[cm]?js$/.test(file)) {
      try {
        return await importUrl(pathToFileURL(file).href);
      } catch (cause) {
        if (!BUNDLER_NEEDED.has((cause as { readonly code?: unknown } | undefined)?.code)) throw cause;
      }
    }
    // Loaded late: files in plain JavaScript and built-in environments need no bundler.
    const { bundleFile } = await import('./bundle.ts');
    bundle = await bundleFile(file);
    return await importBundle(file, bundle);
  } catch (cause) {
    throw new TurnwiseError('file-unusable', {
      what: `${path} cannot be loaded`,
      ...describeFailure(cause, bundle?.map),
      fields: { path },
      cause,
    });
  }
}

function importBundle(file: string, bundle: Bundle): Promise<Exports> {
  const key = `${file}\0${createHash('sha256').update(bundle.code).digest('hex')}`;
  const known = imported.get(key);
  if (known) return known;
  const loading = importOnce(file, bundle);
  imported.set(key, loading);
  // A file that failed for a reason outside itself may be tried again.
  loading.catch(() => imported.delete(key));
  return loading;
}

/** The bundle is one file, and Node has read all of it once it is imported. Nothing of it stays on the disk. */
async function importOnce(file: string, { code, map }: Bundle): Promise<Exports> {
  enableSourceMaps();
  const folder = await mkdtemp(join(tmpdir(), 'turnwise-load-'));
  try {
    const inlineMap = Buffer.from(JSON.stringify(map)).toString('base64');
    const name = basename(file, extname(file)).replaceAll(/[^\w.-]/g, '_');
    const target = join(folder, `${name}.mjs`);
    await writeFile(target, `${code}\n//# sourceMappingURL=data:application/json;base64,${inlineMap}\n`);
    return await importUrl(pathToFileURL(target).href);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function importUrl(url: string): Promise<Exports> {
  return (await import(url)) as Exports;
}

/** Stack traces then name the user's lines, also in failures of episodes long after the import. */
function enableSourceMaps(): void {
  // Node 22.14 and later can leave out packages, whose maps would cost time and memory.
  const { setSourceMapsSupport } = nodeModule as {
    readonly setSourceMapsSupport?: (enabled: boolean, options: { readonly nodeModules: boolean }) => void;
  };
  if (setSourceMapsSupport) setSourceMapsSupport(true, { nodeModules: false });
  else process.setSourceMapsEnabled(true);
}
