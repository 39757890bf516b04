/** Metadata of a GGUF file: typed values by key, and what is asked of them. */

import type { ByteReader } from './byte-reader.ts';
import { damaged, invalidKey, missingKey } from './gguf-errors.ts';

/** Value types in the order of their ids. */
export const VALUE_TYPES = [
  'u8',
  'i8',
  'u16',
  'i16',
  'u32',
  'i32',
  'f32',
  'bool',
  'string',
  'array',
  'u64',
  'i64',
  'f64',
] as const;

export type ValueType = (typeof VALUE_TYPES)[number];
type NumberType = Exclude<ValueType, 'string' | 'array'>;

/** Whole numbers of 64 bits are `bigint`s where they are no safe integers; `bool`s in arrays are 0 and 1. */
export type MetadataValue =
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: Exclude<NumberType, 'bool'>; readonly value: number | bigint }
  | { readonly type: 'array'; readonly of: 'string'; readonly value: readonly string[] }
  | { readonly type: 'array'; readonly of: NumberType; readonly value: NumberArray };

export type NumberArray =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array
  | BigUint64Array
  | BigInt64Array;

/** A type of fixed length: how an element is read and written, and what holds many. */
export interface NumberFormat {
  readonly bytes: number;
  read(source: Buffer, offset: number): number | bigint;
  write(target: Buffer, offset: number, value: number | bigint): void;
  array(length: number): NumberArray;
}

type BufferKind =
  | `${'UInt' | 'Int'}8`
  | `${'UInt' | 'Int'}${16 | 32}LE`
  | `Big${'UInt' | 'Int'}64LE`
  | 'FloatLE'
  | 'DoubleLE';

function format(kind: BufferKind, array: new (length: number) => NumberArray): NumberFormat {
  const { BYTES_PER_ELEMENT: bytes } = new array(0);
  const exact = kind.startsWith('Big') ? BigInt : Number;
  return {
    bytes,
    read: (source, offset) => source[`read${kind}`](offset),
    write: (target, offset, value) => {
      const method = target[`write${kind}`] as (value: number | bigint, offset: number) => number;
      method.call(target, exact(value), offset);
    },
    array: (length) => new array(length),
  };
}

export const NUMBER_FORMATS: Readonly<Record<NumberType, NumberFormat>> = {
  u8: format('UInt8', Uint8Array),
  i8: format('Int8', Int8Array),
  u16: format('UInt16LE', Uint16Array),
  i16: format('Int16LE', Int16Array),
  u32: format('UInt32LE', Uint32Array),
  i32: format('Int32LE', Int32Array),
  f32: format('FloatLE', Float32Array),
  bool: format('UInt8', Uint8Array),
  u64: format('BigUInt64LE', BigUint64Array),
  i64: format('BigInt64LE', BigInt64Array),
  f64: format('DoubleLE', Float64Array),
};

/** Reads the value of `key`. */
export function readValue(reader: ByteReader, key: string, path: string): MetadataValue {
  const id = reader.u32();
  const type = VALUE_TYPES[id];
  if (type === undefined) {
    throw damaged(path, `the metadata type of ${key} is unknown`, {
      seen: `metadata type ${id}`,
      allowed: `0 to ${VALUE_TYPES.length - 1}`,
    });
  }
  if (type === 'string') return { type, value: reader.string(`the string ${key}`) };
  if (type === 'array') return readArray(reader, key, path);
  const { bytes, read } = NUMBER_FORMATS[type];
  const value = read(reader.take(bytes), 0);
  if (type !== 'bool') return { type, value: safe(value) };
  requireBit(Number(value), key, path);
  return { type, value: value === 1 };
}

function readArray(reader: ByteReader, key: string, path: string): MetadataValue {
  const id = reader.u32();
  const of = VALUE_TYPES[id];
  if (of === undefined || of === 'array') {
    throw damaged(path, `the elements of the array ${key} have a type that cannot be read`, {
      seen: of === undefined ? `array element type ${id}` : 'an array of arrays',
      allowed: 'numbers, booleans or strings',
    });
  }
  const problem = `the array ${key} is longer than the rest of the file, which ends inside the metadata`;
  if (of === 'string') {
    const count = reader.count(problem, 8);
    const value: string[] = [];
    for (let index = 0; index < count; index++) value.push(reader.string(`an element of ${key}`));
    return { type: 'array', of, value };
  }
  const { bytes, read, array } = NUMBER_FORMATS[of];
  const value = array(reader.count(problem, bytes));
  const source = reader.take(value.length * bytes);
  for (let index = 0; index < value.length; index++) {
    const element = read(source, index * bytes);
    if (of === 'bool') requireBit(Number(element), key, path);
    (value as Record<number, number | bigint>)[index] = element;
  }
  return { type: 'array', of, value };
}

function safe(value: number | bigint): number | bigint {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function requireBit(value: number, key: string, path: string): void {
  if (value <= 1) return;
  throw damaged(path, `the boolean ${key} is neither 0 nor 1`, { seen: String(value) });
}

/** What a file says of its model, by key; values of another kind than is asked for are errors that name the key. */
export class Metadata {
  readonly path: string;
  readonly entries: ReadonlyMap<string, MetadataValue>;

  constructor(path: string, entries: ReadonlyMap<string, MetadataValue>) {
    this.path = path;
    this.entries = entries;
  }

  has(key: string): boolean {
    return this.entries.has(key);
  }

  /** A whole number of any width, from 0 on. */
  integer(key: string): number | undefined {
    const value = this.entries.get(key)?.value;
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    throw invalidKey(this.path, key, this.#shown(key), 'a whole number');
  }

  number(key: string): number | undefined {
    const value = this.entries.get(key)?.value;
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    throw invalidKey(this.path, key, this.#shown(key), 'a number');
  }

  text(key: string): string | undefined {
    const value = this.entries.get(key)?.value;
    if (value === undefined || typeof value === 'string') return value;
    throw invalidKey(this.path, key, this.#shown(key), 'a string');
  }

  flag(key: string): boolean | undefined {
    const value = this.entries.get(key)?.value;
    if (value === undefined || typeof value === 'boolean') return value;
    throw invalidKey(this.path, key, this.#shown(key), 'true or false');
  }

  texts(key: string): readonly string[] | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.type === 'array' && entry.of === 'string') return entry.value;
    throw invalidKey(this.path, key, this.#shown(key), 'an array of strings');
  }

  numbers(key: string): ArrayLike<number> | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.type === 'array' && entry.of !== 'string' && entry.of !== 'u64' && entry.of !== 'i64') {
      return entry.value as Exclude<NumberArray, BigUint64Array | BigInt64Array>;
    }
    throw invalidKey(this.path, key, this.#shown(key), 'an array of numbers');
  }

  /** @throws TurnwiseError `model-invalid` where it is undefined */
  required<T>(key: string, value: T | undefined): T {
    if (value !== undefined) return value;
    throw missingKey(this.path, key);
  }

  #shown(key: string): string {
    const entry = this.entries.get(key)!;
    return entry.type === 'array'
      ? `an array of ${entry.value.length} ${entry.of}`
      : String(entry.value).slice(0, 60);
  }
}
