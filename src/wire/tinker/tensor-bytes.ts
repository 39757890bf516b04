/** The numbers of tensors as little-endian bytes, which is how they lie in the messages of the Tinker API. */

import { garbled } from './garbled.ts';
import { Dtype } from './generated/tinker_public_pb.ts';
import type { NumberArray } from './shapes.ts';

/** @throws TurnwiseError `tinker-garbled` */
export function numbersOf(raw: Uint8Array, dtype: Dtype): NumberArray {
  switch (dtype) {
    case Dtype.FLOAT32:
      return copyOf(Float32Array, raw);
    case Dtype.INT32:
      return copyOf(Int32Array, raw);
    case Dtype.INT64:
      return Int32Array.from(copyOf(BigInt64Array, raw), (value) => {
        if (BigInt.asIntN(32, value) !== value) throw garbled('a whole number is too large', String(value));
        return Number(value);
      });
    case Dtype.BFLOAT16:
      // The upper half of a 32-bit float.
      return new Float32Array(Uint32Array.from(copyOf(Uint16Array, raw), (value) => value << 16).buffer);
    default:
      throw garbled('a tensor has an unknown type of numbers', String(dtype));
  }
}

interface ArrayKind<T> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer): T;
}

/**
 * A copy, because bytes inside a message need not lie where numbers of their size may.
 *
 * @throws TurnwiseError `tinker-garbled`
 */
export function copyOf<T>(kind: ArrayKind<T>, raw: Uint8Array): T {
  if (raw.byteLength % kind.BYTES_PER_ELEMENT !== 0)
    throw garbled('a tensor ends in the middle of a number', `${raw.byteLength} bytes`);
  return new kind(new Uint8Array(raw).buffer);
}

/** A view, not a copy. */
export function rawBytes(values: Float32Array | Int32Array | BigInt64Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(values.buffer as ArrayBuffer, values.byteOffset, values.byteLength);
}
