/** The twin of node/task-file.ts: a browser has no files that a path could name. */

import { TurnwiseError } from '../../../core/errors.ts';
import type { TaskFile } from '../node/task-file.ts';

/** @throws TurnwiseError `task-file-unknown`, always */
export function openTaskFile(given: string | URL): TaskFile {
  throw new TurnwiseError('task-file-unknown', {
    what: 'Tasks in a file cannot be read in a browser',
    seen: String(given),
    next: 'Give the tasks as an array',
  });
}
