/** The folder that holds all runs. */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { nearest, TurnwiseError } from '../core/errors.ts';
import { shellWord } from '../core/shell.ts';

/** Names of the runs in a folder, in alphabetical order with numbers counted as numbers. */
export function runNames(root: string): string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root, { withFileTypes: true })
    .filter(
      (entry) =>
        entry.isDirectory() &&
        !entry.name.startsWith('.') &&
        existsSync(join(root, entry.name, 'config.json')),
    )
    .map((entry) => entry.name)
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

/** `turnwise resume NAME` as it must be typed for the runs in `root`: `--runs` is left out only for the usual folder. */
export function commandIn(root: string, command: string): string {
  return `turnwise ${command}${root === 'runs' ? '' : ` --runs ${shellWord(root)}`}`;
}

export function unknownRun(root: string, name: string): TurnwiseError {
  const names = runNames(root);
  const near = nearest(name, names);
  return new TurnwiseError('run-unknown', {
    what: `There is no run named "${name}" in ${root}`,
    ...(names.length > 0 && { allowed: listing(names) }),
    next:
      near !== undefined
        ? `Did you mean "${near}"?`
        : names.length > 0
          ? `List runs with: ${commandIn(root, 'runs')}`
          : `Start one with: ${commandIn(root, 'train frozen-lake')}`,
    fields: { run: name, root },
  });
}

function listing(names: readonly string[]): string {
  return names.length <= 8
    ? names.join(', ')
    : `${names.slice(0, 8).join(', ')} and ${names.length - 8} more`;
}
