/** The engine's part of a checkpoint folder: weights, optimizer state and the reference policy as safetensors files. */

import { access, mkdir, open, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { TurnwiseError } from '../../../core/errors.ts';
import { adapterFile, readAdapterConfig, writeAdapter } from '../../../model/checkpoint/adapter-folder.ts';
import {
  readSafetensors,
  type SafetensorsFile,
  type Weights,
} from '../../../model/checkpoint/safetensors.ts';
import { writeSafetensors } from '../../../model/checkpoint/write-safetensors.ts';
import type { LoraShape } from '../../../model/decoder/lora.ts';
import {
  type Checkpoint,
  frozenFile,
  modelFile,
  modelMetadata,
  optimizerFile,
  optimizerTensors,
  ownStep,
} from './checkpoint-parts.ts';

export type { Checkpoint } from './checkpoint-parts.ts';

/** Whose adapter is kept. The base is named, and recognised by its digest, but not kept. */
export interface AdapterIdentity {
  readonly lora: LoraShape;
  readonly base: string;
  readonly digest: string;
}

const valueHeadFile = 'value_head.safetensors';
/** What the names of its parameters begin with. */
const valueHead = 'value_head.';

/** Writes the files and flushes them and the folder to the disk. Under LoRA the folder is one that `peft` loads. */
export async function saveCheckpoint(
  folder: string,
  checkpoint: Checkpoint,
  adapter?: AdapterIdentity,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { weights, frozen, version } = checkpoint;
  if (adapter === undefined)
    await writeSafetensors(join(folder, modelFile), weights, modelMetadata(checkpoint));
  else {
    const { lora, base, digest } = adapter;
    const [head, factors] = divide(weights);
    await writeAdapter(folder, lora, factors, base, { version: String(version), base, base_digest: digest });
    if (head.size > 0) await writeSafetensors(join(folder, valueHeadFile), head);
  }
  const { tensors, metadata } = optimizerTensors(checkpoint);
  await writeSafetensors(join(folder, optimizerFile), tensors, metadata);
  // One from an earlier save into the same folder must not be loaded with these weights.
  if (frozen === undefined) await rm(join(folder, frozenFile), { force: true });
  else await writeSafetensors(join(folder, frozenFile), frozen);
  await flushFolder(folder);
}

/**
 * Reads and checks a checkpoint against the weights that the model has.
 * @throws TurnwiseError `checkpoint-missing`, `checkpoint-corrupt`, or `checkpoint-mismatch` when the files belong to
 * another model. Heads of values that the files lack keep what they have, as new ones: a critic may begin with weights
 * that were trained without one.
 */
export async function loadCheckpoint(
  folder: string,
  expected: Weights,
  adapter?: AdapterIdentity,
): Promise<Checkpoint> {
  const model =
    adapter === undefined
      ? await readSafetensors(join(folder, modelFile))
      : await loadAdapter(folder, expected, adapter);
  const file = adapter === undefined ? modelFile : adapterFile;
  const optimizer = await readSafetensors(join(folder, optimizerFile));
  const [heads] = divide(expected);
  const complete = (tensors: Weights): Weights => new Map([...heads, ...tensors]);
  const weights = complete(model.tensors);
  const moments = new Map([...still(heads, 'first.'), ...still(heads, 'second.'), ...optimizer.tensors]);
  requireMatch(join(folder, file), weights, expected);
  const ofMoments = (kind: string): Weights =>
    new Map([...expected].map(([name, weight]) => [`${kind}.${name}`, weight]));
  requireMatch(
    join(folder, optimizerFile),
    moments,
    new Map([...ofMoments('first'), ...ofMoments('second')]),
  );
  const moment = (kind: string): Map<string, Float32Array> =>
    new Map([...expected.keys()].map((name) => [name, moments.get(`${kind}.${name}`)!.data]));
  let frozen: Weights | undefined;
  if (await exists(join(folder, frozenFile))) {
    frozen = complete((await readSafetensors(join(folder, frozenFile))).tensors);
    requireMatch(join(folder, frozenFile), frozen, expected);
  }
  return {
    weights,
    adam: {
      steps: stepsOf(join(folder, optimizerFile), optimizer.metadata, expected),
      first: moment('first'),
      second: moment('second'),
    },
    frozen,
    version: count(join(folder, file), 'version', model.metadata),
  };
}

function stepsOf(
  path: string,
  metadata: Readonly<Record<string, string>>,
  expected: Weights,
): Map<string, number> {
  const most = count(path, 'step', metadata);
  return new Map(
    [...expected.keys()].map((name) => [
      name,
      metadata[ownStep(name)] === undefined ? most : count(path, ownStep(name), metadata),
    ]),
  );
}

/** Moments of weights that have not been trained. */
function still(weights: Weights, prefix: string): Weights {
  return new Map(
    [...weights].map(([name, { shape, data }]) => [
      prefix + name,
      { shape, data: new Float32Array(data.length) },
    ]),
  );
}

/** The adapter and, where there is one, the value head. */
async function loadAdapter(
  folder: string,
  expected: Weights,
  { lora, base, digest }: AdapterIdentity,
): Promise<SafetensorsFile> {
  const path = join(folder, adapterFile);
  const { tensors, metadata } = await readSafetensors(path);
  const refuse = (what: string, seen: string, allowed: string, next: string): TurnwiseError =>
    new TurnwiseError('checkpoint-mismatch', {
      what: `${adapterFile} ${what}`,
      seen,
      allowed,
      next,
      fields: { file: path },
    });
  if (metadata.base_digest !== digest)
    throw refuse(
      'was trained on another base model',
      `${metadata.base ?? 'no name'}, digest ${metadata.base_digest?.slice(0, 16) ?? 'none'}`,
      `${base}, digest ${digest.slice(0, 16)}`,
      'Load the base model that the adapter belongs to',
    );
  const { lora_alpha: alpha } = await readAdapterConfig(folder);
  if (alpha !== lora.alpha)
    throw refuse(
      'was trained with another alpha',
      String(alpha),
      String(lora.alpha),
      'Use its LoRA settings',
    );
  const [head] = divide(expected);
  if (head.size === 0 || !(await exists(join(folder, valueHeadFile)))) return { tensors, metadata };
  const stored = await readSafetensors(join(folder, valueHeadFile));
  return { tensors: new Map([...tensors, ...stored.tensors]), metadata };
}

/** The value head, and all else. */
function divide(weights: Weights): readonly [Weights, Weights] {
  const isHead = ([name]: readonly [string, unknown]): boolean => name.startsWith(valueHead);
  return [new Map([...weights].filter(isHead)), new Map([...weights].filter((entry) => !isHead(entry)))];
}

function requireMatch(path: string, found: Weights, expected: Weights): void {
  const mismatch = (what: string, tensor: string, seen?: string, allowed?: string): TurnwiseError =>
    new TurnwiseError('checkpoint-mismatch', {
      what: `${basename(path)} belongs to another model: ${what}`,
      ...(seen === undefined ? {} : { seen }),
      ...(allowed === undefined ? {} : { allowed }),
      next: 'Use the model settings that the checkpoint was trained with',
      fields: { file: path, tensor },
    });
  for (const [name, { shape }] of expected) {
    const tensor = found.get(name);
    if (tensor === undefined) throw mismatch(`it lacks tensor ${name}`, name);
    if (tensor.shape.join() !== shape.join())
      throw mismatch(
        `tensor ${name} has another shape`,
        name,
        `[${tensor.shape.join(', ')}]`,
        `[${shape.join(', ')}]`,
      );
    const position = tensor.data.findIndex((value) => !Number.isFinite(value));
    if (position >= 0)
      throw new TurnwiseError('checkpoint-corrupt', {
        what: `${basename(path)}: Tensor ${name} has a value that is not finite`,
        seen: `${tensor.data[position]} at index ${position}`,
        next: 'Load an earlier checkpoint',
        fields: { file: path, tensor: name },
      });
  }
  for (const name of found.keys())
    if (!expected.has(name)) throw mismatch(`the model has no tensor ${name}`, name);
}

function count(path: string, key: string, metadata: Readonly<Record<string, string>>): number {
  const value = Number(metadata[key]);
  if (metadata[key] !== undefined && Number.isSafeInteger(value) && value >= 0) return value;
  throw new TurnwiseError('checkpoint-corrupt', {
    what: `${basename(path)}: The metadata has no usable ${key}`,
    seen: String(metadata[key]),
    allowed: 'a whole number',
    next: 'Load an earlier checkpoint',
    fields: { file: path },
  });
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Renames are durable only once their folder is flushed; Windows has no such call and needs none. */
async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
