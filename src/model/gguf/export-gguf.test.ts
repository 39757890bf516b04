/** What is written as a GGUF file is read back: weights, configuration, tokenizer, template, and the same logits. */

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type ModelCheckpoint, openCheckpoint, readCheckpoint } from '../checkpoint/checkpoint.ts';
import { exportCheckpoint } from '../checkpoint/export-checkpoint.ts';
import { halfBits, halfFloats } from '../checkpoint/half-floats.ts';
import { parityFolder, readExpected, TOKENIZERS } from '../testing/parity-data.ts';
import { loadPretrainedLanguage } from '../tokenizer/pretrained-language.ts';
import { BLOCK_TYPES, F16 } from './block-types.ts';
import { exportGguf } from './export-gguf.ts';
import { openGguf } from './gguf-file.ts';
import { encode, type WrittenType } from './quantise.ts';
import {
  hasShared,
  largestDifference,
  logitsOf,
  needsShared,
  ownFolder,
  sharedFolder,
} from './testing/gguf-data.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-gguf-export-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fixtures = join(process.cwd(), 'tests/hf-parity');

/** A checkpoint folder of a family, with a tokenizer and template beside it. */
function checkpointFolder(variant: string, tokenizer: string): string {
  const path = mkdtempSync(join(folder, 'checkpoint-'));
  cpSync(join(fixtures, variant), path, { recursive: true });
  for (const file of readdirSync(parityFolder(tokenizer))) {
    if (file !== 'expected.json') cpSync(join(parityFolder(tokenizer), file), join(path, file));
  }
  return path;
}

async function exported(source: ModelCheckpoint, type: WrittenType): Promise<string> {
  const path = join(mkdtempSync(join(folder, 'file-')), 'out.gguf');
  await exportGguf(path, source, await readCheckpoint(source), type);
  return path;
}

/** The error of half floats is half a step in the last of 11 bits. */
const relativeErrors: Readonly<Record<WrittenType, number>> = { f32: 0, f16: 2 ** -11, q8_0: 0 };

const families = [
  ['llama/f16', 'tokenizer-llama3'],
  ['smollm2/bf16', 'tokenizer-qwen'],
  ['mistral/f32', 'tokenizer-llama3'],
  ['qwen2/bf16', 'tokenizer-qwen'],
  ['qwen3/bf16', 'tokenizer-qwen'],
] as const;

describe.each(families)('%s', (variant, tokenizer) => {
  test.each(['f32', 'f16', 'q8_0'] as const)('as %s: shape, weights and logits', async (type) => {
    const source = await openCheckpoint(checkpointFolder(variant, tokenizer));
    const path = await exported(source, type);
    const model = await openCheckpoint(path);
    const { normEpsilon, ...shape } = model.shape;
    expect({ ...shape, normEpsilon: source.shape.normEpsilon }).toEqual(source.shape);
    expect(normEpsilon).toBeCloseTo(source.shape.normEpsilon, 10);

    const [before, after] = [await readCheckpoint(source), await readCheckpoint(model)];
    expect([...after.keys()]).toEqual([...before.keys()]);
    for (const [name, { data }] of before) {
      const read = after.get(name)!.data;
      // A step of Q8_0 is at most the largest value of the block / 127, and half of it may be lost; the scale is rounded too.
      const largest = data.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      const allowed = type === 'q8_0' && data.length > 300 ? largest / 127 : largest * relativeErrors[type];
      expect(largestDifference(read, data), name).toBeLessThanOrEqual(allowed);
    }
    const ids = [5, 17, 99, 3, 42, 250, 8];
    const [a, b] = [await logitsOf(source, ids), await logitsOf(model, ids)];
    expect(largestDifference(a.at(-1)!, b.at(-1)!)).toBeLessThan({ f32: 1e-5, f16: 0.05, q8_0: 2 }[type]);
  });
});

