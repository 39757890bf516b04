/** A checkpoint folder as transformers saves it: checked when it is opened, its weights read tensor by tensor when they are needed. */

import { access, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import { type DecoderShape, parameterShapes } from '../decoder/decoder.ts';
import type { ModelCheckpoint } from './checkpoint.ts';
import { requireFinite } from './finite.ts';
import { readHuggingFaceConfig } from './hugging-face-config.ts';
import { openSafetensors, type SafetensorsReader, type Weight } from './safetensors.ts';

const singleFile = 'model.safetensors';
const indexFile = 'model.safetensors.index.json';

/** Buffers that old checkpoints hold and that follow from the configuration. */
const derived = /\.rotary_emb\.inv_freq$/;

/**
 * Opens a folder with `config.json` and one or many safetensors files of Llama, SmolLM2, Mistral, Qwen2 or Qwen3, and
 * checks names, shapes and types of all tensors; reads no weights. `contextLength` is the longest sequence that will be
 * used, by default that of the model but no more than 4096; `name` is what adapters will call their base.
 * @throws TurnwiseError `model-invalid`, `model-unsupported`, `checkpoint-missing`, `checkpoint-corrupt` or
 * `checkpoint-mismatch`, naming the file and the key or tensor.
 */
export async function openCheckpointFolder(
  folder: string,
  options: { readonly contextLength?: number; readonly name?: string } = {},
): Promise<ModelCheckpoint> {
  const config = await readJson(folder, 'config.json');
  const { shape, eosIds } = readHuggingFaceConfig(config, 'config.json', options.contextLength);
  const files = await weightFiles(folder);
  const readers = await openAll(folder, files);
  try {
    checkTensors(readers, shape);
  } finally {
    await closeAll(readers);
  }
  return {
    format: 'safetensors',
    folder: resolve(folder),
    name: options.name ?? resolve(folder),
    shape,
    eosIds: (await generationEosIds(folder)) ?? eosIds,
    files,
  };
}

/**
 * Reads the weights, widened to 32-bit floats, one tensor at a time.
 * @throws TurnwiseError as `openCheckpointFolder`, and `checkpoint-corrupt` for a value that is not finite.
 */
export async function readCheckpointFolder({
  folder,
  files,
  shape,
}: ModelCheckpoint): Promise<Map<string, Weight>> {
  const readers = await openAll(folder, files);
  try {
    const places = checkTensors(readers, shape);
    const weights = new Map<string, Weight>();
    for (const { name } of modelParameters(shape))
      weights.set(name, await readFinite(places.get(name)!, name));
    const redundant = shape.tiedHead ? places.get('lm_head.weight') : undefined;
    if (redundant !== undefined) await requireTied(redundant, weights.get('model.embed_tokens.weight')!);
    return weights;
  } finally {
    await closeAll(readers);
  }
}

/** The parameters that a checkpoint of a language model holds: all but those of a value head. */
function modelParameters(shape: DecoderShape): ReturnType<typeof parameterShapes> {
  return parameterShapes({ ...shape, valueHead: false });
}

/** Where each tensor is. Throws where one is missing, superfluous or of another shape. */
function checkTensors(
  readers: readonly SafetensorsReader[],
  shape: DecoderShape,
): Map<string, SafetensorsReader> {
  const places = new Map<string, SafetensorsReader>();
  for (const reader of readers) for (const name of reader.tensors.keys()) places.set(name, reader);
  const expected = new Map(modelParameters(shape).map((parameter) => [parameter.name, parameter.shape]));
  if (shape.tiedHead && places.has('lm_head.weight'))
    expected.set('lm_head.weight', [shape.vocabulary, shape.width]);
  for (const [name, sizes] of expected) {
    const reader = places.get(name);
    if (reader === undefined)
      throw mismatch(
        readers.map(({ path }) => basename(path)).join(', '),
        `there is no tensor ${name}, which config.json calls for`,
        name,
      );
    const found = reader.tensors.get(name)!.shape;
    if (found.join() !== sizes.join())
      throw mismatch(
        basename(reader.path),
        `tensor ${name} has another shape than config.json calls for`,
        name,
        `[${found.join(', ')}]`,
        `[${sizes.join(', ')}]`,
      );
  }
  for (const [name, { path }] of places)
    if (!expected.has(name) && !derived.test(name))
      throw mismatch(basename(path), `config.json calls for no tensor ${name}`, name);
  return places;
}

async function readFinite(reader: SafetensorsReader, name: string): Promise<Weight> {
  const weight = await reader.read(name);
  requireFinite(weight.data, reader.path, name);
  return weight;
}

async function requireTied(reader: SafetensorsReader, embedding: Weight): Promise<void> {
  const head = await readFinite(reader, 'lm_head.weight');
  const position = head.data.findIndex((value, index) => value !== embedding.data[index]);
  if (position >= 0)
    throw mismatch(
      basename(reader.path),
      'tensor lm_head.weight differs from the embeddings, although config.json says that they are tied',
      'lm_head.weight',
      `${head.data[position]} at index ${position}`,
      `${embedding.data[position]}`,
    );
}

async function weightFiles(folder: string): Promise<readonly string[]> {
  if (await exists(join(folder, singleFile))) return [singleFile];
  if (!(await exists(join(folder, indexFile))))
    throw new TurnwiseError('checkpoint-missing', {
      what: `There are no weights in ${folder}`,
      allowed: `${singleFile}, or ${indexFile} and the files that it names`,
      next: 'Convert weights of another format to safetensors with transformers',
      fields: { file: join(folder, singleFile) },
    });
  const index = await readJson(folder, indexFile);
  const map = (index as { weight_map?: unknown } | null)?.weight_map;
  const files = typeof map === 'object' && map !== null ? Object.values(map) : [];
  if (files.length === 0 || !files.every((file) => typeof file === 'string' && file === basename(file)))
    throw new TurnwiseError('model-invalid', {
      what: `${indexFile}: the value of weight_map cannot be used`,
      seen: JSON.stringify(map)?.slice(0, 80) ?? 'nothing',
      allowed: 'names of tensors, each with the name of a file in the same folder',
      fields: { file: indexFile, key: 'weight_map' },
    });
  return [...new Set(files as string[])].sort();
}

/** Those of `generation_config.json`, which ends a turn where `config.json` may know only the end of a text. */
async function generationEosIds(folder: string): Promise<readonly number[] | undefined> {
  const file = 'generation_config.json';
  if (!(await exists(join(folder, file)))) return undefined;
  const { eos_token_id: ids } = ((await readJson(folder, file)) ?? {}) as { eos_token_id?: unknown };
  const list = Array.isArray(ids) ? ids : [ids];
  return list.every((id) => Number.isSafeInteger(id)) ? (list as number[]) : undefined;
}

async function readJson(folder: string, file: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(join(folder, file), 'utf8');
  } catch (cause) {
    throw new TurnwiseError('checkpoint-missing', {
      what: `Cannot read ${file} of the model folder ${folder}`,
      seen: cause instanceof Error ? cause.message : String(cause),
      next: 'Name a folder as transformers saves it, with config.json and *.safetensors',
      fields: { file: join(folder, file) },
      cause,
    });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TurnwiseError('model-invalid', {
      what: `${file} is not JSON`,
      seen: cause instanceof Error ? cause.message : String(cause),
      next: 'Copy the file again',
      fields: { file: join(folder, file) },
      cause,
    });
  }
}

async function openAll(folder: string, files: readonly string[]): Promise<SafetensorsReader[]> {
  const readers: SafetensorsReader[] = [];
  try {
    for (const file of files) readers.push(await openSafetensors(join(folder, file)));
  } catch (error) {
    await closeAll(readers);
    throw error;
  }
  return readers;
}

async function closeAll(readers: readonly SafetensorsReader[]): Promise<void> {
  for (const reader of readers) await reader.close();
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function mismatch(
  file: string,
  what: string,
  tensor: string,
  seen?: string,
  allowed?: string,
): TurnwiseError {
  return new TurnwiseError('checkpoint-mismatch', {
    what: `${file}: ${what}`,
    ...(seen !== undefined && { seen }),
    ...(allowed !== undefined && { allowed }),
    next: 'Use the config.json that belongs to these weights',
    fields: { file, tensor },
  });
}
