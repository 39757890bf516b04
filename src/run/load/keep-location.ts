/** Gives bundled modules the location of their source file, so that they find the files beside it. */

import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'rolldown';
import { transformSync } from 'rolldown/utils';
import type { CodeMap } from './code-map.ts';

/** The oldest Node that this package supports: newer syntax (decorators, `using`) is rewritten for it. */
export const TARGET = 'node20.19';

const LOCATION = /\bimport\.meta\b|\b__(dirname|filename)\b/;

/** `maps` receives the source map of each module that was rewritten, by its path. */
export function keepLocation(maps: Map<string, CodeMap>): Plugin {
  return {
    name: 'turnwise:keep-location',
    transform(code, id) {
      if (!/\.[cm]?[jt]sx?$/.test(id) || !LOCATION.test(code)) return null;
      const url = JSON.stringify(pathToFileURL(id).href);
      const filename = JSON.stringify(id);
      const folder = JSON.stringify(dirname(id));
      const result = transformSync(id, code, {
        tsconfig: true,
        sourcemap: true,
        target: TARGET,
        jsx: { runtime: 'automatic' },
        // Names that the module declares itself are left alone.
        define: {
          'import.meta.url': url,
          'import.meta.filename': filename,
          'import.meta.dirname': folder,
          __filename: filename,
          __dirname: folder,
        },
      });
      const [error] = result.errors;
      if (error) throw error;
      if (!result.map) return { code: result.code, moduleType: 'js' };
      maps.set(id, { ...result.map, file: id, sourcesContent: [code] });
      return { code: result.code, map: result.map, moduleType: 'js' };
    },
  };
}
