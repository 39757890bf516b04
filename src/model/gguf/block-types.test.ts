/** Blocks of every type give the bits that the format's own Python package gives. */

import { expect, test } from 'vitest';
import { BLOCK_TYPES } from './block-types.ts';
import { ownFolder, readJson } from './testing/gguf-data.ts';

interface ExpectedType {
  readonly type: number;
  readonly elements: number;
  readonly bytes: number;
  readonly blocks?: readonly { readonly note: string; readonly hex: string; readonly f32: string }[];
  readonly pairs?: readonly (readonly [hex: string, f32: string])[];
}

const { types } = readJson<{ readonly types: Readonly<Record<string, ExpectedType>> }>(
  ownFolder,
  'blocks.json',
);
const read = Object.entries(types).filter(([, { type }]) => BLOCK_TYPES.has(type));

test('all types that are promised are read', () => {
  expect([...BLOCK_TYPES.values()].map(({ name }) => name).sort()).toEqual(
    ['BF16', 'F16', 'F32', 'Q4_0', 'Q4_1', 'Q4_K', 'Q5_0', 'Q5_1', 'Q5_K', 'Q6_K', 'Q8_0'].sort(),
  );
});

test.each(read)('%s, bit for bit', (name, { type, elements, bytes, blocks, pairs }) => {
  const decoder = BLOCK_TYPES.get(type)!;
  expect(decoder).toMatchObject({ name, id: type, elements, bytes });
  const cases = blocks?.map(({ hex, f32 }) => [hex, f32] as const) ?? pairs ?? [];
  for (const [hex, f32] of cases) {
    // Between other bytes and other values, which must stay.
    const source = Buffer.concat([Buffer.alloc(3, 0x55), Buffer.from(hex, 'hex'), Buffer.alloc(3, 0x55)]);
    const values = new Float32Array(elements + 2).fill(7);
    decoder.decode(source, 3, values, 1, 1);
    expect([values[0], values.at(-1)]).toEqual([7, 7]);
    const expected = new Uint32Array(f32.match(/.{8}/g)!.map((digits) => Number.parseInt(digits, 16)));
    const numbers = new Float32Array(expected.buffer);
    const seen = new Uint32Array(values.slice(1, -1).buffer);
    for (const [index, number] of numbers.entries()) {
      if (Number.isNaN(number)) expect(values[index + 1]).toBeNaN();
      else
        expect(seen[index]!.toString(16), `element ${index} of ${hex}`).toBe(expected[index]!.toString(16));
    }
  }
});
