/** Writes a model as a GGUF file: adapters merged, with its tokenizer and chat template. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json/json.ts';
import type { ModelCheckpoint } from '../checkpoint/checkpoint.ts';
import { readModelJson } from '../checkpoint/model-files.ts';
import type { Weights } from '../checkpoint/safetensors.ts';
import { parameterShapes } from '../decoder/decoder.ts';
import { type LoraShape, mergedWeight } from '../decoder/lora.ts';
import { loadPretrainedLanguage, readTemplate } from '../tokenizer/pretrained-language.ts';
import { F32 } from './block-types.ts';
import { openGguf } from './gguf-file.ts';
import type { MetadataValue } from './metadata.ts';
import { folderMetadata, keptMetadata } from './model-metadata.ts';
import { encode, typeOfMatrix, type WrittenType } from './quantise.ts';
import { frequencyDivisors } from './rope-frequencies.ts';
import { ggufName, ROPE_FREQUENCIES, rowPlace } from './tensor-names.ts';
import { tokenizerMetadata } from './tokenizer-metadata.ts';
import { type WrittenTensor, writeGguf } from './write-gguf.ts';

/** Values encoded at a time. */
const PIECE_VALUES = 2 ** 20;

/**
 * Writes `weights`, merged with an adapter where one is given, with what the checkpoint that they come from says of itself.
 * Matrices get the type (or half floats, where its blocks do not divide their rows), norms and biases 32 bits.
 *
 * @throws TurnwiseError `export-unsupported` for a tokenizer or a value that the file cannot hold
 */
export async function exportGguf(
  path: string,
  source: ModelCheckpoint,
  weights: Weights,
  type: WrittenType,
  adapter?: { readonly lora: LoraShape; readonly weights: Weights },
): Promise<void> {
  const metadata = await (source.format === 'gguf' ? ofFile(source, type) : ofFolder(source, type));
  const architecture = String(metadata.get('general.architecture')?.value);
  const { shape } = source;
  const tensors = parameterShapes({ ...shape, valueHead: false, extraHeads: {} }).map(
    ({ name, shape: sizes }): WrittenTensor => {
      const columns = sizes.at(-1)!;
      const blockType = sizes.length === 1 ? F32 : typeOfMatrix(type, columns);
      const place = rowPlace(architecture, name, shape) ?? ((row) => row);
      return {
        name: ggufName(name),
        type: blockType,
        dimensions: [...sizes].reverse(),
        data: function* () {
          const weight = weights.get(name)!;
          const { data } = adapter ? mergedWeight(adapter.lora, adapter.weights, name, weight) : weight;
          const rows = data.length / columns;
          const pieceRows = Math.max(1, Math.floor(PIECE_VALUES / columns));
          const rowBytes = (columns / blockType.elements) * blockType.bytes;
          for (let first = 0; first < rows; first += pieceRows) {
            const count = Math.min(pieceRows, rows - first);
            const piece = Buffer.allocUnsafe(count * rowBytes);
            for (let row = 0; row < count; row++) {
              const target = piece.subarray(row * rowBytes, (row + 1) * rowBytes);
              const lost = encode(blockType, data, place(first + row) * columns, columns, target);
              if (lost >= 0) throw tooLarge(name, data[lost]!, blockType.name);
            }
            yield piece;
          }
        },
      };
    },
  );
  if (shape.ropeScaling) tensors.push(floats(ROPE_FREQUENCIES, frequencyDivisors(shape, shape.ropeScaling)));
  await writeGguf(path, metadata, tensors);
}

function floats(name: string, values: Float32Array): WrittenTensor {
  const bytes = Buffer.alloc(4 * values.length);
  encode(F32, values, 0, values.length, bytes);
  return { name, type: F32, dimensions: [values.length], data: () => [bytes] };
}

async function ofFile({ folder, files }: ModelCheckpoint, type: WrittenType) {
  return keptMetadata(openGguf(join(folder, files[0]!)).metadata.entries, type);
}

async function ofFolder(source: ModelCheckpoint, type: WrittenType): Promise<Map<string, MetadataValue>> {
  const { folder, shape } = source;
  const config = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')) as JsonObject;
  const { tokenizer, stopIds } = await loadPretrainedLanguage(folder, shape.vocabulary);
  const tokenizerConfig = (await readModelJson(folder, 'tokenizer_config.json')) ?? {};
  const language = tokenizerMetadata({
    definition: (await readModelJson(folder, 'tokenizer.json'))!,
    config: tokenizerConfig,
    tokenizer,
    template: (await readTemplate(folder, tokenizerConfig))!.source,
    stopIds,
    vocabulary: shape.vocabulary,
  });
  return new Map([...folderMetadata(source, config, type), ...language]);
}

function tooLarge(tensor: string, value: number, type: string): TurnwiseError {
  return new TurnwiseError('export-unsupported', {
    what: `${type} cannot hold a value of ${tensor}`,
    seen: String(value),
    next: 'Export with --type f32',
    fields: { tensor },
  });
}
