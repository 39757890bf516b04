/** Writes safetensors files, whole or not at all. */

import { open, rename } from 'node:fs/promises';
import { endianness } from 'node:os';
import { safetensorsHeader } from './safetensors-header.ts';

/** Weights of which some are made only when they are written. */
export type WritableWeights = ReadonlyMap<
  string,
  { readonly shape: readonly number[]; readonly data: Float32Array | (() => Float32Array) }
>;

/**
 * Writes `tensors` to `path`: first under a neighbouring name, then flushed to the disk and renamed, so that a reader
 * never sees half a file. Errors of the file system (a full disk) pass through.
 */
export async function writeSafetensors(
  path: string,
  tensors: WritableWeights,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  const start = safetensorsHeader(tensors, metadata);
  const partial = `${path}.partial`;
  const file = await open(partial, 'w');
  try {
    await file.writeFile(start);
    for (const { data } of tensors.values())
      await file.writeFile(littleEndian(typeof data === 'function' ? data() : data));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, path);
}

/** Bytes of the file's byte order, without a copy where the machine has the same order. */
function littleEndian(data: Float32Array): Buffer {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return endianness() === 'LE' ? bytes : Buffer.from(bytes).swap32();
}
