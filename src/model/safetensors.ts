/** Reads and writes safetensors files of 32-bit floats: the format in which weights and optimizer state are stored. */

import { open, readFile, rename } from 'node:fs/promises';
import { endianness } from 'node:os';
import { basename } from 'node:path';
import { TurnwiseError } from '../core/errors.ts';

/** A dense array with its shape. */
export interface Weight {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

export type Weights = ReadonlyMap<string, Weight>;

export interface SafetensorsFile {
  readonly tensors: Map<string, Weight>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The format allows at most this many header bytes; a longer header means a file of another kind. */
const maximumHeaderBytes = 100_000_000;

export const elementCount = (shape: readonly number[]): number =>
  shape.reduce((product, size) => product * size, 1);

/**
 * Writes `tensors` to `path`: first under a neighbouring name, then flushed to the disk and renamed, so that a reader
 * never sees half a file. Errors of the file system (a full disk) pass through.
 */
export async function writeSafetensors(
  path: string,
  tensors: Weights,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let offset = 0;
  for (const [name, { shape, data }] of tensors) {
    header[name] = { dtype: 'F32', shape, data_offsets: [offset, offset + data.byteLength] };
    offset += data.byteLength;
  }
  const json = Buffer.from(JSON.stringify(header));
  // The data must start at a multiple of 8 bytes, for readers that map the file.
  const headerBytes = Math.ceil(json.byteLength / 8) * 8;
  const start = Buffer.alloc(8 + headerBytes, ' ');
  start.writeBigUInt64LE(BigInt(headerBytes), 0);
  json.copy(start, 8);

  const partial = `${path}.partial`;
  const file = await open(partial, 'w');
  try {
    await file.writeFile(start);
    for (const { data } of tensors.values()) await file.writeFile(littleEndian(data));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, path);
}

/**
 * Reads a safetensors file of 32-bit floats.
 * @throws TurnwiseError `checkpoint-missing` or `checkpoint-corrupt`, naming the file and the tensor.
 */
export async function readSafetensors(path: string): Promise<SafetensorsFile> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    throw new TurnwiseError('checkpoint-missing', {
      what: `Cannot read the weight file ${basename(path)}`,
      seen: cause instanceof Error ? cause.message : String(cause),
      next: 'Check the checkpoint folder, or load an earlier checkpoint',
      fields: { file: path },
      cause,
    });
  }
  return decodeSafetensors(bytes, path);
}

/** The content of a safetensors file; `path` only names it in errors. */
export function decodeSafetensors(bytes: Buffer, path: string): SafetensorsFile {
  const header = decodeHeader(bytes, path);
  const dataStart = 8 + Number(bytes.readBigUInt64LE(0));
  const dataBytes = bytes.byteLength - dataStart;
  const tensors = new Map<string, Weight>();
  let metadata: Readonly<Record<string, string>> = {};
  let describedBytes = 0;
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') {
      metadata = entry as Readonly<Record<string, string>>;
      continue;
    }
    const { dtype, shape, data_offsets: offsets } = (entry ?? {}) as Partial<HeaderEntry>;
    if (dtype !== 'F32')
      throw corrupt(path, `Tensor ${name} has an unsupported type`, String(dtype), 'F32', name);
    if (!isSizes(shape) || !isSizes(offsets) || offsets.length !== 2)
      throw corrupt(
        path,
        `Tensor ${name} has a malformed header entry`,
        JSON.stringify(entry),
        undefined,
        name,
      );
    const [begin, end] = offsets as [number, number];
    const expected = elementCount(shape) * 4;
    if (end - begin !== expected)
      throw corrupt(
        path,
        `Tensor ${name} has a length that does not fit its shape`,
        `${end - begin} bytes`,
        `${expected} bytes for [${shape.join(', ')}]`,
        name,
      );
    if (end > dataBytes)
      throw corrupt(
        path,
        `Tensor ${name} ends beyond the end of the file`,
        `offset ${end}`,
        `at most ${dataBytes}`,
        name,
      );
    tensors.set(name, { shape, data: floats(bytes, dataStart + begin, elementCount(shape)) });
    describedBytes += expected;
  }
  if (describedBytes !== dataBytes)
    throw corrupt(
      path,
      'The file has bytes that belong to no tensor',
      `${dataBytes} bytes of data`,
      `${describedBytes}`,
    );
  return { tensors, metadata };
}

interface HeaderEntry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly number[];
}

function decodeHeader(bytes: Buffer, path: string): Record<string, unknown> {
  const length = bytes.byteLength < 8 ? undefined : bytes.readBigUInt64LE(0);
  if (length === undefined || length > BigInt(Math.min(maximumHeaderBytes, bytes.byteLength - 8)))
    throw corrupt(
      path,
      'The file is cut off or is not a safetensors file',
      length === undefined ? `${bytes.byteLength} bytes` : `a header of ${length} bytes`,
      `a header within the ${bytes.byteLength} bytes of the file`,
    );
  const text = bytes.toString('utf8', 8, 8 + Number(length));
  try {
    const header: unknown = JSON.parse(text);
    if (typeof header === 'object' && header !== null && !Array.isArray(header))
      return header as Record<string, unknown>;
  } catch {
    // Reported below, with what was seen.
  }
  throw corrupt(path, 'The header is not a JSON object', JSON.stringify(text.slice(0, 40)));
}

function isSizes(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

function corrupt(
  path: string,
  what: string,
  seen?: string,
  allowed?: string,
  tensor?: string,
): TurnwiseError {
  return new TurnwiseError('checkpoint-corrupt', {
    what: `${basename(path)}: ${what}`,
    ...(seen === undefined ? {} : { seen }),
    ...(allowed === undefined ? {} : { allowed }),
    next: 'Load an earlier checkpoint',
    fields: { file: path, ...(tensor === undefined ? {} : { tensor }) },
  });
}

/** Bytes of the file's byte order, without a copy where the machine has the same order. */
function littleEndian(data: Float32Array): Buffer {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return endianness() === 'LE' ? bytes : Buffer.from(bytes).swap32();
}

function floats(bytes: Buffer, begin: number, count: number): Float32Array {
  const copy = Buffer.from(bytes.subarray(begin, begin + count * 4));
  if (endianness() === 'BE') copy.swap32();
  // A slice of Node's pool may start anywhere; copying through `slice` aligns it.
  return new Float32Array(copy.buffer.slice(copy.byteOffset, copy.byteOffset + count * 4));
}
