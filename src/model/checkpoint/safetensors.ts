/** Reads safetensors files: the format in which weights and optimizer state are stored. */

import { type FileHandle, open } from 'node:fs/promises';
import { endianness } from 'node:os';
import { basename } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import { halfFloats } from './half-floats.ts';
import { elementCount } from './safetensors-header.ts';

/** A dense array with its shape. */
export interface Weight {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

export type Weights = ReadonlyMap<string, Weight>;

export function copyWeights(weights: Weights): Map<string, Weight> {
  return new Map([...weights].map(([name, { shape, data }]) => [name, { shape, data: data.slice() }]));
}

export interface SafetensorsFile {
  readonly tensors: Map<string, Weight>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The format allows at most this many header bytes; a longer header means a file of another kind. */
const maximumHeaderBytes = 100_000_000;

/** Reads a whole safetensors file, widened to 32-bit floats. Errors as those of `openSafetensors`. */
export async function readSafetensors(path: string): Promise<SafetensorsFile> {
  const reader = await openSafetensors(path);
  try {
    const tensors = new Map<string, Weight>();
    for (const name of reader.tensors.keys()) tensors.set(name, await reader.read(name));
    return { tensors, metadata: reader.metadata };
  } finally {
    await reader.close();
  }
}

/** A tensor as the header describes it. */
export interface StoredTensor {
  readonly dtype: StoredType;
  readonly shape: readonly number[];
  /** Byte offset in the file. */
  readonly begin: number;
}

const bytesPerElement = { F32: 4, F16: 2, BF16: 2 } as const;
export type StoredType = keyof typeof bytesPerElement;

/** An open file of which only the header has been read. */
export interface SafetensorsReader {
  readonly path: string;
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  readonly metadata: Readonly<Record<string, string>>;
  /** One tensor, widened to 32-bit floats. */
  read(name: string): Promise<Weight>;
  close(): Promise<void>;
}

/**
 * Opens a safetensors file of floats of 32 or 16 bits and checks its header.
 * @throws TurnwiseError `checkpoint-missing` or `checkpoint-corrupt`, naming the file and the tensor.
 */
export async function openSafetensors(path: string): Promise<SafetensorsReader> {
  let file: FileHandle;
  try {
    file = await open(path);
  } catch (cause) {
    throw new TurnwiseError('checkpoint-missing', {
      what: `Cannot read the weight file ${basename(path)}`,
      seen: cause instanceof Error ? cause.message : String(cause),
      next: 'Check the checkpoint folder, or load another checkpoint',
      fields: { file: path },
      cause,
    });
  }
  try {
    const { tensors, metadata } = await readHeader(file, path);
    return {
      path,
      tensors,
      metadata,
      read: (name) => readTensor(file, path, name, tensors.get(name)!),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function readHeader(
  file: FileHandle,
  path: string,
): Promise<Pick<SafetensorsReader, 'tensors' | 'metadata'>> {
  const fileBytes = (await file.stat()).size;
  const start = Buffer.alloc(8);
  if (fileBytes >= 8) await readFully(file, path, start, 0);
  const headerBytes = start.readBigUInt64LE(0);
  if (fileBytes < 8 || headerBytes > BigInt(Math.min(maximumHeaderBytes, fileBytes - 8)))
    throw corrupt(
      path,
      'The file is cut off or is not a safetensors file',
      fileBytes < 8 ? `${fileBytes} bytes` : `a header of ${headerBytes} bytes`,
      `a header within the ${fileBytes} bytes of the file`,
    );
  const text = Buffer.alloc(Number(headerBytes));
  await readFully(file, path, text, 8);
  const header = parseHeader(text.toString('utf8'), path);
  const dataStart = 8 + text.byteLength;
  const dataBytes = fileBytes - dataStart;
  const tensors = new Map<string, StoredTensor>();
  let metadata: Readonly<Record<string, string>> = {};
  let describedBytes = 0;
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') {
      metadata = entry as Readonly<Record<string, string>>;
      continue;
    }
    const { dtype, shape, data_offsets: offsets } = (entry ?? {}) as Partial<HeaderEntry>;
    if (dtype === undefined || !Object.hasOwn(bytesPerElement, dtype))
      throw corrupt(
        path,
        `Tensor ${name} has an unsupported type`,
        String(dtype),
        Object.keys(bytesPerElement).join(', '),
        name,
      );
    const stored = dtype as StoredType;
    if (!isSizes(shape) || !isSizes(offsets) || offsets.length !== 2)
      throw corrupt(
        path,
        `Tensor ${name} has a malformed header entry`,
        JSON.stringify(entry),
        undefined,
        name,
      );
    const [begin, end] = offsets as [number, number];
    const expected = elementCount(shape) * bytesPerElement[stored];
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
    tensors.set(name, { dtype: stored, shape, begin: dataStart + begin });
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

function parseHeader(text: string, path: string): Record<string, unknown> {
  try {
    const header: unknown = JSON.parse(text);
    if (typeof header === 'object' && header !== null && !Array.isArray(header))
      return header as Record<string, unknown>;
  } catch {
    // Reported below, with what was seen.
  }
  throw corrupt(path, 'The header is not a JSON object', JSON.stringify(text.slice(0, 40)));
}

/** Bytes read at a time: a tensor is never held in two types as a whole. */
const pieceBytes = 2 ** 24;

async function readTensor(
  file: FileHandle,
  path: string,
  name: string,
  { dtype, shape, begin }: StoredTensor,
): Promise<Weight> {
  const data = new Float32Array(elementCount(shape));
  const bytes = Buffer.from(data.buffer);
  if (dtype === 'F32') {
    for (let at = 0; at < bytes.byteLength; at += pieceBytes)
      await readFully(file, path, bytes.subarray(at, at + pieceBytes), begin + at, name);
    if (endianness() === 'BE') bytes.swap32();
    return { shape, data };
  }
  const widen = dtype === 'BF16' ? widenBfloat16 : widenFloat16;
  const piece = Buffer.alloc(Math.min(pieceBytes, 2 * data.length));
  for (let at = 0; at < data.length; at += pieceBytes / 2) {
    const target = data.subarray(at, at + pieceBytes / 2);
    const source = piece.subarray(0, 2 * target.length);
    await readFully(file, path, source, begin + 2 * at, name);
    if (endianness() === 'BE') source.swap16();
    widen(new Uint16Array(source.buffer, source.byteOffset, target.length), target);
  }
  return { shape, data };
}

async function readFully(
  file: FileHandle,
  path: string,
  target: Buffer,
  position: number,
  tensor?: string,
): Promise<void> {
  let done = 0;
  while (done < target.byteLength) {
    const { bytesRead } = await file.read(target, done, target.byteLength - done, position + done);
    if (bytesRead === 0)
      throw corrupt(path, 'The file became shorter while it was read', undefined, undefined, tensor);
    done += bytesRead;
  }
}

/** A bfloat16 is the upper half of a 32-bit float. */
function widenBfloat16(source: Uint16Array, target: Float32Array): void {
  const bits = new Uint32Array(target.buffer, target.byteOffset, target.length);
  for (let i = 0; i < bits.length; i++) bits[i] = source[i]! << 16;
}

function widenFloat16(source: Uint16Array, target: Float32Array): void {
  const values = halfFloats();
  for (let i = 0; i < target.length; i++) target[i] = values[source[i]!]!;
}

interface HeaderEntry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly number[];
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
    next: 'Copy the file again, or load another checkpoint',
    fields: { file: path, ...(tensor === undefined ? {} : { tensor }) },
  });
}
