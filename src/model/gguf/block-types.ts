/** The types of tensors in GGUF files: how many bytes they take, and which numbers these bytes are. */

import { halfFloats } from '../checkpoint/half-floats.ts';

/** A type of which `elements` neighbours in a row share a block of `bytes`. */
export interface BlockType {
  readonly name: string;
  readonly id: number;
  readonly elements: number;
  readonly bytes: number;
  /**
   * Writes the values of `count` whole blocks from `source[from]` on to `target[to]` and after. Every value is computed in
   * 64 bits and rounded once, which gives the bits of the format's own 32-bit arithmetic for all of these types.
   */
  decode(source: Buffer, from: number, target: Float32Array, to: number, count: number): void;
}

/** Decodes one block: the half floats of all bits are handed in. */
type BlockDecoder = (
  halves: Float32Array,
  source: Buffer,
  from: number,
  target: Float32Array,
  to: number,
) => void;

function blockType(
  name: string,
  id: number,
  elements: number,
  bytes: number,
  decode: BlockDecoder,
): BlockType {
  return {
    name,
    id,
    elements,
    bytes,
    decode: (source, from, target, to, count) => {
      const halves = halfFloats();
      for (let block = 0; block < count; block++) {
        decode(halves, source, from + block * bytes, target, to + block * elements);
      }
    },
  };
}

const half = (halves: Float32Array, source: Buffer, at: number): number =>
  halves[source[at]! | (source[at + 1]! << 8)]!;

const float32: BlockType = {
  name: 'F32',
  id: 0,
  elements: 1,
  bytes: 4,
  decode: (source, from, target, to, count) => {
    for (let i = 0; i < count; i++) target[to + i] = source.readFloatLE(from + 4 * i);
  },
};

const float16: BlockType = {
  name: 'F16',
  id: 1,
  elements: 1,
  bytes: 2,
  decode: (source, from, target, to, count) => {
    const halves = halfFloats();
    for (let i = 0; i < count; i++) target[to + i] = half(halves, source, from + 2 * i);
  },
};

/** The upper half of a 32-bit float. */
const bfloat16: BlockType = {
  name: 'BF16',
  id: 30,
  elements: 1,
  bytes: 2,
  decode: (source, from, target, to, count) => {
    const bits = new Uint32Array(target.buffer, target.byteOffset + 4 * to, count);
    for (let i = 0; i < count; i++) {
      bits[i] = (source[from + 2 * i]! | (source[from + 2 * i + 1]! << 8)) << 16;
    }
  },
};

const q8_0 = blockType('Q8_0', 8, 32, 34, (halves, source, from, target, to) => {
  const scale = half(halves, source, from);
  for (let i = 0; i < 32; i++) target[to + i] = scale * ((source[from + 2 + i]! << 24) >> 24);
});

/** 4 bits each: the low ones of 16 bytes, then the high ones. */
const q4_0 = blockType('Q4_0', 2, 32, 18, (halves, source, from, target, to) => {
  const scale = half(halves, source, from);
  for (let i = 0; i < 16; i++) {
    const byte = source[from + 2 + i]!;
    target[to + i] = scale * ((byte & 15) - 8);
    target[to + 16 + i] = scale * ((byte >> 4) - 8);
  }
});

const q4_1 = blockType('Q4_1', 3, 32, 20, (halves, source, from, target, to) => {
  const scale = half(halves, source, from);
  const minimum = half(halves, source, from + 2);
  for (let i = 0; i < 16; i++) {
    const byte = source[from + 4 + i]!;
    target[to + i] = scale * (byte & 15) + minimum;
    target[to + 16 + i] = scale * (byte >> 4) + minimum;
  }
});

/** As Q4_0, with a fifth bit of each element in a number of 32 bits. */
const q5_0 = blockType('Q5_0', 6, 32, 22, (halves, source, from, target, to) => {
  const scale = half(halves, source, from);
  const fifth = source.readUInt32LE(from + 2);
  for (let i = 0; i < 16; i++) {
    const byte = source[from + 6 + i]!;
    target[to + i] = scale * (((byte & 15) | (((fifth >>> i) & 1) << 4)) - 16);
    target[to + 16 + i] = scale * (((byte >> 4) | (((fifth >>> (i + 16)) & 1) << 4)) - 16);
  }
});

const q5_1 = blockType('Q5_1', 7, 32, 24, (halves, source, from, target, to) => {
  const scale = half(halves, source, from);
  const minimum = half(halves, source, from + 2);
  const fifth = source.readUInt32LE(from + 4);
  for (let i = 0; i < 16; i++) {
    const byte = source[from + 8 + i]!;
    target[to + i] = scale * ((byte & 15) | (((fifth >>> i) & 1) << 4)) + minimum;
    target[to + 16 + i] = scale * ((byte >> 4) | (((fifth >>> (i + 16)) & 1) << 4)) + minimum;
  }
});

