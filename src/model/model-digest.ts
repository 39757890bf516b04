/** A checksum of a checkpoint folder, so that a run is not continued from other weights or another tokenizer. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** SHA-256 over names and contents of the files that decide how the model reads and, with weights, what it computes. */
export async function modelDigest(
  folder: string,
  { weights = true }: { readonly weights?: boolean } = {},
): Promise<string> {
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
  // Files of the hub's cache are named by their checksum, which was checked when they came.
  const target = basename(await realpath(path));
  if (/^[0-9a-f]{64}$/.test(target)) return target;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}
