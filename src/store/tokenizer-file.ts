/** `tokenizer.json` of a run: what its token ids mean, kept so that stored episodes stay readable without the model. */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Disk } from './disk.ts';

/** The words of a word model in the order of their ids, or the folder of a model with a `tokenizer.json`. */
export type TokenizerSource = { readonly words: readonly string[] } | { readonly folder: string };

/** Keep the tokenizer in the folder of a run. @returns its hash, as the headers of shards name it */
export function keepTokenizer(runFolder: string, source: TokenizerSource, disk: Disk): string {
  const content =
    'words' in source
      ? Buffer.from(
          `${JSON.stringify({ format: 'turnwise-words', formatVersion: 1, words: source.words })}\n`,
        )
      : readFileSync(join(source.folder, 'tokenizer.json'));
  const path = join(runFolder, 'tokenizer.json');
  if (!existsSync(path) || !readFileSync(path).equals(content)) disk.replaceFile(path, content);
  return createHash('sha256').update(content).digest('hex');
}
