/** Where figures come from: the version, the commit and the machine that made them. */

import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus } from 'node:os';
import { runtime } from '../run/model/runtime-version.ts';
import { version } from '../run/version.ts';

export interface Provenance {
  readonly version: string;
  /** Of the repository that the command ran in; absent outside of one. */
  readonly commit?: string;
  /** Whether files that git follows were changed and not committed. */
  readonly dirty?: boolean;
  readonly node: string;
  readonly runtime: string;
  readonly processor: string;
  readonly cores: number;
  /** ISO 8601, when the comparison was finished. */
  readonly date: string;
}

export function provenance(folder = process.cwd()): Provenance {
  const commit = git(folder, 'rev-parse', 'HEAD');
  return {
    version,
    ...(commit !== undefined && {
      commit,
      dirty: git(folder, 'status', '--porcelain', '--untracked-files=no') !== '',
    }),
    node: process.version,
    runtime,
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    date: new Date().toISOString(),
  };
}

/** What git answers, without the newline; undefined where it refuses or is not there. */
export function git(folder: string, ...words: readonly string[]): string | undefined {
  try {
    return execFileSync('git', words, {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}

/** One line for people. */
export function provenanceText(of: Provenance): string {
  const { version: number, commit, dirty, node, runtime: kernels, processor, cores, date } = of;
  const place = commit === undefined ? '' : `, commit ${commit.slice(0, 10)}${dirty ? ' with changes' : ''}`;
  return `Turnwise ${number}${place}, Node ${node.slice(1)}, ${kernels}, ${processor} with ${cores} cores, ${date.slice(0, 10)}`;
}
