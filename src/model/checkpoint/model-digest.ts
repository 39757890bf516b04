/** A checksum of a model's files, so that a run is not continued from other weights or another tokenizer. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { openGguf } from '../gguf/gguf-file.ts';
import { isFile } from './checkpoint.ts';

/**
 * SHA-256 over names and contents of the files that decide how the model reads and, with weights, what it computes; of a
 * GGUF file over all parts, whatever they are called.
 *
 * @param path of a checkpoint folder or a GGUF file
 */
export async function modelDigest(
  path: string,
  { weights = true }: { readonly weights?: boolean } = {},
): Promise<string> {
  return isFile(path) ? digestOfFiles(openGguf(path).parts) : folderDigest(path, weights);
}

async function digestOfFiles(paths: readonly string[]): Promise<string> {
  const whole = createHash('sha256');
  for (const path of paths) whole.update(`${await fileDigest(path)}\n`);
  return whole.digest('hex');
}

async function folderDigest(folder: string, weights: boolean): Promise<string> {
  const names = (await readdir(folder)).filter(
    (name) =>
      /\.jinja$|^(config|tokenizer|generation).*\.json$/.test(name) ||
      (weights && name.endsWith('.safetensors')),
  );
  const whole = createHash('sha256');
  for (const name of names.sort()) whole.update(`${name}\0${await fileDigest(join(folder, name))}\n`);
  return whole.digest('hex');
}

async function fileDigest(path: string): Promise<string> {
  // Files of the hub's cache and of Ollama are named by their checksum, which was checked when they came.
  const [, checksum] = /^(?:sha256-)?([0-9a-f]{64})$/.exec(basename(await realpath(path))) ?? [];
  if (checksum !== undefined) return checksum;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}
