/** Module hooks for versions of Node that do not run TypeScript: types become white space, so that lines stay where they are. */

import { readFile } from 'node:fs/promises';
import type { LoadHook } from 'node:module';
import { fileURLToPath } from 'node:url';

export const load: LoadHook = async (url, context, next) => {
  const [, kind] = /^file:.*\.([cm]?)ts$/.exec(url) ?? [];
  if (kind === undefined || url.includes('/node_modules/')) return next(url, context);
  const { transformSync } = await import('@swc/wasm-typescript');
  const source = await readFile(fileURLToPath(url), 'utf8');
  try {
    const { code } = transformSync(source, { mode: 'strip-only', filename: fileURLToPath(url) });
    return { format: kind === 'c' ? 'commonjs' : 'module', source: code, shortCircuit: true };
  } catch (problem) {
    // The transformer throws plain objects.
    const { message, startLine, snippet } = problem as {
      message?: string;
      startLine?: number;
      snippet?: string;
    };
    throw new SyntaxError(
      `${fileURLToPath(url)}:${startLine ?? '?'}: ${message ?? String(problem)}\n${snippet ?? ''}`,
    );
  }
};
