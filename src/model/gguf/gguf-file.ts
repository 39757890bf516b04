/**
 * GGUF files, checked when they are opened: header, metadata and the list of tensors, but no weights. What a file claims is
 * compared with its length before anything is allocated, so a damaged one costs no more than its own size.
 */

import { closeSync, existsSync, fstatSync, openSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import { BLOCK_TYPES, type BlockType, describeType } from './block-types.ts';
import { ByteReader } from './byte-reader.ts';
import { damaged, invalidKey, unsupported } from './gguf-errors.ts';
import { Metadata, type MetadataValue, readValue } from './metadata.ts';

/** A tensor as a file lists it. */
export interface GgufTensor {
  /** The file that holds it. */
  readonly path: string;
  readonly type: BlockType;
  /** Fastest first: [inputs, outputs] of a matrix. */
  readonly dimensions: readonly number[];
  /** Byte offset in the file. */
  readonly begin: number;
}

export interface GgufFile {
  /** The first part's. */
  readonly path: string;
  /** All parts in order, by path. */
  readonly parts: readonly string[];
  readonly metadata: Metadata;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
}

/**
 * Opens a file, with its other parts where it is the first of several.
 * @throws TurnwiseError `checkpoint-missing`, `checkpoint-corrupt`, `model-invalid`, `model-unsupported`
 */
export function openGguf(path: string): GgufFile {
  const first = openPart(path);
  const count = first.metadata.integer('split.count') ?? 1;
  if (count <= 1) return { ...first, path, parts: [path] };
  const parts = partPaths(path, first.metadata, count);
  const tensors = new Map(first.tensors);
  for (const [number, part] of parts.entries()) {
    if (number === 0) continue;
    if (!existsSync(part)) throw missing(part, `it is part ${number + 1} of ${count} of ${basename(path)}`);
    const { metadata, tensors: more } = openPart(part);
    const seen = [metadata.integer('split.no'), metadata.integer('split.count')];
    if (seen[0] !== number || seen[1] !== count) {
      throw damaged(part, `this is not part ${number + 1} of ${count}`, {
        seen: `split.no ${seen[0]}, split.count ${seen[1]}`,
      });
    }
    for (const [name, tensor] of more) {
      if (tensors.has(name)) throw damaged(part, `tensor ${name} comes twice`, { tensor: name });
      tensors.set(name, tensor);
    }
  }
  const expected = first.metadata.integer('split.tensors.count');
  if (expected !== undefined && expected !== tensors.size) {
    throw damaged(path, `its ${count} parts hold another number of tensors than they should`, {
      seen: String(tensors.size),
      allowed: String(expected),
    });
  }
  return { path, parts, metadata: first.metadata, tensors };
}

/** Names of all parts; the others are beside the first. */
function partPaths(path: string, metadata: Metadata, count: number): readonly string[] {
  const number = metadata.integer('split.no') ?? 0;
  const name = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/.exec(basename(path));
  const part = (index: number): string => {
    const digits = (value: number): string => String(value).padStart(5, '0');
    return join(dirname(path), `${name?.[1]}-${digits(index + 1)}-of-${digits(count)}.gguf`);
  };
  if (number !== 0) {
    throw invalidPart(path, number, count, name === null ? 'the first part' : basename(part(0)));
  }
  if (name === null || Number(name[2]) !== 1 || Number(name[3]) !== count) {
    throw damaged(path, `the name does not say where the other ${count - 1} parts are`, {
      allowed: `a name that ends with -00001-of-${String(count).padStart(5, '0')}.gguf`,
      next: 'Give the parts their original names',
    });
  }
  return Array.from({ length: count }, (_, index) => part(index));
}

function invalidPart(path: string, number: number, count: number, first: string): TurnwiseError {
  return new TurnwiseError('model-invalid', {
    what: `${basename(path)} is part ${number + 1} of ${count} of a model`,
    allowed: 'the first part, beside which the others are found',
    next: `Name ${first}`,
    fields: { file: path },
  });
}

interface Part {
  readonly metadata: Metadata;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
}

function openPart(path: string): Part {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (cause) {
    throw missing(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
  try {
    return readPart(descriptor, path);
  } finally {
    closeSync(descriptor);
  }
}

function readPart(descriptor: number, path: string): Part {
  const fileBytes = fstatSync(descriptor).size;
  const reader = new ByteReader(descriptor, path, fileBytes);
  requireFormat(reader, path, fileBytes);
  const tensorCount = reader.count('the number of tensors is implausible', 33);
  const entryCount = reader.count('the number of metadata entries is implausible', 14);
  reader.section = 'the metadata';
  const entries = new Map<string, MetadataValue>();
  for (let index = 0; index < entryCount; index++) {
    const key = reader.string('a key');
    if (key === '') throw damaged(path, 'a key of the metadata is empty');
    if (entries.has(key)) throw damaged(path, `the key ${key} comes twice`);
    entries.set(key, readValue(reader, key, path));
  }
  const metadata = new Metadata(path, entries);
  reader.section = 'the tensor list';
  const infos = new Map<string, TensorInfo>();
  for (let index = 0; index < tensorCount; index++) {
    const { name, info } = readInfo(reader, path);
    if (infos.has(name)) throw damaged(path, `tensor ${name} comes twice`, { tensor: name });
    infos.set(name, info);
  }
  return { metadata, tensors: placed(infos, metadata, reader.position, fileBytes) };
}

function requireFormat(reader: ByteReader, path: string, fileBytes: number): void {
  if (fileBytes === 0) throw damaged(path, 'this is not a GGUF file', { seen: '0 bytes' });
  const start = reader.peek(16).toString('latin1');
  if (!start.startsWith('GGUF')) {
    const isSafetensors = /^.{8}\{/s.test(start);
    throw damaged(path, 'this is not a GGUF file', {
      seen: isSafetensors ? 'a safetensors file' : `magic ${JSON.stringify(start.slice(0, 4))}`,
      allowed: 'magic "GGUF"',
      next: isSafetensors
        ? 'Name the folder that holds it, with its config.json and tokenizer'
        : 'Name a GGUF file, or a folder as transformers saves it',
    });
  }
  reader.take(4);
  const version = reader.u32();
  if (version === 2 || version === 3) return;
  if (version !== 0 && (version & 0xffff) === 0) {
    throw unsupported(path, 'this is a big-endian GGUF file', {
      allowed: 'little-endian files',
      next: 'Take the usual file of the model, which is little-endian',
    });
  }
  throw unsupported(
    path,
    `version ${version} of GGUF is ${version === 1 ? 'no longer supported' : 'unknown'}`,
    {
      allowed: 'versions 2 and 3',
      next: 'Convert the model again with a current convert_hf_to_gguf.py',
    },
  );
}

interface TensorInfo {
  readonly type: BlockType;
  readonly dimensions: readonly number[];
  readonly elements: number;
  readonly offset: bigint;
}

function readInfo(reader: ByteReader, path: string): { readonly name: string; readonly info: TensorInfo } {
  const broken = (what: string, seen: string, allowed: string): TurnwiseError =>
    damaged(path, `the tensor list is broken: ${what}`, { seen, allowed });
  const name = reader.string('the name of a tensor');
  if (name === '') throw broken('a tensor has no name', 'an empty name', 'a name');
  const rank = reader.u32();
  if (rank < 1 || rank > 4)
    throw broken(`the number of dimensions of tensor ${shown(name)}`, String(rank), '1 to 4');
  const dimensions: number[] = [];
  let elements = 1n;
  for (let index = 0; index < rank; index++) {
    const size = reader.u64();
    elements *= size;
    dimensions.push(Number(size));
  }
  if (elements === 0n)
    throw broken(`tensor ${name} has a dimension of 0`, `[${dimensions.join(', ')}]`, 'at least 1');
  if (elements > BigInt(Number.MAX_SAFE_INTEGER) / 8n) {
    throw broken(
      `the size of tensor ${name} overflows`,
      `[${dimensions.join(', ')}]`,
      'what the file can hold',
    );
  }
  const id = reader.u32();
  const type = BLOCK_TYPES.get(id);
  if (type === undefined) {
    throw unsupported(path, `the type of tensor ${name} is not supported`, {
      seen: describeType(id),
      allowed: [...BLOCK_TYPES.values()].map((known) => known.name).join(', '),
      next: 'Take the Q8_0, Q4_K_M or F16 file of the same model, or convert this one: llama-quantize --allow-requantize MODEL.gguf OUT.gguf Q8_0',
      tensor: name,
    });
  }
  if (dimensions[0]! % type.elements !== 0) {
    throw broken(
      `the rows of tensor ${name} are not made of whole blocks of ${type.name}`,
      `${dimensions[0]} columns`,
      `a multiple of ${type.elements}`,
    );
  }
  return { name, info: { type, dimensions, elements: Number(elements), offset: reader.u64() } };
}

/** Where each tensor lies: inside the file, aligned, and over no other one. */
function placed(
  infos: ReadonlyMap<string, TensorInfo>,
  metadata: Metadata,
  headerBytes: number,
  fileBytes: number,
): Map<string, GgufTensor> {
  const { path } = metadata;
  const alignment = metadata.integer('general.alignment') ?? 32;
  if (alignment === 0 || alignment > 2 ** 30 || (alignment & (alignment - 1)) !== 0) {
    throw invalidKey(path, 'general.alignment', String(alignment), 'a power of two');
  }
  const dataStart = Math.ceil(headerBytes / alignment) * alignment;
  const tensors = new Map<string, GgufTensor>();
  const spans: { readonly name: string; readonly begin: number; readonly end: number }[] = [];
  for (const [name, { type, dimensions, elements, offset }] of infos) {
    const wrong = (what: string, seen: string, allowed?: string): TurnwiseError =>
      damaged(path, `tensor ${name} ${what}`, {
        seen,
        ...(allowed !== undefined && { allowed }),
        tensor: name,
      });
    if (offset > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw wrong('has an offset that is no safe integer', String(offset), `less than ${fileBytes}`);
    }
    if (Number(offset) % alignment !== 0) {
      throw wrong(
        'has an offset that is no multiple of the alignment',
        String(offset),
        `multiples of ${alignment}`,
      );
    }
    const begin = dataStart + Number(offset);
    const end = begin + (elements / type.elements) * type.bytes;
    if (end > fileBytes) {
      throw wrong('reaches beyond the end of the file', `bytes ${begin} to ${end}`, `at most ${fileBytes}`);
    }
    tensors.set(name, { path, type, dimensions, begin });
    spans.push({ name, begin, end });
  }
  spans.sort((a, b) => a.begin - b.begin);
  for (const [index, { name, begin }] of spans.entries()) {
    const before = spans[index - 1];
    if (before === undefined || before.end <= begin) continue;
    throw damaged(path, `tensor ${name} overlaps ${before.name}`, {
      seen: `${name} from byte ${begin} on, ${before.name} up to byte ${before.end}`,
      tensor: name,
    });
  }
  return tensors;
}

/** Bytes of a broken list, where a name should be, in a message. */
const shown = (name: string): string => JSON.stringify(name.slice(0, 40));

function missing(path: string, seen: string, cause?: unknown): TurnwiseError {
  return new TurnwiseError('checkpoint-missing', {
    what: `Cannot read the model file ${path}`,
    seen,
    next: 'Check the path, or download the file again',
    fields: { file: path },
    ...(cause !== undefined && { cause }),
  });
}
