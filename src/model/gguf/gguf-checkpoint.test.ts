/** GGUF files give the logits that transformers gives for their weights; damaged ones say what is wrong with them. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { TurnwiseError } from '../../core/errors.ts';
import { openCheckpoint, readCheckpoint } from '../checkpoint/checkpoint.ts';
import { loadPretrainedLanguage } from '../tokenizer/pretrained-language.ts';
import {
  hasShared,
  largestDifference,
  logitsOf,
  needsShared,
  ownFolder,
  readJson,
  sharedFolder,
} from './testing/gguf-data.ts';

interface ExpectedSmall {
  readonly ids: readonly number[];
  readonly lastLogits: readonly number[];
}

interface ExpectedModel {
  readonly ids: readonly number[];
  readonly logits: readonly (readonly number[])[];
  readonly greedy: readonly number[];
}

const folder = mkdtempSync(join(tmpdir(), 'turnwise-gguf-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const small = readJson<ExpectedSmall>(ownFolder, 'good-expected.json');

async function smallError(path: string): Promise<number> {
  const logits = await logitsOf(await openCheckpoint(path), small.ids);
  return largestDifference(logits.at(-1)!, small.lastLogits);
}

test('a small file: configuration, logits, tokenizer and template', async () => {
  const path = join(ownFolder, 'good.gguf');
  const model = await openCheckpoint(path, { name: 'someone/small' });
  expect({ ...model, folder: model.folder.replace(ownFolder, 'OWN') }).toMatchInlineSnapshot(`
    {
      "eosIds": [
        2,
        0,
      ],
      "files": [
        "good.gguf",
      ],
      "folder": "OWN",
      "format": "gguf",
      "name": "someone/small",
      "shape": {
        "activation": "swiglu",
        "contextLength": 128,
        "headWidth": 16,
        "heads": 2,
        "hidden": 64,
        "keyValueHeads": 1,
        "layers": 1,
        "normEpsilon": 0.000009999999747378752,
        "ropeTheta": 10000,
        "tiedHead": true,
        "vocabulary": 384,
        "width": 32,
      },
    }
  `);
  expect(await smallError(path)).toBeLessThan(1e-5);
});

describe.skipIf(!hasShared)(`files of three architectures${needsShared}`, () => {
  const expected = hasShared ? readJson<Record<string, ExpectedModel>>(sharedFolder, 'expected.json') : {};

  test.each(Object.entries(expected))('%s', async (name, { ids, logits, greedy }) => {
    const model = await openCheckpoint(join(sharedFolder, name));
    const all = await logitsOf(model, ids);
    for (const [row, values] of logits.entries()) {
      expect(largestDifference(all.at(row - logits.length)!, values)).toBeLessThan(1e-3);
    }
    // The token that follows, and all of the others at once: each row's best is the next token of the row.
    const whole = await logitsOf(model, [...ids, ...greedy]);
    const best = whole.map((row) => row.indexOf(Math.max(...row)));
    expect(best.slice(ids.length - 1, -1)).toEqual(greedy);
  });
});

/** What is said of a file, and of its weights and its tokenizer. */
async function verdict(path: string): Promise<string> {
  try {
    const model = await openCheckpoint(path);
    await readCheckpoint(model);
    await loadPretrainedLanguage(path, model.shape.vocabulary);
    return 'loads';
  } catch (error) {
    if (!TurnwiseError.isInstance(error)) throw error;
    return `${error.code}: ${error.message.replaceAll(sharedFolder, 'SHARED')}`;
  }
}

