/** LoRA adapters as folders, as `peft` reads and writes them: `adapter_config.json` and `adapter_model.safetensors`. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { DecoderShape } from '../decoder/decoder.ts';
import { adapterShapes, checkLora, type LoraShape } from '../decoder/lora.ts';
import { requireFinite } from './finite.ts';
import { openSafetensors, type Weight, type Weights } from './safetensors.ts';
import { writeSafetensors } from './write-safetensors.ts';

export const adapterConfigFile = 'adapter_config.json';
export const adapterFile = 'adapter_model.safetensors';

/** An adapter folder whose configuration and tensor names have been checked; plain data. */
export interface AdapterCheckpoint {
  /** Absolute path. */
  readonly folder: string;
  readonly lora: LoraShape;
}

/** Values other than these would change what is computed. */
const configSchema = z.looseObject({
  peft_type: z.literal('LORA'),
  r: z.int().positive(),
  lora_alpha: z.number().positive(),
  target_modules: z.union([z.string(), z.array(z.string())]).nullish(),
  bias: z.literal('none').nullish(),
  use_dora: z.literal(false).nullish(),
  use_rslora: z.literal(false).nullish(),
  fan_in_fan_out: z.literal(false).nullish(),
  lora_bias: z.literal(false).nullish(),
  rank_pattern: z.record(z.string(), z.never()).nullish(),
  alpha_pattern: z.record(z.string(), z.never()).nullish(),
  modules_to_save: z.array(z.never()).nullish(),
  layers_to_transform: z.null().optional(),
  layer_replication: z.null().optional(),
  target_parameters: z.null().optional(),
  trainable_token_indices: z.null().optional(),
});

const factor = /\.([a-z_]+)\.lora_[AB]\.weight$/;

/**
 * Opens an adapter for a decoder of this shape, and checks its tensors; reads no values. Dropout is not applied, whatever
 * the configuration says: it matters only in training.
 * @throws TurnwiseError `checkpoint-missing`, `checkpoint-corrupt`, `checkpoint-mismatch`, `model-unsupported`
 */
export async function openAdapter(folder: string, shape: DecoderShape): Promise<AdapterCheckpoint> {
  const { r: rank, lora_alpha: alpha } = await readAdapterConfig(folder);
  const reader = await openSafetensors(join(folder, adapterFile));
  try {
    // The targets are those that have tensors: `target_modules` may be a pattern.
    const modules = [...reader.tensors.keys()].map((name) => factor.exec(name)?.[1]);
    const targets = [...new Set(modules.filter((name) => name !== undefined))].sort();
    const lora = { rank, alpha, targets };
    checkLora(shape, lora);
    const expected = new Map(
      adapterShapes(shape, lora).map((parameter) => [parameter.name, parameter.shape]),
    );
    for (const [name, sizes] of expected) {
      const found = reader.tensors.get(name)?.shape;
      if (found === undefined)
        throw mismatch(
          folder,
          name,
          `there is no tensor ${name}`,
          undefined,
          'the same modules in every layer',
        );
      if (found.join() !== sizes.join())
        throw mismatch(
          folder,
          name,
          `tensor ${name} does not fit the model`,
          `[${found.join(', ')}]`,
          `[${sizes.join(', ')}]`,
        );
    }
    for (const name of reader.tensors.keys())
      if (!expected.has(name)) throw mismatch(folder, name, `the model has no place for tensor ${name}`);
    return { folder: resolve(folder), lora };
  } finally {
    await reader.close();
  }
}

/** The adapter's values. */
export async function readAdapter(
  { folder, lora }: AdapterCheckpoint,
  shape: DecoderShape,
): Promise<Map<string, Weight>> {
  const path = join(folder, adapterFile);
  const reader = await openSafetensors(path);
  try {
    const weights = new Map<string, Weight>();
    for (const { name } of adapterShapes(shape, lora)) {
      const weight = await reader.read(name);
      requireFinite(weight.data, path, name);
      weights.set(name, weight);
    }
    return weights;
  } finally {
    await reader.close();
  }
}

/** Writes an adapter that `peft` loads onto the model called `base`. `metadata` goes into the weight file. */
export async function writeAdapter(
  folder: string,
  lora: LoraShape,
  weights: Weights,
  base: string,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const config = {
    base_model_name_or_path: base,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    lora_alpha: lora.alpha,
    lora_dropout: 0,
    modules_to_save: null,
    peft_type: 'LORA',
    r: lora.rank,
    target_modules: lora.targets,
    task_type: 'CAUSAL_LM',
    use_dora: false,
    use_rslora: false,
  };
  await writeFile(join(folder, adapterConfigFile), `${JSON.stringify(config, null, 2)}\n`);
  await writeSafetensors(join(folder, adapterFile), weights, { format: 'pt', ...metadata });
}

/** @throws TurnwiseError `checkpoint-missing`, or `model-unsupported` for what would be computed wrongly. */
export async function readAdapterConfig(folder: string): Promise<z.output<typeof configSchema>> {
  const path = join(folder, adapterConfigFile);
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    throw new TurnwiseError('checkpoint-missing', {
      what: `Cannot read ${adapterConfigFile} of the adapter`,
      seen: cause instanceof Error ? cause.message : String(cause),
      next: `Name a folder as peft saves it, with ${adapterConfigFile} and ${adapterFile}`,
      fields: { file: path },
      cause,
    });
  }
  const parsed = configSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const key = String(issue.path[0] ?? 'the file');
  throw new TurnwiseError('model-unsupported', {
    what: `${adapterConfigFile}: this value of ${key} is not supported`,
    seen: JSON.stringify((value as Record<string, unknown> | null)?.[key]) ?? 'nothing',
    allowed: 'plain LoRA: one rank and one alpha, no biases, no further modules',
    fields: { file: path, key },
  });
}

function mismatch(
  folder: string,
  tensor: string,
  what: string,
  seen?: string,
  allowed?: string,
): TurnwiseError {
  return new TurnwiseError('checkpoint-mismatch', {
    what: `${adapterFile}: ${what}`,
    ...(seen !== undefined && { seen }),
    ...(allowed !== undefined && { allowed }),
    next: 'Use the model that the adapter was trained on',
    fields: { file: join(folder, adapterFile), tensor },
  });
}
