/** Commands that are typed in one folder and run in another. */

import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { shellWord } from '../../../core/shell.ts';

/**
 * The command with those of its words that name files of `folder` made absolute: `node my-agent.js` finds its file from any
 * folder. A word without a dot or a slash is none, since it may be a program; quoted words stay as they are.
 */
export function anchored(command: string, folder: string): string {
  return command
    .split(/(\s+)/)
    .map((word) => (isFileOf(word, folder) ? shellWord(resolve(folder, word)) : word))
    .join('');
}

function isFileOf(word: string, folder: string): boolean {
  if (!/^[\w.@+-][\w./@+-]*$/.test(word) || !/[./]/.test(word)) return false;
  try {
    return statSync(join(folder, word)).isFile();
  } catch {
    return false;
  }
}
