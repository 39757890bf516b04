/**
 * A file and everything it imports from its own project, as one JavaScript module with a source map. Packages stay outside.
 * This is the only file that names the bundler.
 */

import { dirname, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { type CodeMap, originalPlace } from './code-map.ts';
import type { BuildProblem } from './describe-failure.ts';
import { keepLocation, TARGET } from './keep-location.ts';
import { projectImports } from './project-imports.ts';

export interface Bundle {
  readonly code: string;
  /** Its sources are the absolute paths of the user's files. */
  readonly map: CodeMap;
}

/** @throws an error with `errors`, each with a message and, where it is known, a `loc` */
export async function bundleFile(file: string): Promise<Bundle> {
  const unresolved: BuildProblem[] = [];
  const rewritten = new Map<string, CodeMap>();
  const folder = dirname(file);
  const build = await rolldown({
    input: file,
    cwd: folder,
    platform: 'node',
    tsconfig: true,
    // The user's code runs as it was written, side effects included.
    treeshake: false,
    transform: { target: TARGET, jsx: 'react-jsx' },
    resolve: {
      conditionNames: ['node', 'module-sync', 'node-addons'],
      mainFields: ['main'],
      extensions: ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json'],
      extensionAlias: {
        '.js': ['.js', '.ts', '.tsx'],
        '.jsx': ['.jsx', '.tsx'],
        '.mjs': ['.mjs', '.mts'],
        '.cjs': ['.cjs', '.cts'],
      },
    },
    plugins: [projectImports(), keepLocation(rewritten)] satisfies Plugin[],
    onLog(_level, log) {
      // The bundler hopes that such an import exists when the code runs. Here it runs at once.
      if (log.code === 'UNRESOLVED_IMPORT') unresolved.push(log);
    },
  });
  try {
    const { output } = await build.generate({
      format: 'esm',
      dir: folder,
      sourcemap: true,
      codeSplitting: false,
      keepNames: true,
      minify: false,
    });
    if (unresolved.length > 0) throw Object.assign(new Error('unresolved imports'), { errors: unresolved });
    const [{ code, map }] = output;
    if (!map) throw new Error(`No source map was made for ${file}`);
    const { version, file: name, names, mappings, sourcesContent } = map;
    const sources = map.sources.map((source) => resolve(folder, source));
    return {
      code: code.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'),
      map: { version, file: name, names, mappings, sources, sourcesContent: sourcesContent ?? [] },
    };
  } catch (cause) {
    const { errors } = cause as { readonly errors?: readonly BuildProblem[] };
    if (!errors) throw cause;
    const problems = errors.map((problem) => inSource(problem, rewritten));
    throw Object.assign(new Error(`${file} cannot be bundled`, { cause }), { errors: problems });
  } finally {
    await build.close();
  }
}

/** A problem in a rewritten module, with its place in the module as the user wrote it. */
function inSource({ message, loc }: BuildProblem, rewritten: ReadonlyMap<string, CodeMap>): BuildProblem {
  const map = rewritten.get(loc?.file ?? '');
  const place = loc && map && originalPlace(map, loc.line, loc.column);
  if (place) return { message, loc: { ...loc, line: place.line, column: place.column } };
  return { message, ...(loc && { loc }) };
}