describe.each(TOKENIZERS)('%s', (tokenizer) => {
  test('texts, conversations and the end of a turn are kept', async () => {
    const source = checkpointFolder('smollm2/bf16', tokenizer);
    const path = await exported(await openCheckpoint(source), 'q8_0');
    const [before, after] = [
      await loadPretrainedLanguage(source, 300),
      await loadPretrainedLanguage(path, 300),
    ];
    expect(after.stopIds).toEqual(expect.arrayContaining([...before.stopIds]));
    const { strings, conversations } = readExpected(tokenizer);
    for (const { text, ids, ids_with_special_tokens: special } of strings) {
      expect(after.tokenizer.encode(text)).toEqual(ids);
      expect(after.tokenizer.encodeWithSpecialTokens(text)).toEqual(special);
    }
    for (const {
      messages,
      text,
      add_generation_prompt: addGenerationPrompt,
      tools,
      options,
    } of conversations) {
      if (text === undefined) continue;
      const how = { addGenerationPrompt, ...(tools && { tools }), ...(options && { variables: options }) };
      expect(after.template.render(messages, how)).toBe(text);
    }
  });

  test('a tokenizer that cuts texts in a way without a name is refused', async () => {
    const source = checkpointFolder('smollm2/bf16', tokenizer);
    const file = join(source, 'tokenizer.json');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('\\\\p{N}', '\\\\p{Nd}'));
    await expect(exported(await openCheckpoint(source), 'f16')).rejects.toMatchObject({
      code: 'export-unsupported',
    });
  });
});

test('a GGUF file written again says the same of itself', async () => {
  const path = join(ownFolder, 'good.gguf');
  const source = await openCheckpoint(path);
  const again = await exported(source, 'q8_0');
  const [before, after] = [openGguf(path), openGguf(again)];
  const own = (key: string): boolean => !/^general\.(file_type|quantization_version|alignment)$/.test(key);
  expect([...after.metadata.entries].filter(([key]) => own(key))).toEqual(
    [...before.metadata.entries].filter(([key]) => own(key)),
  );
  expect([...after.tensors.keys()].sort()).toEqual([...before.tensors.keys()].sort());
  // What was Q8_0 has nothing to lose.
  const [a, b] = [await readCheckpoint(source), await readCheckpoint(await openCheckpoint(again))];
  for (const [name, { data }] of a) {
    const largest = data.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    expect(largestDifference(b.get(name)!.data, data), name).toBeLessThanOrEqual(largest * 2 ** -10);
  }
});

test.skipIf(!hasShared)(
  `SentencePiece and slowed rotation, from file to folder to file${needsShared}`,
  async () => {
    for (const name of ['llama-spm-Q8_0.gguf', 'llama3-F16.gguf', 'llama-F16.gguf']) {
      const source = await openCheckpoint(join(sharedFolder, name));
      const unpacked = join(mkdtempSync(join(folder, 'unpacked-')), 'model');
      await exportCheckpoint(unpacked, source, await readCheckpoint(source));
      const middle = await openCheckpoint(unpacked);
      expect(middle.shape).toEqual(source.shape);
      const last = await openCheckpoint(await exported(middle, 'f32'));
      expect(last.shape).toEqual(source.shape);
      const ids = [5, 17, 99, 3, 42];
      const [a, b] = [await logitsOf(source, ids), await logitsOf(last, ids)];
      expect(largestDifference(a.at(-1)!, b.at(-1)!)).toBeLessThan(1e-5);
      const path = join(last.folder, last.files[0]!);
      const [before, after] = [
        await loadPretrainedLanguage(join(sharedFolder, name), 384),
        await loadPretrainedLanguage(path, 384),
      ];
      const text = "The lamp  is 42 cm high, isn't it?\n 你好 <0x41> [INST]";
      expect(after.tokenizer.encode(text)).toEqual(before.tokenizer.encode(text));
      expect(after.stopIds).toEqual(before.stopIds);
    }
  },
);

test('half floats: every value is its own nearest, and what lies between goes to the nearer', () => {
  const halves = halfFloats();
  for (const [bits, value] of halves.entries()) {
    if (Number.isNaN(value)) continue;
    expect(halfBits(value)).toBe(bits);
  }
  // Half of the least step is rounded to even, and more than half up; 65,520 is the first that is too large.
  expect([2 ** -25, 1.01 * 2 ** -25, 3 * 2 ** -25, 65_519, 65_520, Number.NaN].map(halfBits)).toEqual([
    0, 1, 2, 0x7bff, 0x7c00, 0x7e00,
  ]);
  expect([1 + 2 ** -11, 1 + 3 * 2 ** -11].map(halfBits)).toEqual([0x3c00, 0x3c02]);
});

test('a value that a type cannot hold is found', () => {
  const target = Buffer.alloc(100);
  const values = new Float32Array(32).fill(1);
  values[7] = 70_000;
  expect(encode(F16, values, 0, 32, target)).toBe(7);
  expect(encode(BLOCK_TYPES.get(8)!, values, 0, 32, target)).toBe(-1);
  values[7] = 1e9;
  expect(encode(BLOCK_TYPES.get(8)!, values, 0, 32, target)).toBe(0);
});
