/** Comparisons that lie in the folder of runs, by listing it. */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import { comparisonFile, type StoredComparison } from '../comparison.ts';

const mostBytes = 16 * 2 ** 20;

export function comparisonNames(root: string): string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter(
        (entry) =>
          entry.isDirectory() && statSync(join(root, entry.name, comparisonFile), { throwIfNoEntry: false }),
      )
      .map(({ name }) => name)
      .sort();
  } catch {
    return [];
  }
}

/** @throws TurnwiseError `comparison-unknown` */
export function readComparison(root: string, name: string): StoredComparison {
  const names = comparisonNames(root);
  const path = join(root, name, comparisonFile);
  const known = names.includes(name) && statSync(path).size <= mostBytes;
  const value = known ? (JSON.parse(readFileSync(path, 'utf8')) as StoredComparison) : undefined;
  if (value?.version === 1) return value;
  throw new TurnwiseError('comparison-unknown', {
    what: 'There is no such comparison',
    seen: name.slice(0, 80),
    allowed: names.join(', ') || 'none yet',
    next: 'Repeat its command; finished runs are not repeated',
  });
}
