/** Writes a model as a checkpoint folder that `transformers` loads: adapters merged, beside the files of the original. */

import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../core/json/json.ts';
import { parameterShapes } from '../decoder/decoder.ts';
import { type LoraShape, mergedWeight } from '../decoder/lora.ts';
import { configOf } from '../gguf/gguf-config.ts';
import { openGguf } from '../gguf/gguf-file.ts';
import { companionFiles } from '../gguf/gguf-language.ts';
import type { ModelCheckpoint } from './checkpoint.ts';
import type { Weights } from './safetensors.ts';
import { writeSafetensors } from './write-safetensors.ts';

/** What a checkpoint folder holds besides weights and `config.json`. */
const companions =
  /^(generation_config\.json|tokenizer.*|special_tokens_map\.json|added_tokens\.json|vocab\.(json|txt)|merges\.txt|chat_template\.(jinja|json)|LICENSE.*)$/;

/**
 * Writes `weights`, merged with an adapter where one is given, in 32-bit floats, with the configuration and tokenizer of
 * the checkpoint that they come from. A value head is left out: language models have none.
 */
export async function exportCheckpoint(
  folder: string,
  source: ModelCheckpoint,
  weights: Weights,
  adapter?: { readonly lora: LoraShape; readonly weights: Weights },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const config = await (source.format === 'gguf' ? unpackGguf : copyCompanions)(source, folder);
  const dtype = 'dtype' in config ? 'dtype' : 'torch_dtype';
  const described = { ...config, [dtype]: 'float32' };
  await writeFile(join(folder, 'config.json'), `${JSON.stringify(described, null, 2)}\n`);
  const tensors = parameterShapes({ ...source.shape, valueHead: false }).map(({ name, shape }) => {
    const weight = weights.get(name)!;
    const data =
      adapter === undefined
        ? weight.data
        : () => mergedWeight(adapter.lora, adapter.weights, name, weight).data;
    return [name, { shape, data }] as const;
  });
  await writeSafetensors(join(folder, 'model.safetensors'), new Map(tensors), { format: 'pt' });
}

/** Returns the configuration. */
async function copyCompanions(source: ModelCheckpoint, folder: string): Promise<JsonObject> {
  for (const file of await readdir(source.folder))
    if (companions.test(file)) await copyFile(join(source.folder, file), join(folder, file));
  return JSON.parse(await readFile(join(source.folder, 'config.json'), 'utf8')) as JsonObject;
}

/** What a GGUF file says of its model, as the files of a folder; returns the configuration. */
async function unpackGguf(source: ModelCheckpoint, folder: string): Promise<JsonObject> {
  const file = openGguf(join(source.folder, source.files[0]!));
  for (const [name, text] of companionFiles(file)) await writeFile(join(folder, name), text);
  return configOf(file, source.eosIds);
}