describe.skipIf(!hasShared)(`damaged files${needsShared}`, () => {
  const broken = join(sharedFolder, 'broken');
  const expected = hasShared ? readJson<Record<string, string>>(broken, 'expected-errors.json') : {};
  const loads = Object.keys(expected).filter((name) => expected[name]!.startsWith('loads'));

  test('each gets its error', async () => {
    const said: Record<string, string> = {};
    for (const name of Object.keys(expected)) said[name] = await verdict(join(broken, name));
    expect(Object.keys(said).filter((name) => said[name] === 'loads')).toEqual(loads);
    expect(said).toMatchInlineSnapshot(`
      {
        "alignment-24.gguf": "model-invalid: alignment-24.gguf: the value of general.alignment cannot be used. Seen: 24. Allowed: a power of two. Convert the model again with a current convert_hf_to_gguf.py, or take another file of it.",
        "alignment-64.gguf": "loads",
        "alignment-zero.gguf": "model-invalid: alignment-zero.gguf: the value of general.alignment cannot be used. Seen: 0. Allowed: a power of two. Convert the model again with a current convert_hf_to_gguf.py, or take another file of it.",
        "architecture-missing.gguf": "model-invalid: architecture-missing.gguf: general.architecture is missing. Convert the model again with a current convert_hf_to_gguf.py, or take another file of it.",
        "architecture-unsupported.gguf": "model-unsupported: architecture-unsupported.gguf: the architecture of the model is not supported. Seen: architecture "mamba". Allowed: llama, qwen2, qwen3. Take a model of the Llama, SmolLM2, Mistral, Qwen2 or Qwen3 families.",
        "array-element-type-unknown.gguf": "checkpoint-corrupt: array-element-type-unknown.gguf: the elements of the array tokenizer.ggml.tokens have a type that cannot be read. Seen: array element type 77. Allowed: numbers, booleans or strings. Copy or download the file again.",
        "array-length-huge.gguf": "checkpoint-corrupt: array-length-huge.gguf: the array tokenizer.ggml.tokens is longer than the rest of the file, which ends inside the metadata. Seen: 1125899906842624. Allowed: at most 3932, as the file goes on for 31460 bytes. Copy or download the file again.",
        "big-endian.gguf": "model-unsupported: big-endian.gguf: this is a big-endian GGUF file. Allowed: little-endian files. Take the usual file of the model, which is little-endian.",
        "dimension-huge.gguf": "checkpoint-corrupt: dimension-huge.gguf: the tensor list is broken: the size of tensor blk.0.ffn_up.weight overflows. Seen: [2305843009213694000, 64]. Allowed: what the file can hold. Copy or download the file again.",
        "dimension-zero.gguf": "checkpoint-corrupt: dimension-zero.gguf: the tensor list is broken: tensor blk.0.ffn_up.weight has a dimension of 0. Seen: [32, 0]. Allowed: at least 1. Copy or download the file again.",
        "dimensions-nine.gguf": "checkpoint-corrupt: dimensions-nine.gguf: the tensor list is broken: the number of dimensions of tensor "blk.0.ffn_up.weight". Seen: 9. Allowed: 1 to 4. Copy or download the file again.",
        "embedding-length-missing.gguf": "model-invalid: embedding-length-missing.gguf: llama.embedding_length is missing. Convert the model again with a current convert_hf_to_gguf.py, or take another file of it.",
        "empty.gguf": "checkpoint-corrupt: empty.gguf: this is not a GGUF file. Seen: 0 bytes. Copy or download the file again.",
        "foreign-magic.gguf": "checkpoint-corrupt: foreign-magic.gguf: this is not a GGUF file. Seen: magic "lmgg". Allowed: magic "GGUF". Name a GGUF file, or a folder as transformers saves it.",
        "good.gguf": "loads",
        "head-count-kv-wrong.gguf": "model-invalid: head-count-kv-wrong.gguf: the value of num_key_value_heads cannot be used. Seen: 7. Allowed: a divisor of the 2 attention heads.",
        "key-length-huge.gguf": "checkpoint-corrupt: key-length-huge.gguf: a key is longer than the file, in the metadata. Seen: 4611686018427387904 bytes. Allowed: at most 32192. Copy or download the file again.",
        "key-twice.gguf": "checkpoint-corrupt: key-twice.gguf: the key general.type comes twice. Copy or download the file again.",
        "magic-only.gguf": "checkpoint-corrupt: magic-only.gguf: the file ends inside the header. Seen: 4 bytes. Copy or download the file again.",
        "metadata-count-huge.gguf": "checkpoint-corrupt: metadata-count-huge.gguf: the number of metadata entries is implausible. Seen: 1099511627776. Allowed: at most 2300, as the file goes on for 32200 bytes. Copy or download the file again.",
        "metadata-type-unknown.gguf": "checkpoint-corrupt: metadata-type-unknown.gguf: the metadata type of general.architecture is unknown. Seen: metadata type 13. Allowed: 0 to 12. Copy or download the file again.",
        "norm-quantised-shape.gguf": "checkpoint-mismatch: norm-quantised-shape.gguf: tensor output_norm.weight has another shape than the model calls for. Seen: [48]. Allowed: [32], columns first. Take another file of the model.",
        "offset-2-to-63.gguf": "checkpoint-corrupt: offset-2-to-63.gguf: tensor blk.0.ffn_up.weight has an offset that is no safe integer. Seen: 9223372036854775808. Allowed: less than 32224. Copy or download the file again.",
        "offset-beyond-end.gguf": "checkpoint-corrupt: offset-beyond-end.gguf: tensor blk.0.ffn_up.weight reaches beyond the end of the file. Seen: bytes 1000008992 to 1000011168. Allowed: at most 32224. Copy or download the file again.",
        "offset-overlaps.gguf": "checkpoint-corrupt: offset-overlaps.gguf: tensor blk.0.ffn_up.weight overlaps token_embd.weight. Seen: blk.0.ffn_up.weight from byte 8992 on, token_embd.weight up to byte 22048. Copy or download the file again.",
        "offset-unaligned.gguf": "checkpoint-corrupt: offset-unaligned.gguf: tensor blk.0.ffn_up.weight has an offset that is no multiple of the alignment. Seen: 18503. Allowed: multiples of 32. Copy or download the file again.",
        "pre-tokenizer-unknown.gguf": "tokenizer-unsupported: pre-tokenizer-unknown.gguf: the tokenizer cannot be used: this value of tokenizer.ggml.pre is not known. Seen: "sm0llm". Allowed: smollm, qwen2, llama-bpe (a guess would change the ids of texts silently). Take a file of the model that a current convert_hf_to_gguf.py made, or its folder with tokenizer.json.",
        "safetensors.gguf": "checkpoint-corrupt: safetensors.gguf: this is not a GGUF file. Seen: a safetensors file. Allowed: magic "GGUF". Name the folder that holds it, with its config.json and tokenizer.",
        "scale-infinite.gguf": "checkpoint-corrupt: scale-infinite.gguf: Tensor blk.0.ffn_down.weight has a value that is not finite. Seen: Infinity at index 0. Copy the file again, or load another checkpoint.",
        "shape-transposed.gguf": "checkpoint-mismatch: shape-transposed.gguf: tensor blk.0.ffn_up.weight has another shape than the model calls for. Seen: [64, 32]. Allowed: [32, 64], columns first. Take another file of the model.",
        "shape-wrong.gguf": "checkpoint-mismatch: shape-wrong.gguf: tensor blk.0.attn_k.weight has another shape than the model calls for. Seen: [32, 8]. Allowed: [32, 16], columns first. Take another file of the model.",
        "split-00001-of-00003.gguf": "loads",
        "split-00002-of-00003.gguf": "model-invalid: split-00002-of-00003.gguf is part 2 of 3 of a model. Allowed: the first part, beside which the others are found. Name split-00001-of-00003.gguf.",
        "split-00003-of-00003.gguf": "model-invalid: split-00003-of-00003.gguf is part 3 of 3 of a model. Allowed: the first part, beside which the others are found. Name split-00001-of-00003.gguf.",
        "string-length-huge.gguf": "checkpoint-corrupt: string-length-huge.gguf: the string general.architecture is longer than the file, in the metadata. Seen: 4611686018427387904 bytes. Allowed: at most 32160. Copy or download the file again.",
        "tensor-count-huge.gguf": "checkpoint-corrupt: tensor-count-huge.gguf: the number of tensors is implausible. Seen: 1099511627776. Allowed: at most 976, as the file goes on for 32208 bytes. Copy or download the file again.",
        "tensor-count-one-more.gguf": "checkpoint-corrupt: tensor-count-one-more.gguf: the tensor list is broken: a tensor has no name. Seen: an empty name. Allowed: a name. Copy or download the file again.",
        "tensor-foreign-bias.gguf": "checkpoint-mismatch: tensor-foreign-bias.gguf: the model has no place for tensor blk.0.attn_q.bias. Seen: llama of 1 layer. Allowed: no biases in llama here. Take another file of the model.",
        "tensor-missing.gguf": "checkpoint-mismatch: tensor-missing.gguf: there is no tensor blk.0.ffn_up.weight, which the model calls for. Take another file of the model.",
        "tensor-superfluous.gguf": "checkpoint-mismatch: tensor-superfluous.gguf: the model has no place for tensor blk.7.attn_norm.weight. Seen: llama of 1 layer. Take another file of the model.",
        "tensor-twice.gguf": "checkpoint-corrupt: tensor-twice.gguf: tensor blk.0.attn_v.weight comes twice. Copy or download the file again.",
        "tokenizer-missing.gguf": "tokenizer-missing: tokenizer-missing.gguf has no tokenizer. Seen: no tokenizer.ggml.model and tokenizer.ggml.tokens. Take a file that has one, as nearly all have, or the folder of the model with its tokenizer.json.",
        "truncated-before-data.gguf": "checkpoint-corrupt: truncated-before-data.gguf: tensor token_embd.weight reaches beyond the end of the file. Seen: bytes 8992 to 22048. Allowed: at most 8992. Copy or download the file again.",
        "truncated-data.gguf": "checkpoint-corrupt: truncated-data.gguf: tensor blk.0.ffn_down.weight reaches beyond the end of the file. Seen: bytes 29664 to 31840. Allowed: at most 31524. Copy or download the file again.",
        "truncated-last-byte.gguf": "checkpoint-corrupt: truncated-last-byte.gguf: tensor output_norm.weight reaches beyond the end of the file. Seen: bytes 32096 to 32224. Allowed: at most 32223. Copy or download the file again.",
        "truncated-metadata.gguf": "checkpoint-corrupt: truncated-metadata.gguf: the array tokenizer.ggml.tokens is longer than the rest of the file, which ends inside the metadata. Seen: 384. Allowed: at most 279, as the file goes on for 2233 bytes. Copy or download the file again.",
        "truncated-tensor-infos.gguf": "checkpoint-corrupt: truncated-tensor-infos.gguf: the file ends inside the tensor list. Seen: 8713 bytes. Copy or download the file again.",
        "type-removed.gguf": "model-unsupported: type-removed.gguf: the type of tensor blk.0.ffn_up.weight is not supported. Seen: tensor type 4 (Q4_2, removed from the format). Allowed: F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K. Take the Q8_0, Q4_K_M or F16 file of the same model, or convert this one: llama-quantize --allow-requantize MODEL.gguf OUT.gguf Q8_0.",
        "type-unknown.gguf": "model-unsupported: type-unknown.gguf: the type of tensor blk.0.ffn_up.weight is not supported. Seen: tensor type 99, which is unknown. Allowed: F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K. Take the Q8_0, Q4_K_M or F16 file of the same model, or convert this one: llama-quantize --allow-requantize MODEL.gguf OUT.gguf Q8_0.",
        "type-unsupported-iq2xxs.gguf": "model-unsupported: type-unsupported-iq2xxs.gguf: the type of tensor blk.0.ffn_up.weight is not supported. Seen: tensor type 16 (IQ2_XXS). Allowed: F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K. Take the Q8_0, Q4_K_M or F16 file of the same model, or convert this one: llama-quantize --allow-requantize MODEL.gguf OUT.gguf Q8_0.",
        "version-0.gguf": "model-unsupported: version-0.gguf: version 0 of GGUF is unknown. Allowed: versions 2 and 3. Convert the model again with a current convert_hf_to_gguf.py.",
        "version-1.gguf": "model-unsupported: version-1.gguf: version 1 of GGUF is no longer supported. Allowed: versions 2 and 3. Convert the model again with a current convert_hf_to_gguf.py.",
        "version-2.gguf": "loads",
        "version-4.gguf": "model-unsupported: version-4.gguf: version 4 of GGUF is unknown. Allowed: versions 2 and 3. Convert the model again with a current convert_hf_to_gguf.py.",
      }
    `);
  });

  test.each(loads)('%s loads with the same numbers', async (name) => {
    expect(await smallError(join(broken, name))).toBeLessThan(1e-5);
  });
});

test('every cut of a file, and every changed byte of its header, is an error that says so, or it loads', async () => {
  const bytes = readFileSync(join(ownFolder, 'good.gguf'));
  const path = join(folder, 'changed.gguf');
  const outcomes = new Map<string, number>();
  const attempt = async (content: Uint8Array): Promise<void> => {
    writeFileSync(path, content);
    // Whatever is no TurnwiseError is thrown on.
    const code = (await verdict(path)).split(':')[0]!;
    outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
  };
  for (let length = 0; length < bytes.length; length += 97) await attempt(bytes.subarray(0, length));
  for (let at = 0; at < bytes.length; at += at < 200 ? 1 : 41) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1 << (at % 8);
    await attempt(changed);
  }
  expect(outcomes.get('checkpoint-corrupt')).toBeGreaterThan(100);
  expect(outcomes.get('loads')).toBeGreaterThan(100);
}, 60_000);
