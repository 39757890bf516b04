/**
 * Which imports belong to the user's project and are bundled, and which stay imports: Node's own modules, packages, and
 * `turnwise` itself. What stays outside is resolved from the file that imports it, so that there is one copy of each package.
 */

import { createRequire, isBuiltin } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Plugin, ResolveIdResult } from 'rolldown';

/** What Node can load by itself. A package may also ship TypeScript or JSON, which are bundled. */
const RUNS_IN_NODE = /\.([cm]?js|node|wasm)$/;

export function projectImports(): Plugin {
  return {
    name: 'turnwise:project-imports',
    resolveId: {
      order: 'pre',
      async handler(source, importer, { kind }): Promise<ResolveIdResult> {
        if (importer === undefined) return null;
        if (isBuiltin(source)) return { id: source, external: true };
        const own = ownPackage(source, importer);
        if (own !== undefined) return outside(own, kind);
        const found = await this.resolve(source, importer, { kind, skipSelf: true });
        // `require` and `import()` of an optional package stand inside a `try`; a static import must resolve.
        if (!found) return kind === 'import-statement' ? null : { id: source, external: true };
        if (found.external) return found;
        const isPackage = /[/\\]node_modules[/\\]/.test(found.id) && RUNS_IN_NODE.test(found.id);
        return isPackage ? outside(found.id, kind) : found;
      },
    },
  };
}

/** `require` takes paths and `import` takes addresses, both absolute: the bundle does not lie where the file does. */
function outside(path: string, kind: string): ResolveIdResult {
  return { id: kind === 'require-call' ? path : pathToFileURL(path).href, external: 'absolute' };
}

/**
 * The file behind `turnwise` or one of its subpaths, as the importing file sees it, or else of the package that is running:
 * `npx turnwise` works in a project that has not installed it. Inside this repository it is what was built.
 */
function ownPackage(source: string, importer: string): string | undefined {
  if (!/^turnwise(\/|$)/.test(source)) return undefined;
  for (const from of [importer, import.meta.url]) {
    try {
      return createRequire(from).resolve(source);
    } catch {
      // Not installed there, or nothing was built.
    }
  }
  return undefined;
}