/** The scale (6 bits) of one of the eight groups of 32 in Q4_K and Q5_K, from the 12 bytes at `at`. */
const groupScale = (source: Buffer, at: number, group: number): number =>
  group < 4
    ? source[at + group]! & 63
    : (source[at + group + 4]! & 15) | ((source[at + group - 4]! >> 6) << 4);

const groupMinimum = (source: Buffer, at: number, group: number): number =>
  group < 4
    ? source[at + group + 4]! & 63
    : (source[at + group + 4]! >> 4) | ((source[at + group]! >> 6) << 4);

const q4_K = blockType('Q4_K', 12, 256, 144, (halves, source, from, target, to) => {
  const scale = half(halves, source, from);
  const minimum = half(halves, source, from + 2);
  for (let group = 0; group < 8; group++) {
    const d = scale * groupScale(source, from + 4, group);
    const m = minimum * groupMinimum(source, from + 4, group);
    const low = from + 16 + 32 * (group >> 1);
    const shift = (group & 1) * 4;
    for (let i = 0; i < 32; i++) target[to + 32 * group + i] = d * ((source[low + i]! >> shift) & 15) - m;
  }
});

const q5_K = blockType('Q5_K', 13, 256, 176, (halves, source, from, target, to) => {
  const scale = half(halves, source, from);
  const minimum = half(halves, source, from + 2);
  for (let group = 0; group < 8; group++) {
    const d = scale * groupScale(source, from + 4, group);
    const m = minimum * groupMinimum(source, from + 4, group);
    const low = from + 48 + 32 * (group >> 1);
    const shift = (group & 1) * 4;
    for (let i = 0; i < 32; i++) {
      const fifth = (source[from + 16 + i]! >> group) & 1;
      target[to + 32 * group + i] = d * (((source[low + i]! >> shift) & 15) | (fifth << 4)) - m;
    }
  }
});

/** 4 low bits, 2 high ones, and a signed scale of 8 bits for every 16 elements. */
const q6_K = blockType('Q6_K', 14, 256, 210, (halves, source, from, target, to) => {
  const scale = half(halves, source, from + 208);
  for (let element = 0; element < 256; element++) {
    const side = element >> 7;
    const quarter = (element >> 5) & 3;
    const place = element & 31;
    const low = (source[from + 64 * side + 32 * (quarter & 1) + place]! >> ((quarter >> 1) * 4)) & 15;
    const high = (source[from + 128 + 32 * side + place]! >> (2 * quarter)) & 3;
    const group = (source[from + 192 + (element >> 4)]! << 24) >> 24;
    target[to + element] = scale * group * ((low | (high << 4)) - 32);
  }
});

const supported = [float32, float16, bfloat16, q4_0, q4_1, q5_0, q5_1, q8_0, q4_K, q5_K, q6_K];

export const BLOCK_TYPES: ReadonlyMap<number, BlockType> = new Map(supported.map((type) => [type.id, type]));

export const F32: BlockType = float32;
export const F16: BlockType = float16;
export const Q8_0: BlockType = q8_0;

/** Types that are not read, by id, for messages. */
const OTHERS: Readonly<Record<number, string>> = {
  4: 'Q4_2, removed from the format',
  5: 'Q4_3, removed from the format',
  9: 'Q8_1',
  10: 'Q2_K',
  11: 'Q3_K',
  15: 'Q8_K',
  16: 'IQ2_XXS',
  17: 'IQ2_XS',
  18: 'IQ3_XXS',
  19: 'IQ1_S',
  20: 'IQ4_NL',
  21: 'IQ3_S',
  22: 'IQ2_S',
  23: 'IQ4_XS',
  24: 'I8',
  25: 'I16',
  26: 'I32',
  27: 'I64',
  28: 'F64',
  29: 'IQ1_M',
  31: 'Q4_0_4_4, removed from the format',
  32: 'Q4_0_4_8, removed from the format',
  33: 'Q4_0_8_8, removed from the format',
  34: 'TQ1_0',
  35: 'TQ2_0',
  36: 'IQ4_NL_4_4, removed from the format',
  37: 'IQ4_NL_4_8, removed from the format',
  38: 'IQ4_NL_8_8, removed from the format',
  39: 'MXFP4',
  40: 'NVFP4',
  41: 'Q1_0',
};

/** What is said of a type that is not read. */
export function describeType(id: number): string {
  const name = OTHERS[id];
  return name === undefined ? `tensor type ${id}, which is unknown` : `tensor type ${id} (${name})`;
}
