/** Whether a claim was there before its result. Dates can be set by anybody; ancestry within one history cannot. */

import { relative, resolve } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import { git } from '../provenance.ts';

export interface ClaimedAt {
  /** Hash that git gives the bytes of the claim. */
  readonly claimBlob: string;
  /** Which tree ran. */
  readonly commit: string;
}

/**
 * Where a result may begin: with a committed claim, in a tree without changes.
 *
 * @throws TurnwiseError `claim-uncommitted`
 */
export function requireCommitted(path: string, folder = process.cwd()): ClaimedAt {
  const commit = git(folder, 'rev-parse', 'HEAD');
  const claimBlob = git(folder, 'hash-object', path);
  const seen =
    commit === undefined || claimBlob === undefined
      ? 'no git repository'
      : git(folder, 'rev-parse', `HEAD:${inTree(path, folder)}`) !== claimBlob
        ? 'the file differs from the last commit, or is not in it'
        : git(folder, 'status', '--porcelain', '--untracked-files=no') !== ''
          ? 'other files with changes that are not committed'
          : undefined;
  if (seen === undefined) return { claimBlob: claimBlob!, commit: commit! };
  throw new TurnwiseError('claim-uncommitted', {
    what: `The claim ${path} must be committed, and the tree unchanged, before it is run: its result counts only if it is younger`,
    seen,
    next: 'Commit, then run the same command again; --plan needs no commit',
    fields: { path },
  });
}

export interface Precedence {
  /** Why the result is void. */
  readonly void: readonly string[];
  /** Why that cannot be told here; nothing where it can. */
  readonly unchecked?: string;
}

/** Check the claim and the result of it against the history that both are in. */
export function checkPrecedence(
  claimPath: string,
  resultPath: string,
  { claimBlob, commit }: ClaimedAt,
  folder = process.cwd(),
): Precedence {
  if (git(folder, 'rev-parse', 'HEAD') === undefined) {
    return { void: [], unchecked: 'there is no git history here' };
  }
  if (git(folder, 'rev-parse', '--is-shallow-repository') === 'true') {
    return { void: [], unchecked: 'the history is shallow: git fetch --unshallow' };
  }
  const reasons: string[] = [];
  if (git(folder, 'hash-object', claimPath) !== claimBlob) {
    reasons.push('the claim was changed after its result');
  }
  if (git(folder, 'rev-parse', `${commit}:${inTree(claimPath, folder)}`) !== claimBlob) {
    reasons.push('the tree that ran did not have this claim');
  }
  const isAncestor = (older: string, newer: string): boolean =>
    git(folder, 'merge-base', '--is-ancestor', older, newer) !== undefined;
  if (!isAncestor(commit, 'HEAD')) reasons.push('the commit that ran is not in this history');
  const touched = git(folder, 'log', '-1', '--format=%H', '--', claimPath);
  const added = git(folder, 'log', '--diff-filter=A', '--format=%H', '--', resultPath)?.split('\n').at(-1);
  // A result that is not committed yet is younger than everything that is.
  if (added && touched && (added === touched || !isAncestor(touched, added))) {
    reasons.push('the claim is not older than its result');
  }
  return { void: reasons };
}

/** The path within the tree, as git names it. */
function inTree(path: string, folder: string): string {
  const top = git(folder, 'rev-parse', '--show-toplevel') ?? folder;
  return relative(top, resolve(folder, path)).replaceAll('\\', '/');
}
