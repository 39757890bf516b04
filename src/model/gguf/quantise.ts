/** Values as the blocks of GGUF types that are written. */

import { halfBits, halfFloats } from '../checkpoint/half-floats.ts';
import { type BlockType, F16, F32, Q8_0 } from './block-types.ts';

/** Types in which a model can be written, by the names of the command line. */
export const WRITTEN_TYPES = { f32: F32, f16: F16, q8_0: Q8_0 } as const;
export type WrittenType = keyof typeof WRITTEN_TYPES;

/** `general.file_type` of a file whose matrices have the type. */
export const FILE_TYPES: Readonly<Record<WrittenType, number>> = { f32: 0, f16: 1, q8_0: 7 };

/** The type of a matrix: rows that blocks do not divide are written as half floats. */
export function typeOfMatrix(wanted: WrittenType, columns: number): BlockType {
  const type = WRITTEN_TYPES[wanted];
  return columns % type.elements === 0 ? type : F16;
}

/**
 * Writes `count` values of `source[from]` and after to the start of `target`, as one of the types above. Half floats are
 * the nearest ones; Q8_0 has the format's own arithmetic in 32 bits, and so the bits of its Python package.
 *
 * @returns the index of a value that the type cannot hold, such as one beyond 65,504 in half floats; -1 where it holds all
 */
export function encode(
  type: BlockType,
  source: Float32Array,
  from: number,
  count: number,
  target: Buffer,
): number {
  if (type === F32) {
    for (let i = 0; i < count; i++) target.writeFloatLE(source[from + i]!, 4 * i);
    return -1;
  }
  return type === F16 ? encodeHalves(source, from, count, target) : encodeQ8(source, from, count, target);
}

function encodeHalves(source: Float32Array, from: number, count: number, target: Buffer): number {
  let lost = -1;
  for (let i = 0; i < count; i++) {
    const bits = halfBits(source[from + i]!);
    if ((bits & 0x7c00) === 0x7c00) lost = from + i;
    target.writeUInt16LE(bits, 2 * i);
  }
  return lost;
}

/** d = max |x| / 127 as a half float, then x / d rounded, halves away from zero. */
function encodeQ8(source: Float32Array, from: number, count: number, target: Buffer): number {
  const halves = halfFloats();
  let lost = -1;
  for (let block = 0; block < count / 32; block++) {
    const start = from + 32 * block;
    let largest = 0;
    for (let i = 0; i < 32; i++) largest = Math.max(largest, Math.abs(source[start + i]!));
    const scale = Math.fround(largest / 127);
    const inverse = scale === 0 ? 0 : Math.fround(1 / scale);
    const bits = halfBits(scale);
    if (!Number.isFinite(halves[bits]!)) lost = start;
    target.writeUInt16LE(bits, 34 * block);
    for (let i = 0; i < 32; i++) {
      const value = Math.fround(source[start + i]! * inverse);
      const rounded = Math.sign(value) * Math.floor(Math.abs(value) + 0.5);
      target.writeInt8(Math.max(-128, Math.min(127, rounded)), 34 * block + 2 + i);
    }
  }
  return lost;
}
