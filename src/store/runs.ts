/** The folder that holds all runs. */

import { appendFileSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { nearest, TurnwiseError } from '../core/errors.ts';
import { exactJson } from '../core/json/exact-json.ts';
import { shellWord } from '../core/shell.ts';
import { type RunWorld, refuseOldFormat } from './run-file.ts';

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

/**
 * Runs that began and that this version reads: those that were refused or killed before they did anything have a folder and
 * no event. Nothing is lost with them, and nobody wants to see them.
 */
export function startedRuns(root: string): string[] {
  return runNames(root).filter(
    (name) =>
      (statSync(join(root, name, 'events.jsonl'), { throwIfNoEntry: false })?.size ?? 0) > 0 &&
      !isOfOldFormat(root, name),
  );
}

/** Whether a run was written in a format that this version does not read, so that lists leave it out. */
export function isOfOldFormat(root: string, name: string): boolean {
  try {
    refuseOldFormat(JSON.parse(readFileSync(join(root, name, 'config.json'), 'utf8')));
    return false;
  } catch (error) {
    return TurnwiseError.isInstance(error);
  }
}

/** `turnwise resume NAME` as it must be typed for the runs in `root`: `--runs` is left out only for the usual folder. */
export function commandIn(root: string, command: string): string {
  return `turnwise ${command}${root === 'runs' ? '' : ` --runs ${shellWord(root)}`}`;
}

/** The newest run of a world that began, whatever came of it. */
export function latestRun(root: string, isWanted: (world: RunWorld) => boolean): string | undefined {
  const own = startedRuns(root).filter((name) => {
    try {
      const path = join(root, name, 'config.json');
      const file = JSON.parse(readFileSync(path, 'utf8')) as { readonly world: RunWorld };
      return isWanted(file.world);
    } catch {
      return false;
    }
  });
  const bornMs = (name: string): number => statSync(join(root, name, 'config.json')).mtimeMs;
  return own.sort((a, b) => bornMs(a) - bornMs(b)).at(-1);
}

/** Append to a file outside of any run, one JSON value a line. @throws TurnwiseError `disk-failed` */
export function appendLines(path: string, values: readonly unknown[]): void {
  try {
    appendFileSync(path, values.map((value) => `${exactJson(value)}\n`).join(''));
  } catch (cause) {
    throw new TurnwiseError('disk-failed', {
      what: `Nothing could be appended to ${path}`,
      seen: cause instanceof Error ? cause.message : String(cause),
      next: 'Choose a file in a folder that exists and can be written',
      fields: { path },
      cause,
    });
  }
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
