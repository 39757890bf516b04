/** `tokenizer.json` of a run: what its token ids mean, kept so that stored episodes stay readable without the model. */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFile } from '../model/checkpoint/checkpoint.ts';
import { ggufTokenizerJson } from '../model/gguf/gguf-language.ts';
import type { Disk } from './disk.ts';

/** The words of a word model in the order of their ids, or the checkpoint folder or GGUF file of a pretrained one. */
export type TokenizerSource = { readonly words: readonly string[] } | { readonly model: string };

/** Keep the tokenizer in the folder of a run. @returns its hash, as the headers of shards name it */
export function keepTokenizer(runFolder: string, source: TokenizerSource, disk: Disk): string {
  const content = tokenizerFile(source);
  const path = join(runFolder, 'tokenizer.json');
  if (!existsSync(path) || !readFileSync(path).equals(content)) disk.replaceFile(path, content);
  return createHash('sha256').update(content).digest('hex');
}

/** The hash of the tokenizer that a run keeps; undefined where it keeps none. */
export function keptTokenizerHash(runFolder: string): string | undefined {
  const path = join(runFolder, 'tokenizer.json');
  return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : undefined;
}

/** What `tokenizer.json` of a run with this model says. */
export function tokenizerFile(source: TokenizerSource): Buffer {
  if (!('words' in source)) return readTokenizer(source.model);
  return Buffer.from(
    `${JSON.stringify({ format: 'turnwise-words', formatVersion: 1, words: source.words })}\n`,
  );
}

function readTokenizer(model: string): Buffer {
  return isFile(model) ? Buffer.from(ggufTokenizerJson(model)) : readFileSync(join(model, 'tokenizer.json'));
}
