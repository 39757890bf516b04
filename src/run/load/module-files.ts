/** The files that a module is made of: itself, and what it reaches by relative imports. Packages are no part of it. */

import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const codeFiles = /\.[cm]?[jt]sx?$/;

/**
 * Absolute paths, the entries among them.
 *
 * @param follows whether an import of a file counts; default: every one
 */
export function reachedFrom(
  entries: readonly string[],
  follows: (next: string, from: string) => boolean = () => true,
): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [...entries];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    const from = path;
    if (codeFiles.test(path)) open.push(...importsOf(path).filter((next) => follows(next, from)));
  }
  return reached;
}

/** Relative imports, and files that are found beside a module: workers. */
function importsOf(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  const named = text.matchAll(/(?:\bfrom|\bimport|\bimport\(|\bnew URL\()\s*["'](\.{1,2}\/[^"']+)["']/g);
  return [...named].flatMap(([, name]) => {
    const target = resolve(dirname(path), name!);
    return [target, target.replace(/\.js$/, '.ts'), `${target}.ts`].find(isFile) ?? [];
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
