/** Writes GGUF files, version 3: metadata, the list of tensors, then their data piece by piece. */

import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import type { BlockType } from './block-types.ts';
import { type MetadataValue, NUMBER_FORMATS, VALUE_TYPES, type ValueType } from './metadata.ts';

const ALIGNMENT = 32;

export interface WrittenTensor {
  readonly name: string;
  readonly type: BlockType;
  /** Fastest first. */
  readonly dimensions: readonly number[];
  /** Its bytes, in pieces. */
  data(): Iterable<Uint8Array>;
}

/** First under a neighbouring name, then renamed, so that a reader never sees half a file. */
export async function writeGguf(
  path: string,
  metadata: ReadonlyMap<string, MetadataValue>,
  tensors: readonly WrittenTensor[],
): Promise<void> {
  const partial = `${path}.partial`;
  const file = await open(partial, 'w');
  try {
    try {
      await writeAll(file, metadata, tensors);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeAll(
  file: FileHandle,
  metadata: ReadonlyMap<string, MetadataValue>,
  tensors: readonly WrittenTensor[],
): Promise<void> {
  const header = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(metadata.size)];
  for (const [key, value] of metadata) header.push(string(key), ...valueBytes(value));
  let offset = 0;
  for (const { name, type, dimensions } of tensors) {
    header.push(string(name), u32(dimensions.length), ...dimensions.map(u64), u32(type.id), u64(offset));
    offset = aligned(offset + bytesOf(type, dimensions));
  }
  const whole = Buffer.concat(header);
  await file.writeFile(whole);
  let written = whole.length;
  for (const { data } of tensors) {
    await file.writeFile(Buffer.alloc(aligned(written) - written));
    written = aligned(written);
    for (const piece of data()) {
      await file.writeFile(piece);
      written += piece.length;
    }
  }
}

const aligned = (offset: number): number => Math.ceil(offset / ALIGNMENT) * ALIGNMENT;

function bytesOf(type: BlockType, dimensions: readonly number[]): number {
  const elements = dimensions.reduce((product, size) => product * size, 1);
  return (elements / type.elements) * type.bytes;
}

function valueBytes(entry: MetadataValue): Buffer[] {
  const kind = u32(VALUE_TYPES.indexOf(entry.type));
  if (entry.type === 'string') return [kind, string(entry.value)];
  if (entry.type !== 'array') return [kind, number(entry.type, Number(entry.value), entry.value)];
  const start = [kind, u32(VALUE_TYPES.indexOf(entry.of)), u64(entry.value.length)];
  if (entry.of === 'string') return [...start, ...entry.value.map(string)];
  const { bytes, write } = NUMBER_FORMATS[entry.of];
  const elements = Buffer.alloc(bytes * entry.value.length);
  for (const [index, value] of entry.value.entries()) write(elements, index * bytes, value);
  return [...start, elements];
}

/** Whole numbers of 64 bits keep all of their bits. */
function number(type: Exclude<ValueType, 'string' | 'array'>, value: number, exact: unknown): Buffer {
  const { bytes, write } = NUMBER_FORMATS[type];
  const buffer = Buffer.alloc(bytes);
  write(buffer, 0, typeof exact === 'bigint' ? exact : value);
  return buffer;
}

function u32(value: number): Buffer {
  return number('u32', value, value);
}

function u64(value: number): Buffer {
  return number('u64', value, value);
}

function string(value: string): Buffer {
  const text = Buffer.from(value);
  return Buffer.concat([u64(text.length), text]);
}
